package engine

import (
	"cmp"
	"slices"

	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm"
)

// canonical gives the records of an answer the names of the graph.
func (im *lightragImport) canonical(x *llm.Extraction) {
	name := func(n *string) {
		if i, ok := im.findNode(*n); ok {
			*n = im.nodes[i].name
		}
	}
	for i := range x.Entities {
		name(&x.Entities[i].Name)
	}
	for i := range x.Relations {
		name(&x.Relations[i].Source)
		name(&x.Relations[i].Target)
	}
}

// findNode finds the entity that a name of an answer means.
func (im *lightragImport) findNode(name string) (int32, bool) {
	i, ok := im.nodeAt[name]
	if !ok && im.upper {
		i, ok = im.folded[foldName(name)]
	}
	return i, ok
}

// replay is what the answers about one chunk say, as far as the graph knows
// the owners.
type replay struct {
	answers []string // first, gleaning
	llm.MergedExtraction
}

// replayOf reads and parses the answers of a chunk. report says whether
// records that are left out are to be reported.
func (im *lightragImport) replayOf(c *importChunk, report bool) (*replay, error) {
	if len(c.answers) == 0 {
		return nil, nil
	}
	rep := &replay{}
	var parsed [2]llm.Extraction
	usable := false
	for i := range c.answers {
		b, err := im.spill.get(c.answers[i].text)
		if err != nil {
			return nil, err
		}
		rep.answers = append(rep.answers, string(b))
		parsed[i] = llm.ParseExtraction(rep.answers[i])
		im.canonical(&parsed[i])
		usable = usable || unusableAnswer(reply{}, &parsed[i]) == nil
	}
	if !usable {
		return nil, nil
	}
	rep.MergedExtraction = llm.MergeGleaning(parsed[0], parsed[1])
	rep.Entities = slices.DeleteFunc(rep.Entities, func(e llm.PassEntity) bool {
		_, ok := im.owner(e.Name)
		if !ok && report {
			im.issues.add("answer without row", answersFile, e.Name, im.place(c))
		}
		return !ok
	})
	rep.Relations = slices.DeleteFunc(rep.Relations, func(r llm.PassRelation) bool {
		_, ok := im.pair(r.Source, r.Target)
		if !ok && report && r.Source != r.Target {
			im.issues.add("answer without row", answersFile, r.Source+" - "+r.Target, im.place(c))
		}
		return !ok
	})
	return rep, nil
}

func (im *lightragImport) place(c *importChunk) string { return "of " + c.id }

// owner returns the entity of a name; without a graph file the answers make
// the graph.
func (im *lightragImport) owner(name string) (int32, bool) {
	i, ok := im.nodeAt[name]
	if !ok && !im.graph {
		return im.newNode(name), true
	}
	return i, ok
}

func (im *lightragImport) pair(src, tgt string) (int32, bool) {
	if src == tgt {
		return 0, false
	}
	a, ok := im.owner(src)
	if !ok {
		return 0, false
	}
	b, ok := im.owner(tgt)
	if !ok {
		return 0, false
	}
	e, ok := im.edgeAt[pairOf(a, b)]
	if !ok && !im.graph {
		return im.newEdge(a, b), true
	}
	return e, ok
}

// replayAnswers notes what the answers cover, so that the rows of the graph
// have to stand for the rest only.
func (im *lightragImport) replayAnswers() error {
	for i := range im.chunks {
		c := &im.chunks[i]
		im.chooseAnswers(c)
		rep, err := im.replayOf(c, true)
		if err != nil {
			return err
		}
		if rep == nil {
			c.answers = nil
			continue
		}
		chunk := int32(i)
		for j := range rep.Entities {
			e := &rep.Entities[j]
			n, _ := im.owner(e.Name)
			im.nodes[n].cover.add(chunk, e.Description, 0)
			im.tell(chunk, e.Name, e.Description)
		}
		for j := range rep.Relations {
			r := &rep.Relations[j]
			n, _ := im.pair(r.Source, r.Target)
			e := &im.edges[n]
			e.cover.add(chunk, r.Description, r.Weight)
			im.tell(chunk, r.Source+" - "+r.Target, r.Description)
			im.nodes[e.a].cover.mention(chunk)
			im.nodes[e.b].cover.mention(chunk)
		}
		if i%1024 == 0 {
			if err := im.ctx.Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// chooseAnswers puts the answers of a chunk in the order of the calls and
// keeps two at most: those that the chunk lists, if it lists any.
func (im *lightragImport) chooseAnswers(c *importChunk) {
	if slices.ContainsFunc(c.answers, func(a cachedAnswer) bool { return a.listed }) {
		c.answers = slices.DeleteFunc(c.answers, func(a cachedAnswer) bool { return !a.listed })
	}
	slices.SortFunc(c.answers, func(a, b cachedAnswer) int {
		g := func(x bool) int {
			if x {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(g(a.glean), g(b.glean)), cmp.Compare(a.created, b.created), cmp.Compare(a.seq, b.seq))
	})
	if len(c.answers) > 2 {
		im.issues.add("answers surplus", answersFile, c.id, "")
		c.answers = c.answers[:2]
	}
}

func (v *coverage) mention(chunk int32) {
	if n := len(v.chunks); n == 0 || v.chunks[n-1] != chunk { // chunks come in order
		v.chunks = append(v.chunks, chunk)
	}
}

func (v *coverage) add(chunk int32, description string, weight int64) {
	v.mention(chunk)
	v.weight += weight
	if h := graphstore.TextHash(description); !slices.Contains(v.texts, h) {
		v.texts = append(v.texts, h)
	}
}
