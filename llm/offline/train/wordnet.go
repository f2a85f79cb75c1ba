package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// wordnetDir is where the package keeps its database, whose files are described
// in wndb(5WN).
const wordnetDir = "/usr/share/wordnet/"

// A synset is a set of words that share a meaning.
type synset struct {
	pos      byte     // 'n', 'v', 'a' or 'r'
	file     int      // of the lexicographers, lexnames(5WN)
	words    []string // lower case, spaces as '_'
	written  []string // the words as they are written
	pointers []pointer
	gloss    string // definition and examples, separated by semicolons
}

// A pointer is a relation to another synset.
type pointer struct {
	kind string // the symbol of wninput(5WN), such as "@" for a hypernym
	to   int    // index of the synset
}

// A wordnet is the database as far as the tables need it.
type wordnet struct {
	synsets []synset
	// senses holds the synsets of a lemma in each part of speech, commonest first.
	senses map[string]map[byte][]int
	// tagged holds how often a lemma stands for a part of speech in the texts
	// that were tagged by hand.
	tagged map[string]map[byte]int
	// bases holds the base forms of irregular ones by part of speech.
	bases map[byte]map[string][]string
}

var wordnetParts = []struct {
	pos  byte
	name string
}{{'n', "noun"}, {'v', "verb"}, {'a', "adj"}, {'r', "adv"}}

// readWordnet reads the database in dir.
func readWordnet(s source) (*wordnet, error) {
	w := &wordnet{senses: map[string]map[byte][]int{}, tagged: map[string]map[byte]int{}, bases: map[byte]map[string][]string{}}
	at := map[string]int{} // part of speech and offset -> index
	var targets [][]string // of the pointers of each synset
	for _, part := range wordnetParts {
		err := eachLine(s.path(wordnetDir+"data."+part.name), func(line string) error {
			if strings.HasPrefix(line, " ") {
				return nil // licence
			}
			set, to, err := parseSynset(part.pos, line)
			if err != nil {
				return err
			}
			at[string(part.pos)+line[:8]] = len(w.synsets)
			w.synsets = append(w.synsets, set)
			targets = append(targets, to)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	for i := range w.synsets {
		for k, key := range targets[i] {
			to, ok := at[key]
			if !ok {
				return nil, fmt.Errorf("wordnet: no synset %s", key)
			}
			w.synsets[i].pointers[k].to = to
		}
	}
	for _, part := range wordnetParts {
		if err := w.readIndex(s, part.pos, part.name, at); err != nil {
			return nil, err
		}
		w.bases[part.pos] = map[string][]string{}
		err := eachLine(s.path(wordnetDir+part.name+".exc"), func(line string) error {
			if f := strings.Fields(line); len(f) > 1 {
				w.bases[part.pos][f[0]] = f[1:]
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return w, w.readCounts(s)
}

// parseSynset parses a line of a data file. The keys name the synsets that the
// pointers lead to.
func parseSynset(pos byte, line string) (set synset, keys []string, err error) {
	head, gloss, _ := strings.Cut(line, "|")
	f := strings.Fields(head)
	bad := fmt.Errorf("wordnet: synset %.40q", line)
	if len(f) < 4 || len(f[0]) != 8 {
		return set, nil, bad
	}
	words, err := strconv.ParseUint(f[3], 16, 8)
	if err != nil || len(f) < 5+2*int(words) {
		return set, nil, bad
	}
	file, err := strconv.Atoi(f[1])
	if err != nil {
		return set, nil, bad
	}
	set = synset{pos: pos, file: file, gloss: strings.TrimSpace(gloss)}
	for k := range int(words) {
		word, _, _ := strings.Cut(f[4+2*k], "(") // "(a)" marks where an adjective stands
		set.words = append(set.words, strings.ToLower(word))
		set.written = append(set.written, word)
	}
	f = f[4+2*int(words):]
	pointers, err := strconv.Atoi(f[0])
	if err != nil || pointers < 0 || len(f) < 1+4*pointers {
		return set, nil, bad
	}
	for k := range pointers {
		p := f[1+4*k:]
		to := p[2]
		if to == "s" { // an adjective in the cluster of another
			to = "a"
		}
		set.pointers = append(set.pointers, pointer{kind: p[0]})
		keys = append(keys, to+p[1])
	}
	return set, keys, nil
}

func (w *wordnet) readIndex(s source, pos byte, name string, at map[string]int) error {
	return eachLine(s.path(wordnetDir+"index."+name), func(line string) error {
		if strings.HasPrefix(line, " ") {
			return nil
		}
		f := strings.Fields(line)
		if len(f) < 4 {
			return fmt.Errorf("wordnet: index %.40q", line)
		}
		senses, err := strconv.Atoi(f[2])
		if err != nil || senses < 1 || senses > len(f) {
			return fmt.Errorf("wordnet: index %.40q", line)
		}
		if w.senses[f[0]] == nil {
			w.senses[f[0]] = map[byte][]int{}
		}
		for _, offset := range f[len(f)-senses:] {
			i, ok := at[string(pos)+offset]
			if !ok {
				return fmt.Errorf("wordnet: index %.40q: no synset %s", line, offset)
			}
			w.senses[f[0]][pos] = append(w.senses[f[0]][pos], i)
		}
		return nil
	})
}

func (w *wordnet) readCounts(s source) error {
	return eachLine(s.path(wordnetDir+"cntlist.rev"), func(line string) error {
		f := strings.Fields(line)
		lemma, key, ok := strings.Cut(line, "%")
		if len(f) != 3 || !ok {
			return fmt.Errorf("wordnet: count %.40q", line)
		}
		n, err := strconv.Atoi(f[2])
		if err != nil || key == "" || key[0] < '1' || key[0] > '5' {
			return fmt.Errorf("wordnet: count %.40q", line)
		}
		if w.tagged[lemma] == nil {
			w.tagged[lemma] = map[byte]int{}
		}
		w.tagged[lemma]["nvara"[key[0]-'1']] += n
		return nil
	})
}

// eachLine calls f with every line of a file and stops at its first error.
func eachLine(path string, f func(line string) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	scan := bufio.NewScanner(file)
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		if err := f(scan.Text()); err != nil {
			return err
		}
	}
	if err := scan.Err(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
