package engine

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/lightctl/lightrag/format"
)

// jsonlVersion is the version of full exports.
const jsonlVersion = 1

// Lines of a full export, in the order in which they come:
//
//	store
//	alias, override, change, curated: what people decided
//	document, its chunk and vector lines, its fragment lines; by acceptance
//	entity, its summary and vector lines; by name
//	relation, its summary and vector lines; by source, then target
//	answer, by key
//	meta, by name
//	end
//
// Fields without omitempty must be there. Entity and relation lines are those
// of a plain export: they are derived, and the import compares them.

type storeLine struct {
	Kind             string `json:"kind"`
	Version          int    `json:"version"`
	Embedder         string `json:"embedder"`
	Dim              uint32 `json:"dim"`
	Checksum         string `json:"checksum,omitempty"`
	Tokenizer        string `json:"tokenizer"`
	Created          int64  `json:"created"`
	MaxSources       int    `json:"max_sources"`
	SummaryFragments int    `json:"summary_fragments"`
	SummaryTokens    int    `json:"summary_tokens"`
	SummaryJoin      int    `json:"summary_join"`
}

type documentLine struct {
	Kind       string            `json:"kind"`
	ID         string            `json:"id"`
	Path       string            `json:"path,omitempty"`
	Hash       hash256           `json:"hash"`
	Status     string            `json:"status"`
	Committed  bool              `json:"committed"` // it contributes to the graph
	Listed     bool              `json:"listed_sources,omitempty"`
	Generation uint32            `json:"generation"`
	Malformed  uint32            `json:"malformed,omitempty"`
	Removed    uint32            `json:"removed,omitempty"`
	Failed     uint32            `json:"failed_chunks,omitempty"`
	Error      string            `json:"error,omitempty"`
	Created    int64             `json:"created"`
	Updated    int64             `json:"updated"`
	Metadata   map[string]string `json:"metadata,omitempty"`
	// What its model calls cost.
	Calls            uint64 `json:"calls,omitempty"`
	PromptTokens     uint64 `json:"prompt_tokens,omitempty"`
	CachedTokens     uint64 `json:"cached_tokens,omitempty"`
	CompletionTokens uint64 `json:"completion_tokens,omitempty"`
}

type chunkLine struct {
	Kind      string    `json:"kind"`
	Doc       string    `json:"doc"`
	Order     uint32    `json:"order"`
	Path      string    `json:"path,omitempty"`
	Tokens    uint32    `json:"tokens"`
	Content   string    `json:"content"`
	Keywords  []string  `json:"keywords,omitempty"`
	CacheKeys []hash256 `json:"cache_keys,omitempty"`
	Malformed uint32    `json:"malformed,omitempty"`
	Failure   string    `json:"failure,omitempty"` // why nothing could be extracted from it
}

// ownerName names an entity (name) or a relation (src, tgt).
type ownerName struct {
	Name string `json:"name,omitempty"`
	Src  string `json:"src,omitempty"`
	Tgt  string `json:"tgt,omitempty"`
}

type fragmentLine struct {
	Kind  string `json:"kind"`
	Of    string `json:"of"`
	Doc   string `json:"doc"`
	Order uint32 `json:"order"`
	Pass  uint8  `json:"pass"`
	Index uint16 `json:"index"`
	ownerName
	Mention     bool      `json:"mention,omitempty"` // names the entity and says nothing about it
	Type        string    `json:"type,omitempty"`
	Description string    `json:"description,omitempty"`
	Keywords    []string  `json:"keywords,omitempty"`
	Weight      millionth `json:"weight,omitempty"`
}

type vectorLine struct {
	Kind string `json:"kind"`
	Of   string `json:"of"`
	ownerName
	Doc      string   `json:"doc,omitempty"` // of a chunk
	Order    uint32   `json:"order,omitempty"`
	TextHash hash64   `json:"text_hash,omitempty"` // of the text that it was made from; not of a chunk
	Data     float32s `json:"data"`
}

type summaryLine struct {
	Kind string `json:"kind"`
	Of   string `json:"of"`
	ownerName
	Level uint8       `json:"level"`
	First fragmentRef `json:"first"`
	Last  fragmentRef `json:"last"`
	Input hash256     `json:"input"`
	Model string      `json:"model"`
	Text  string      `json:"text"`
}

// fragmentRef is a place in canonical order.
type fragmentRef struct {
	Doc   string `json:"doc"` // "" = made by the change of that order
	Order uint32 `json:"order"`
	Pass  uint8  `json:"pass"`
	Index uint16 `json:"index"`
}

type answerLine struct {
	Kind             string  `json:"kind"`
	Key              hash256 `json:"key"`
	Task             uint8   `json:"task"`
	Created          int64   `json:"created"`
	PromptTokens     uint32  `json:"prompt_tokens"`
	CachedTokens     uint32  `json:"cached_tokens"`
	CompletionTokens uint32  `json:"completion_tokens"`
	Text             string  `json:"text"`
}

type metaLine struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	Data []byte `json:"data"`
}

type endLine struct {
	Kind  string `json:"kind"`
	Lines int    `json:"lines"` // before this one
}

// hash256 is written as 64 hexadecimal digits.
type hash256 [32]byte

func (h hash256) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h[:]), nil }

func (h *hash256) UnmarshalText(b []byte) error {
	if len(b) != 64 {
		return fmt.Errorf("a hash has 64 hexadecimal digits, not %d characters", len(b))
	}
	_, err := hex.Decode(h[:], b)
	return err
}

// hash64 is written as 16 hexadecimal digits.
type hash64 uint64

func (h hash64) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%016x", uint64(h)), nil }

func (h *hash64) UnmarshalText(b []byte) error {
	n, err := strconv.ParseUint(string(b), 16, 64)
	if err != nil || len(b) != 16 {
		return errors.New("a text hash has 16 hexadecimal digits")
	}
	*h = hash64(n)
	return nil
}

// millionth is a weight in 1/format.WeightScale, written as a decimal number.
type millionth int64

func (m millionth) MarshalJSON() ([]byte, error) {
	n := uint64(m)
	b := []byte{}
	if m < 0 {
		b, n = append(b, '-'), -n
	}
	b = strconv.AppendUint(b, n/format.WeightScale, 10)
	if frac := n % format.WeightScale; frac != 0 {
		b = append(b, strings.TrimRight(fmt.Sprintf(".%06d", frac), "0")...)
	}
	return b, nil
}

func (m *millionth) UnmarshalJSON(b []byte) error {
	bad := fmt.Errorf("%s is not a weight: a decimal number of at most six places, 0 or more", b)
	whole, frac, _ := strings.Cut(string(b), ".")
	if len(frac) > 6 {
		return bad
	}
	n, err := strconv.ParseUint(whole+frac+strings.Repeat("0", 6-len(frac)), 10, 63)
	if err != nil {
		return bad
	}
	*m = millionth(n)
	return nil
}

// float32s is a vector, written as the base64 of its little-endian floats.
type float32s []float32

func (v float32s) MarshalText() ([]byte, error) {
	raw := make([]byte, 0, 4*len(v))
	for _, x := range v {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return base64.StdEncoding.AppendEncode(nil, raw), nil
}

func (v *float32s) UnmarshalText(b []byte) error {
	raw, err := base64.StdEncoding.AppendDecode(nil, b)
	if err != nil {
		return errors.New("not base64")
	}
	if len(raw)%4 != 0 {
		return fmt.Errorf("%d bytes are no whole number of floats", len(raw))
	}
	out := make(float32s, len(raw)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	*v = out
	return nil
}
