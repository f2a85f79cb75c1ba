package llm

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

type embedRequest struct {
	Model          string   `json:"model"`
	Input          []string `json:"input"`
	EncodingFormat string   `json:"encoding_format,omitempty"`
	Dimensions     int      `json:"dimensions,omitempty"`
}

type embedAnswer struct {
	Data []struct {
		Index     *int       `json:"index"`
		Embedding wireVector `json:"embedding"`
	} `json:"data"`
	Usage struct {
		PromptTokens int `json:"prompt_tokens"`
		TotalTokens  int `json:"total_tokens"`
	} `json:"usage"`
}

// wireVector is a vector as servers send it: little-endian float32 in base64, or
// an array of numbers, also where the other was asked for.
type wireVector []float32

func (v *wireVector) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		raw, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			return err
		}
		if len(raw)%4 != 0 {
			return errors.New("base64 vector is no whole number of floats")
		}
		*v = make(wireVector, len(raw)/4)
		for i := range *v {
			(*v)[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		}
		return nil
	}
	if bytes.Contains(b, []byte("null")) { // would be decoded as 0
		return errors.New("vector holds null")
	}
	var f []float32
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	*v = f
	return nil
}

// order returns the n vectors in the order of the texts. Indexes must be a
// permutation; a server that sends none, or zero throughout, is taken to answer
// in order.
func (a *embedAnswer) order(n int) ([][]float32, error) {
	if len(a.Data) != n {
		return nil, fmt.Errorf("%w: %d vectors for %d texts", ErrBadResponse, len(a.Data), n)
	}
	out := make([][]float32, n)
	given := false
	for _, d := range a.Data {
		given = given || d.Index != nil && *d.Index != 0
	}
	for i, d := range a.Data {
		at := i
		if given {
			if d.Index == nil || *d.Index < 0 || *d.Index >= n || out[*d.Index] != nil {
				return nil, fmt.Errorf("%w: the indexes of the vectors are not 0 to %d", ErrBadResponse, n-1)
			}
			at = *d.Index
		}
		out[at] = d.Embedding
		if out[at] == nil {
			out[at] = []float32{}
		}
	}
	return out, nil
}

// checkVector refuses what would poison an index: another dimension than want
// (0 = any), a number that is none, and a vector without direction. text is the
// index of its text, for the message.
func checkVector(v []float32, want, text int) error {
	if len(v) == 0 && want == 0 {
		return fmt.Errorf("%w: text %d: no components", ErrVector, text)
	}
	if want > 0 && len(v) != want {
		return &DimensionError{Text: text, Have: len(v), Want: want}
	}
	zero := true
	for i, x := range v {
		if x-x != 0 { // NaN or an infinity
			return fmt.Errorf("%w: text %d: component %d is %v", ErrVector, text, i, x)
		}
		zero = zero && x == 0
	}
	if zero {
		return fmt.Errorf("%w: text %d: all %d components are zero", ErrVector, text, len(v))
	}
	return nil
}
