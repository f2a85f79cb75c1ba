package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/lightctl/lightrag/engine/internal/alike"
	"github.com/lightctl/lightrag/engine/internal/lexical"
	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/llm"
	"github.com/lightctl/lightrag/llm/offline"
)

// KeywordsBy says who finds the keywords of a question that brings none.
type KeywordsBy string

const (
	// KeywordsByModel asks Options.Completer, once per question.
	KeywordsByModel KeywordsBy = "llm"
	// KeywordsByWords looks the question's words up in the store, without a model
	// call: low-level are the entities that it names, or else its rarest words;
	// high-level the words that relations speak of.
	KeywordsByWords KeywordsBy = "lexical"
	// KeywordsAuto looks words up, and asks the model where that is not sure: the
	// question names no entity, and some of its words are in no entity or relation.
	KeywordsAuto KeywordsBy = "auto"
)

func (k KeywordsBy) validate() error {
	switch k {
	case "", KeywordsByModel, KeywordsByWords, KeywordsAuto:
		return nil
	}
	return fmt.Errorf("%w: keywords by %q is not one of llm, lexical, auto", ErrInvalid, k)
}

// keywords fills the two keyword lists of r from the query, the store, the cache
// or the model.
func (db *DB) keywords(ctx context.Context, q *Query, r *Result) error {
	if q.Mode == Naive || q.Mode == Walk && len(q.HighLevel)+len(q.LowLevel) == 0 {
		return nil
	}
	if len(q.HighLevel)+len(q.LowLevel) > 0 {
		return givenKeywords(q, r)
	}
	by := cmp.Or(q.Keywords, db.opts.Keywords, KeywordsByModel)
	if by != KeywordsByModel {
		found, err := db.findKeywords(q)
		if err != nil {
			return err
		}
		if by == KeywordsByWords || found.sure {
			r.HighLevel, r.LowLevel = found.high, found.low
			r.keywordsFrom(KeywordsLexical)
			r.noKeywords(q)
			return nil
		}
	}
	worth := func(text string) bool { _, _, ok := llm.ParseKeywords(text); return ok }
	if q.NoCache {
		worth = nil
	}
	a, err := db.complete(ctx, llm.Request{
		Task:     llm.TaskKeywords,
		Messages: db.opts.Prompts.Keywords(q.Text, q.Language),
		JSON:     true,
		Input:    llm.Input{Question: q.Text, Language: q.Language},
	}, worth)
	r.Usage = r.Usage.Add(a.usage)
	if err != nil {
		return err
	}
	r.HighLevel, r.LowLevel, _ = llm.ParseKeywords(a.text)
	switch {
	case a.cached:
		r.keywordsFrom(KeywordsCached)
	case offlineName(db.opts.Completer.Model()):
		r.keywordsFrom(KeywordsRules)
	default:
		r.keywordsFrom(KeywordsModel)
	}
	r.noKeywords(q)
	return nil
}

// noKeywords lets a short question stand for keywords that were not found.
func (r *Result) noKeywords(q *Query) {
	switch {
	case len(r.HighLevel)+len(r.LowLevel) > 0:
	case utf8.RuneCountInString(q.Text) < 50:
		r.LowLevel = []string{q.Text}
		r.keywordsFrom(KeywordsQuestion)
	default:
		r.keywordsFrom(KeywordsNone)
	}
}

func givenKeywords(q *Query, r *Result) error {
	r.HighLevel, r.LowLevel = clean(q.HighLevel), clean(q.LowLevel)
	switch {
	case q.Mode == Local && len(r.LowLevel) == 0:
		return fmt.Errorf("%w: mode local with given keywords needs low-level ones", ErrInvalid)
	case q.Mode == Global && len(r.HighLevel) == 0:
		return fmt.Errorf("%w: mode global with given keywords needs high-level ones", ErrInvalid)
	case len(r.LowLevel)+len(r.HighLevel) == 0:
		return fmt.Errorf("%w: all given keywords are blank", ErrInvalid)
	}
	r.keywordsFrom(KeywordsGiven)
	return nil
}

