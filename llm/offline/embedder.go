package offline

import (
	"context"
	"fmt"
	"sync"

	"github.com/lightctl/lightrag/llm"
	"github.com/lightctl/lightrag/llm/offline/internal/wordvec"
)

// Dim is the number of components of a vector.
const Dim = 768

// Embedder gives a text a vector of unit length that is the sum of two halves.
//
// The static half is the mean of the vectors of its English words, from the table
// of package wordvec, with common words made light: texts that say the same in
// other words are near. It takes the first components.
//
// The hashed half is for everything else, names, numbers and other languages.
// Every word adds its stem, the character 3- to 5-grams of it, and the pair it
// makes with the word before; every run of Chinese, Japanese or Korean adds its
// 1- to 3-grams, and Korean words their stem without a particle. Function words
// weigh a tenth. A feature is added with a sign from its own hash (Weinberger et
// al., "Feature Hashing for Large Scale Multitask Learning", 2009), so that
// collisions cancel on average. Features of words take the components behind the
// static half, those of CJK all.
//
// In both, the n-th occurrence of a word adds 1/n, so that a count c weighs the
// harmonic number of c, which grows like 1+log c. The static half gets the less
// of the vector the less of the text the table knows: a text without a known word
// is hashed alone.
//
// An Embedder is immutable but for a pool of scratch space, and safe for
// concurrent use.
type Embedder struct{ pool sync.Pool }

// NewEmbedder returns the offline embedder.
func NewEmbedder() *Embedder {
	return &Embedder{pool: sync.Pool{New: func() any {
		table := wordvec.Default()
		return &hasher{table: table, static: make([]float32, table.Dims())}
	}}}
}

// Info names the vector space. The checksum changes whenever a vector might: it
// holds the version of the rules and the digest of the table.
func (*Embedder) Info() llm.EmbedderInfo {
	return llm.EmbedderInfo{Name: "offline-static-1", Dim: Dim, Checksum: "1.0-" + wordvec.Default().Digest()[:12]}
}

// Embed returns one unit vector of Dim finite components per text, owned by the
// caller. Blank text gives a fixed vector. Queries and documents are embedded
// alike. It fails only when ctx is done.
func (e *Embedder) Embed(ctx context.Context, texts []string, _ llm.Purpose) ([][]float32, error) {
	out := make([][]float32, len(texts))
	h := e.pool.Get().(*hasher)
	defer e.pool.Put(h)
	for i, s := range texts {
		if i%32 == 0 || len(s) > 64<<10 {
			if err := ctx.Err(); err != nil {
				return nil, fmt.Errorf("offline: embed: %w", err)
			}
		}
		out[i] = make([]float32, Dim)
		h.embed(out[i], s)
	}
	return out, nil
}

var _ llm.Embedder = (*Embedder)(nil)

// Weights, chosen on texts that are named in testdata/README.md.
const (
	// weightStatic is the square of the length of the static half, if the table
	// knows all words.
	weightStatic = 0.5
	// A word whose share of the training text is commonStatic has half the weight
	// of a rare one in the static half (Arora, Liang and Ma, "A Simple but
	// Tough-to-Beat Baseline for Sentence Embeddings", 2017), and likewise in the
	// hashed half.
	commonStatic = 3e-4
	commonHashed = 1e-2

	wordCopies   = 3       // components of a word, so that no collision hides all of it
	weightWord   = 0.57735 // of each: together 1
	weightStop   = 0.1
	weightGrams  = 1 // all n-grams of one word together, before the root of their number
	weightPair   = 0.25
	weightSymbol = 0.05

	shortGram, longGram = 3, 5 // characters of an n-gram
)

var weightCJK = [4]float32{0, 0.8, 1, 0.5}
