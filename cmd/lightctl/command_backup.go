package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/lightctl/lightrag/engine"
)

func (a *app) backupCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "backup DST",
		Short: "Copy the store",
		Long: "Write a copy of the store to DST, a directory that does not exist, on the same file system. Files that never\n" +
			"change are linked, so that a copy takes little time and room; copy DST elsewhere to be safe from a lost disk.\n" +
			"Until the copy is whole it is in DST.unfinished; what a crash leaves there goes with the next backup to DST.\n" +
			"The vector index is left out: it is made again when the copy is first opened for writing.",
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.backup(cmd.Context(), args[0]) },
	}
}

type backupJSON struct {
	Path    string  `json:"path"`
	Bytes   uint64  `json:"bytes"`
	Seconds float64 `json:"seconds"`
}

func (a *app) backup(ctx context.Context, dst string) error {
	started := time.Now()
	db, err := a.openEdit()
	if err != nil {
		return err
	}
	err = db.Backup(ctx, dst)
	if errors.Is(err, engine.ErrExists) {
		err = &plainError{err, fmt.Sprintf("%s exists: a backup is made in a new directory", dst)}
	}
	if err = errors.Join(about(dst, err), db.Close()); err != nil {
		return err
	}
	out := backupJSON{Path: dst, Bytes: treeBytes(dst), Seconds: seconds(time.Since(started))}
	if a.json {
		return writeJSON(a.out, out)
	}
	return a.say("copied %s to %s, %s\n", a.db, dst, bytesText(out.Bytes))
}
