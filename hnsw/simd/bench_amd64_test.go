package simd

import "github.com/viterin/vek/vek32"

func init() { vekDot = vek32.Dot }
