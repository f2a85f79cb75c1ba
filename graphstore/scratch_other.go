//go:build !unix

package graphstore

import (
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
)

const removesOpenFiles = false

func duplicate(vfs.File) (*os.File, error) { return nil, nil }
