package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
)

const textDim = 384

// errNoText says that the vectors of real text are not at hand.
var errNoText = errors.New("no data/ann/wordnet-lsa-384 in the folder of $LIGHTRAG_SHARED, or in ../shared beside the module")

// loadText reads the vectors of real text: latent semantic analysis of the glosses of WordNet. shared is the
// folder of handed data.
func loadText(shared string) (*dataset, error) {
	if shared == "" {
		return nil, errNoText
	}
	d := &dataset{name: "real text", dim: textDim}
	var err error
	for _, part := range []struct {
		to   *[]float32
		name string
	}{{&d.base, "base"}, {&d.query, "query"}} {
		*part.to, err = readHalves(filepath.Join(shared, "data", "ann", "wordnet-lsa-384."+part.name+".f16"))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, errNoText
		}
		if err == nil && len(*part.to)%textDim != 0 {
			err = fmt.Errorf("%s vectors: %d numbers are not rows of %d", part.name, len(*part.to), textDim)
		}
		if err != nil {
			return nil, err
		}
		for at := 0; at < len(*part.to); at += textDim {
			normalise((*part.to)[at : at+textDim])
		}
	}
	return d, nil
}

func readHalves(path string) ([]float32, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	v := make([]float32, len(b)/2)
	for i := range v {
		v[i] = half(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return v, nil
}

// half returns the number of IEEE 754 binary16 bits.
func half(b uint16) float32 {
	sign, exponent, fraction := uint32(b>>15)<<31, uint32(b>>10&31), uint32(b&1023)
	switch exponent {
	case 0: // zero and subnormal numbers
		v := float32(fraction) / (1 << 24)
		if sign != 0 {
			return -v
		}
		return v
	case 31:
		return math.Float32frombits(sign | 0xff<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}

// sharedFolder returns the folder of handed data: $LIGHTRAG_SHARED, else ../shared beside the module, else "".
func sharedFolder(module string) string {
	if dir := os.Getenv("LIGHTRAG_SHARED"); dir != "" {
		return dir
	}
	dir := filepath.Join(module, "..", "shared")
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return dir
	}
	return ""
}
