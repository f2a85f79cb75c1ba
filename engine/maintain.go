package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/lightctl/lightrag/graphstore"
)

// Backup writes a copy of the store to dst, which must not exist (ErrExists)
// and lies on the same file system. Others may read and write meanwhile; the copy
// holds every change that had returned before the call, and appears whole or not at
// all: it is made in dst + ".unfinished" and renamed in the end. What a crash
// leaves there is removed by the next backup to dst; while another backup or
// import works there, the error matches ErrLocked. What never changes is linked
// instead of copied, and the vector index is left out: it is made again when the
// copy is first opened.
func (db *DB) Backup(ctx context.Context, dst string) error {
	if err := db.begin(true); err != nil {
		return err
	}
	defer db.end()
	return db.store.Backup(ctx, dst)
}

// CompactOptions says what goes besides what was deleted.
type CompactOptions = graphstore.CompactOptions

// CompactReport counts what Compact took out.
type CompactReport = graphstore.CompactInfo

// Compact rewrites the files of the store in dir without what was deleted or
// replaced: afterwards no file of it holds a word that only deleted documents
// had, but for cached answers, which go with CompactOptions.Answers, and what
// was curated by hand. It takes time in proportion to the store, and up to its
// size of room on the disk. No model is asked; the embedder of o must be the
// store's or have no name. Cut short by a cancelled context or a crash, it loses
// nothing, and the next run goes on.
func Compact(ctx context.Context, dir string, o Options, c CompactOptions) (CompactReport, error) {
	o.MustExist, o.ReadOnly = true, false
	rep, err := compact(ctx, dir, o, c)
	if err == nil {
		// What describes the files names the bounds of those that are gone until the
		// store is opened again.
		var db *DB
		if db, err = Open(dir, o); err == nil {
			err = db.Close()
		}
	}
	if err != nil {
		return rep, fmt.Errorf("lightrag: compact %s: %w", dir, within(err))
	}
	return rep, nil
}

func compact(ctx context.Context, dir string, o Options, c CompactOptions) (rep CompactReport, err error) {
	db, err := Open(dir, o)
	if err != nil {
		return rep, err
	}
	rep, err = db.store.Compact(ctx, c)
	return rep, errors.Join(err, db.Close())
}
