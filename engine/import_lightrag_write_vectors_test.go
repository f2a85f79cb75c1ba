package engine

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lightctl/lightrag/bench/workload"
)

// vdb is a file of vectors.
func (s *ragStore) vdb(b *bytes.Buffer, form string, rows []map[string]any, texts []string) {
	var matrix []byte
	for i, text := range texts {
		v := slices.Clone(s.embed(text))
		var sum float64
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		var halves []byte
		for j := range v {
			halves = binary.LittleEndian.AppendUint16(halves, toHalf(v[j]))
			v[j] /= float32(math.Sqrt(sum))
			matrix = binary.LittleEndian.AppendUint32(matrix, math.Float32bits(v[j]))
		}
		rows[i]["__created_at__"] = 1740846508.89
		if form == form15 {
			var z bytes.Buffer
			w := zlib.NewWriter(&z)
			_, _ = w.Write(halves)
			_ = w.Close()
			rows[i]["vector"], rows[i]["content"] = base64.StdEncoding.EncodeToString(z.Bytes()), text
		}
	}
	data, _ := json.Marshal(rows)
	if rows == nil {
		data = []byte("[]")
	}
	fmt.Fprintf(b, `{"embedding_dim": %d, "data": %s, "matrix": %q}`, s.dim, data, base64.StdEncoding.EncodeToString(matrix))
}

// toHalf converts to binary16, cutting what does not fit; enough for
// components of unit vectors.
func toHalf(f float32) uint16 {
	sign := uint16(0)
	if f < 0 {
		sign, f = 0x8000, -f
	}
	frac, exp := math.Frexp(float64(f)) // in [0.5, 1)
	switch {
	case f == 0:
		return sign
	case exp < -13:
		return sign | uint16(math.Ldexp(float64(f), 24))
	}
	return sign | uint16(exp+14)<<10 | uint16(math.Ldexp(frac, 11))&0x3ff
}

func (s *ragStore) writeVectors(t testing.TB, form string, put func(string, func(*bytes.Buffer))) {
	t.Helper()
	type m = map[string]any
	put(entityVectorsFile, func(b *bytes.Buffer) {
		var rows []m
		var texts []string
		for _, n := range s.nodes {
			rows = append(rows, m{"__id__": "ent-" + digestOf(n.name), "entity_name": shown(form, n.name)})
			texts = append(texts, n.name+"\n"+strings.Join(n.texts, "<SEP>"))
		}
		s.vdb(b, form, rows, texts)
	})
	put(relationVectorsFile, func(b *bytes.Buffer) {
		var rows []m
		var texts []string
		for _, e := range s.edges {
			rows = append(rows, m{"__id__": "rel-" + digestOf(e.src+e.tgt), "src_id": shown(form, e.src), "tgt_id": shown(form, e.tgt)})
			texts = append(texts, strings.Join(e.keywords, ",")+"\t"+e.src+"\n"+e.tgt+"\n"+strings.Join(e.texts, "<SEP>"))
		}
		s.vdb(b, form, rows, texts)
	})
	put(chunkVectorsFile, func(b *bytes.Buffer) {
		var rows []m
		var texts []string
		for _, d := range s.docs {
			for _, c := range d.chunks {
				rows = append(rows, m{"__id__": c.id, "full_doc_id": d.id})
				texts = append(texts, c.text)
			}
		}
		s.vdb(b, form, rows, texts)
	})
}

// someStore makes documents of a few chunks whose answers share entities.
func someStore(docs, chunks, entities int, seed uint64) *ragStore {
	rng := rand.New(rand.NewPCG(seed, 1))
	s := &ragStore{dim: 64}
	emb := workload.NewEmbedder(s.dim)
	s.embed = func(text string) []float32 { return emb.Vector(text) }
	name := func() string { return fmt.Sprintf("ENTITY %d", 100+rng.IntN(entities)) }
	for d := range docs {
		doc := ragDoc{id: "doc-" + digestOf(fmt.Sprint(seed, d)), path: fmt.Sprintf("docs/%d.txt", d)}
		for c := range chunks {
			text := fmt.Sprintf("Passage %d of document %d says a thing or two, and nothing more than that.", c, d)
			chunk := ragChunk{id: fmt.Sprintf("%s-chunk-%03d", doc.id, c), order: c, text: text}
			answer := func(n int) string {
				var b strings.Builder
				for range n {
					x, y := name(), name()
					fmt.Fprintf(&b, "entity<|#|>%s<|#|>%s<|#|>%s, as told in %d/%d (%d).\n", x, [...]string{"Person", "Event", "Location"}[rng.IntN(3)], x, d, c, rng.IntN(3))
					fmt.Fprintf(&b, "relation<|#|>%s<|#|>%s<|#|>knows, word%d<|#|>%s and %s in %d/%d.\n", x, y, rng.IntN(5), x, y, d, c)
				}
				return b.String() + "<|COMPLETE|>"
			}
			chunk.first, chunk.glean = answer(4), answer(1)
			doc.chunks = append(doc.chunks, chunk)
			doc.text += text + "\n"
		}
		s.docs = append(s.docs, doc)
	}
	s.graphOf()
	return s
}
