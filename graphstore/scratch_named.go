//go:build !linux

package graphstore

import "os"

// nameless is for systems that know files that never have a name.
func (x IndexFiles) nameless() *os.File { return nil }
