package engine

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/llm"
)

// ragStore is what a LightRAG working directory is written from.
type ragStore struct {
	docs  []ragDoc
	nodes []ragNode
	edges []ragEdge
	embed func(text string) []float32 // nil: no vectors
	dim   int
}

type ragDoc struct {
	id, path, text string
	chunks         []ragChunk
}

type ragChunk struct {
	id    string
	order int
	text  string
	first string // answers; "" = not in the cache
	glean string
}

type ragNode struct {
	name, kind string
	texts      []string
	sources    []string
}

type ragEdge struct {
	src, tgt string
	weight   float64
	keywords []string
	texts    []string
	sources  []string
}

// The forms that a directory can have.
const (
	formNano = "nano" // nano-graphrag and LightRAG 0.x: quoted upper-case names, an answer and a model in the cache
	form13   = "1.3"  // a cache with modes and prompts, texts in doc_status
	form15   = "1.5"  // flat cache, contents and float16 vectors in vdb files, full lists of sources
)

// graphOf makes the graph of the chunks' answers, in the simplest way.
func (s *ragStore) graphOf() {
	nodes, edges := make(map[string]*ragNode), make(map[[2]string]*ragEdge)
	var names []string
	var pairs [][2]string
	votes := make(map[string]map[string]int)
	add := func(list *[]string, v string) {
		if v != "" && !slices.Contains(*list, v) {
			*list = append(*list, v)
		}
	}
	node := func(name string) *ragNode {
		if nodes[name] == nil {
			nodes[name] = &ragNode{name: name, kind: "UNKNOWN"}
			votes[name] = make(map[string]int)
			names = append(names, name)
		}
		return nodes[name]
	}
	for _, d := range s.docs {
		for _, c := range d.chunks {
			x := llm.MergeGleaning(llm.ParseExtraction(c.first), llm.ParseExtraction(c.glean))
			for _, e := range x.Entities {
				n := node(e.Name)
				add(&n.texts, e.Description)
				add(&n.sources, c.id)
				if votes[e.Name][e.Type]++; votes[e.Name][e.Type] > votes[e.Name][n.kind] || n.kind == "UNKNOWN" {
					n.kind = e.Type
				}
			}
			for _, r := range x.Relations {
				k := [2]string{min(r.Source, r.Target), max(r.Source, r.Target)}
				if edges[k] == nil {
					edges[k] = &ragEdge{src: k[0], tgt: k[1]}
					pairs = append(pairs, k)
				}
				e := edges[k]
				add(&e.texts, r.Description)
				add(&e.sources, c.id)
				for _, w := range r.Keywords {
					add(&e.keywords, w)
				}
				e.weight += float64(r.Weight) / 1e6
				for _, end := range k {
					add(&node(end).sources, c.id)
				}
			}
		}
	}
	s.nodes, s.edges = nil, nil
	for _, n := range names {
		s.nodes = append(s.nodes, *nodes[n])
	}
	for _, k := range pairs {
		e := edges[k]
		slices.Sort(e.keywords)
		for _, end := range k {
			if n := nodes[end]; n.kind == "UNKNOWN" && len(n.texts) == 0 {
				s.nodes[slices.Index(names, end)].texts = e.texts[:1]
				n.texts = e.texts[:1]
			}
		}
		s.edges = append(s.edges, *e)
	}
}