func clean(words []string) []string {
	var out []string
	for _, w := range words {
		w, _ = llm.SanitizeText(w)
		if w = norm.NFC.String(strings.TrimSpace(w)); w != "" {
			out = append(out, w)
		}
	}
	return out
}

// foundKeywords are those that the store knows of a question.
type foundKeywords struct {
	low, high []string
	sure      bool
}

// keywordsMost bounds the keywords of a level that are looked up.
const keywordsMost = 8

// findKeywords looks the words of a question up in the postings.
func (db *DB) findKeywords(q *Query) (foundKeywords, error) {
	var f foundKeywords
	s, err := db.newSearch(q, new(Result))
	if err != nil {
		return f, err
	}
	defer s.close()
	terms := lexical.QueryTerms(nil, q.Text)
	if err := s.postings(format.KindEntity, terms); err != nil {
		return f, err
	}
	names, err := s.namesIn(q.Text)
	if err != nil {
		return f, err
	}
	covered := make(map[string]bool)
	for _, name := range names {
		lexical.Analyzer{}.Terms(name, func(t []byte) { covered[string(t)] = true })
	}
	inEntities := s.weights(format.KindEntity, terms)
	if err := s.postings(format.KindRelation, terms); err != nil {
		return f, err
	}
	inRelations := s.weights(format.KindRelation, terms)

	var rare, themes []lexical.Piece
	linked, all := false, true
	for w := range lexical.Words(q.Text) {
		if w.Function {
			continue
		}
		word := q.Text[w.Start:w.End]
		low := lexical.Pieces(nil, word, func(t []byte) float64 { return inEntities[string(t)] })
		high := lexical.Pieces(nil, word, func(t []byte) float64 {
			if covered[string(t)] {
				return 0
			}
			return inRelations[string(t)]
		})
		rare, themes = append(rare, low...), append(themes, high...)
		known := len(low)+len(high) > 0
		linked, all = linked || known, all && known
	}
	f.sure = len(names) > 0 || linked && all
	if f.low = names[:min(len(names), keywordsMost)]; len(f.low) == 0 {
		f.low = heaviest(rare)
	}
	f.high = heaviest(themes)
	switch { // relations have the names of their ends; what words do not find, vectors may
	case len(f.high) == 0:
		f.high = f.low
	case len(f.low) == 0:
		f.low = f.high
	}
	return f, nil
}

// weights returns the idf of the terms that occur among the owners of a kind;
// s.words.lists must be their posting lists.
func (s *search) weights(kind format.Kind, terms []string) map[string]float64 {
	owners, _ := s.view.LexicalStats(kind)
	out := make(map[string]float64, len(terms))
	for i, t := range terms {
		if n := len(s.words.lists[i].Owners); n > 0 {
			out[t] = lexical.IDF(owners, n)
		}
	}
	return out
}

// heaviest returns the texts of the pieces that weigh most, each once.
func heaviest(pieces []lexical.Piece) []string {
	slices.SortStableFunc(pieces, func(a, b lexical.Piece) int { return cmp.Compare(b.Weight, a.Weight) })
	var out []string
	for _, p := range pieces {
		if len(out) < keywordsMost && !slices.ContainsFunc(out, func(o string) bool { return strings.EqualFold(o, p.Text) }) {
			out = append(out, p.Text)
		}
	}
	return out
}

// namesInMost is the length of a posting list beyond which its entities are not
// looked at: what only such common words name is looked up as it is written.
const namesInMost = 1 << 14

