package graphstore

import "github.com/lightctl/lightrag/graphstore/internal/durable"

// Staging is the place where a store is made that is to appear whole or not at
// all: a directory beside its own, with the suffix ".unfinished". Backup uses
// one too.
type Staging = durable.Staging

// Stage prepares to make the store dir, which must not exist or be an empty
// directory: otherwise the error matches ErrExists. It matches ErrLocked while
// another Staging of the same name is in use. FS nil is the operating system's.
// What a crash leaves is removed by the next Stage of the same name.
func Stage(fsys FS, dir string) (*Staging, error) {
	s, err := durable.Stage(fsys, dir)
	return s, opError("make store", dir, err)
}