// write writes the directory. skip names files that are left out.
func (s *ragStore) write(t testing.TB, form string, skip ...string) string {
	t.Helper()
	dir := t.TempDir()
	put := func(name string, fill func(b *bytes.Buffer)) {
		if slices.Contains(skip, name) {
			return
		}
		var b bytes.Buffer
		fill(&b)
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	object := func(name string, rows func(add func(key string, v any))) {
		put(name, func(b *bytes.Buffer) {
			b.WriteByte('{')
			first := true
			rows(func(key string, v any) {
				if !first {
					b.WriteByte(',')
				}
				first = false
				k, _ := json.Marshal(key)
				row, err := json.MarshalIndent(v, "", "  ")
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(b, "\n  %s: %s", k, row)
			})
			b.WriteString("\n}")
		})
	}
	type m = map[string]any

	object(fullDocsFile, func(add func(string, any)) {
		for _, d := range s.docs {
			row := m{"content": d.text}
			if form == form15 {
				row["file_path"] = d.path
			}
			add(d.id, row)
		}
	})
	if form != formNano {
		object(docStatusFile, func(add func(string, any)) {
			for _, d := range s.docs {
				row := m{"status": "processed", "chunks_count": len(d.chunks), "created_at": "2025-03-01T15:52:46.469581", "file_path": d.path}
				if form == form13 {
					row["content"] = d.text
				}
				add(d.id, row)
			}
		})
	}
	object(textChunksFile, func(add func(string, any)) {
		for _, d := range s.docs {
			for _, c := range d.chunks {
				row := m{"tokens": len(c.text) / 4, "content": c.text, "chunk_order_index": c.order, "full_doc_id": d.id}
				if form == form15 {
					row["file_path"], row["_id"] = d.path, c.id
					if c.first != "" {
						row["llm_cache_list"] = []string{"default:extract:" + digestOf(c.id+"/1"), "default:extract:" + digestOf(c.id+"/2")}
					}
				}
				add(c.id, row)
			}
		}
	})
	s.writeCache(form, object)
	put(graphFile, func(b *bytes.Buffer) { s.writeGraph(b, form) })
	if form == form15 {
		object(entityChunksFile, func(add func(string, any)) {
			for _, n := range s.nodes {
				add(n.name, m{"chunk_ids": n.sources, "count": len(n.sources)})
			}
		})
		object(relationChunksFile, func(add func(string, any)) {
			for _, e := range s.edges {
				add(min(e.src, e.tgt)+"<SEP>"+max(e.src, e.tgt), m{"chunk_ids": e.sources, "count": len(e.sources)})
			}
		})
	}
	if s.embed != nil {
		s.writeVectors(t, form, put)
	}
	return dir
}

func digestOf(s string) string {
	sum := md5.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}

func (s *ragStore) writeCache(form string, object func(string, func(add func(string, any)))) {
	type m = map[string]any
	object(answersFile, func(add func(string, any)) {
		nested := m{}
		for _, d := range s.docs {
			for _, c := range d.chunks {
				if c.first == "" {
					continue
				}
				prompt := "---Goal---\nFind everything.\n######\nText:\n" + c.text + "\n######\nOutput:"
				history, _ := json.Marshal([]llm.Message{{Role: "user", Content: prompt}, {Role: "assistant", Content: c.first}})
				for i, answer := range []string{c.first, c.glean} {
					if answer == "" {
						continue
					}
					key := digestOf(fmt.Sprintf("%s/%d", c.id, i+1))
					switch form {
					case formNano:
						add(key, m{"return": answer, "model": "gpt-4o-mini"})
					case form13:
						if i == 1 {
							prompt = string(history) + "\nMANY entities were missed."
						}
						nested[key] = m{"return": answer, "cache_type": "extract", "original_prompt": prompt, "embedding": nil}
					default:
						add("default:extract:"+key, m{
							"return": answer, "cache_type": "extract", "chunk_id": c.id, "original_prompt": prompt,
							"queryparam": nil, "create_time": 1700000000 + 50*i,
						})
					}
				}
			}
		}
		switch form {
		case form13:
			add("default", nested)
			add("local", m{"q": m{"return": `{"high_level_keywords":[],"low_level_keywords":["x"]}`, "cache_type": "keywords"}})
		case form15:
			add("mix:query:1", m{"return": "an answer", "cache_type": "query", "queryparam": m{"mode": "mix"}})
		}
	})
}

func quoteAll(list []string) []string {
	out := make([]string, len(list))
	for i := range list {
		out[i] = `"` + list[i] + `"`
	}
	return out
}

// shown is how a form writes a name.
func shown(form, name string) string {
	if form == formNano {
		return `"` + strings.ToUpper(name) + `"`
	}
	return name
}

func (s *ragStore) writeGraph(b *bytes.Buffer, form string) {
	esc := func(v string) string {
		var e bytes.Buffer
		_ = xml.EscapeText(&e, []byte(v))
		return e.String()
	}
	b.WriteString(`<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
`)
	node := []string{"entity_id", "entity_type", "description", "source_id", "file_path", "created_at"}
	edge := []string{"weight", "description", "keywords", "source_id", "file_path", "created_at"}
	if form == formNano {
		node, edge = []string{"entity_type", "description", "source_id"}, []string{"weight", "description", "keywords", "source_id"}
	}
	keys := make(map[string]string)
	n := len(node) + len(edge)
	for i, name := range append(slices.Clone(node), edge...) { // numbered from the end, or from the front
		owner := "node"
		if i >= len(node) {
			owner = "edge"
		}
		id := fmt.Sprintf("d%d", i)
		if form == form13 {
			id = fmt.Sprintf("d%d", n-i)
		}
		keys[owner+name] = id
		fmt.Fprintf(b, "  <key id=%q for=%q attr.name=%q attr.type=\"string\" />\n", id, owner, name)
	}
	b.WriteString("  <graph edgedefault=\"undirected\">\n")
	data := func(owner, name, v string) {
		if id := keys[owner+name]; id != "" {
			fmt.Fprintf(b, "      <data key=%q>%s</data>\n", id, esc(v))
		}
	}
	texts := func(list []string) string {
		if form == formNano {
			list = quoteAll(list)
		}
		return strings.Join(list, "<SEP>")
	}
	for _, x := range s.nodes {
		fmt.Fprintf(b, "    <node id=\"%s\">\n", esc(shown(form, x.name)))
		kind := x.kind
		if form == formNano {
			kind = `"` + strings.ToUpper(kind) + `"`
		}
		data("node", "entity_id", x.name)
		data("node", "entity_type", kind)
		data("node", "description", texts(x.texts))
		data("node", "source_id", strings.Join(x.sources, "<SEP>"))
		data("node", "created_at", "1700000000")
		b.WriteString("    </node>\n")
	}
	for _, x := range s.edges {
		fmt.Fprintf(b, "    <edge source=\"%s\" target=\"%s\">\n", esc(shown(form, x.src)), esc(shown(form, x.tgt)))
		words := strings.Join(x.keywords, ",")
		if form == formNano {
			words = `"` + words + `"`
		}
		data("edge", "weight", fmt.Sprint(x.weight))
		data("edge", "description", texts(x.texts))
		data("edge", "keywords", words)
		data("edge", "source_id", strings.Join(x.sources, "<SEP>"))
		b.WriteString("    </edge>\n")
	}
	b.WriteString("  </graph>\n</graphml>\n")
}