// namesIn returns the names of the entities that text names, in the order of the
// text: the longest first where they overlap, of those of one spelling the one of
// most relations. s.words.lists must be posting lists of entities of the
// terms of text.
func (s *search) namesIn(text string) ([]string, error) {
	key := alike.Key(text)
	first := make(map[string]bool) // words with which a name may begin
	begin, before := 0, ' '
	for i, r := range key + " " {
		if lexical.WordEnds(before, r) {
			first[key[begin:i]] = true
			begin = i
		}
		before = r
	}
	possessive := make(map[string]bool) // its key is a word with an s
	for w := range lexical.Words(text) {
		word := strings.ReplaceAll(text[w.Start:w.End], "’", "'")
		if stem, ok := strings.CutSuffix(strings.ToLower(word), "'s"); ok {
			possessive[alike.Key(stem)] = true
			first[alike.Key(stem)] = true
		}
	}
	type found struct {
		start, end int // in key
		id         format.EntityID
	}
	var all []found
	look := func(id format.EntityID) {
		name := s.view.EntityName(id)
		if !mayBegin(name, first) || !s.filter.entity(id) {
			return
		}
		k := alike.Key(name)
		if utf8.RuneCountInString(k) < 2 {
			return
		}
		for at := 0; at < len(key); {
			i := strings.Index(key[at:], k)
			if i < 0 {
				return
			}
			start := at + i
			if isWord(key, start, start+len(k), possessive) {
				all = append(all, found{start, start + len(k), id})
			}
			at = start + 1
		}
	}
	for _, list := range s.words.lists {
		if len(list.Owners) <= namesInMost {
			for _, o := range list.Owners {
				look(format.EntityID(o))
			}
		}
	}
	for w := range lexical.Words(text) {
		if !w.Function {
			if id, ok, err := s.exactly(text[w.Start:w.End]); err != nil {
				return nil, err
			} else if ok {
				look(id)
			}
		}
	}
	slices.SortFunc(all, func(a, b found) int {
		return cmp.Or(cmp.Compare(b.end-b.start, a.end-a.start), cmp.Compare(a.start, b.start),
			cmp.Compare(s.view.Degree(b.id), s.view.Degree(a.id)), cmp.Compare(a.id, b.id))
	})
	var taken []found
	for _, f := range all {
		if !slices.ContainsFunc(taken, func(t found) bool { return f.start < t.end && t.start < f.end }) {
			taken = append(taken, f)
		}
	}
	slices.SortFunc(taken, func(a, b found) int { return cmp.Compare(a.start, b.start) })
	var names []string
	for _, f := range taken {
		if name := s.view.EntityName(f.id); !slices.Contains(names, name) {
			names = append(names, strings.Clone(name))
		}
	}
	return names, nil
}

// mayBegin reports whether a name may begin with one of the folded words; it
// spares nearly all names the making of their key.
func mayBegin(name string, words map[string]bool) bool {
	var b [64]byte
	n := 0
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c >= 0x80 {
			return true
		}
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if !letterOrDigit(c) || n == len(b) {
			if c == ' ' && n > 0 {
				break
			}
			return true // where a word of the key ends is for the key to say
		}
		b[n] = c
		n++
	}
	return words[string(b[:n])]
}

// isWord reports whether a span of a folded text stands by itself. A particle
// may follow a Korean word, and an s one that is known to be possessive.
func isWord(text string, start, end int, possessive map[string]bool) bool {
	if start > 0 {
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		first, _ := utf8.DecodeRuneInString(text[start:])
		if !lexical.WordEnds(before, first) {
			return false
		}
	}
	if end == len(text) {
		return true
	}
	last, _ := utf8.DecodeLastRuneInString(text[:end])
	after, _ := utf8.DecodeRuneInString(text[end:])
	if lexical.WordEnds(last, after) {
		return true
	}
	begin := strings.LastIndexByte(text[:end], ' ') + 1
	word, _, _ := strings.Cut(text[begin:], " ")
	if word == text[begin:end]+"s" && possessive[text[begin:end]] {
		return true
	}
	stem, particle := offline.SplitParticle(word)
	return particle != "" && text[begin:end] == stem
}
