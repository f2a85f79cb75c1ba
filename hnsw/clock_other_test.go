//go:build !linux

package hnsw

import (
	"testing"
	"time"
)

var started = time.Now()

func threadTime(*testing.B) time.Duration { return time.Since(started) }
