//go:build !linux

package hnsw

import (
	"testing"
	"time"
)

var started = time.Now()

func threadTime(*testing.B) time.Duration { return time.Since(started) }

func processTime(*testing.B) time.Duration { return time.Since(started) }
