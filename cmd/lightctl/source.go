package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/lightctl/lightrag/cmd/lightctl/internal/reader"
)

// stdinID is the id of the document read from standard input.
const stdinID = "stdin"

// skipped is a file that was left out on purpose.
type skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// source is what `index` reads: files, found before any of them is read.
type source struct {
	stdin  io.Reader
	limit  int64 // bytes of one file, of one line of a JSONL file
	reader *reader.Reader
	store  fs.FileInfo // directory that is not walked, or nil
	roots  []*os.Root
	files  []sourceFile
	skips  []skipped
	seen   map[string]bool
}

type sourceFile struct {
	id   string
	name string                  // tells the type
	open func() (fs.File, error) // nil: standard input
}

// openSource finds the files behind the paths that the user typed. Directories
// are walked in name order, without hidden entries, files of unknown type and
// the store itself; links inside them are followed only to files inside them.
// What is left out is noted. A file that the user named is always tried.
func openSource(stdin io.Reader, o reader.Options, store string, paths []string) (*source, error) {
	s := &source{stdin: stdin, limit: o.Limit, reader: reader.New(o), seen: make(map[string]bool)}
	if info, err := os.Stat(store); err == nil {
		s.store = info
	}
	for _, p := range paths {
		if err := s.addPath(p); err != nil {
			s.Close()
			return nil, about(p, err)
		}
	}
	return s, nil
}

// Close releases the directories and the reader. Nothing was written.
func (s *source) Close() {
	for _, r := range s.roots {
		r.Close()
	}
	s.reader.Close()
}

func (s *source) addPath(p string) error {
	if p == "" {
		return usagef("an empty path was given")
	}
	if p == "-" {
		s.add(sourceFile{id: stdinID, name: "stdin.txt"})
		return nil
	}
	info, err := os.Stat(p)
	if err != nil {
		return fmt.Errorf("%s: %w", p, bare(err))
	}
	id := path.Clean(filepath.ToSlash(p))
	if info.IsDir() {
		return s.addDir(p, id)
	}
	if !info.Mode().IsRegular() { // to open a pipe may wait for ever
		return usagef("%s is not a regular file; - reads standard input", p)
	}
	s.add(sourceFile{id: id, name: id, open: func() (fs.File, error) { return os.Open(p) }})
	return nil
}

func (s *source) add(f sourceFile) {
	if !s.seen[f.id] {
		s.seen[f.id] = true
		s.files = append(s.files, f)
	}
}

func (s *source) addDir(dir, id string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	s.roots = append(s.roots, root)
	before, skips := len(s.files), len(s.skips)
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case name == ".":
			return err
		case err != nil:
			s.add(sourceFile{id: path.Join(id, name), name: stdinID, open: func() (fs.File, error) { return nil, err }})
			return nil
		}
		return s.addEntry(root, path.Join(id, name), name, d)
	})
	if err != nil {
		return err
	}
	if len(s.files) == before && !s.seenUnder(id) {
		return fmt.Errorf("%s holds no file of a known type (%s)%s", dir, knownTypes, bySkipReason(": skipped ", s.skips[skips:]))
	}
	return nil
}

// addEntry takes or skips what a directory holds.
func (s *source) addEntry(root *os.Root, id, name string, d fs.DirEntry) error {
	switch {
	case strings.HasPrefix(d.Name(), "."):
		s.skip(id, "hidden")
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	case d.IsDir():
		if info, err := d.Info(); err == nil && s.store != nil && os.SameFile(info, s.store) {
			s.skip(id, "the store")
			return fs.SkipDir
		}
		return nil
	case d.Type()&fs.ModeSymlink != 0:
		info, err := root.Stat(name)
		if err != nil {
			s.skip(id, "a link that leads out of the directory or nowhere")
			return nil
		}
		if info.IsDir() {
			s.skip(id, "a link to a directory")
			return nil
		}
		d = fs.FileInfoToDirEntry(info)
	}
	switch {
	case !d.Type().IsRegular():
		s.skip(id, "not a regular file")
	case !isKnown(name):
		s.skip(id, unknownType(name))
	default:
		s.add(sourceFile{id: id, name: name, open: func() (fs.File, error) { return root.FS().Open(name) }})
	}
	return nil
}

// seenUnder reports whether an earlier path already gave a file below id.
func (s *source) seenUnder(id string) bool {
	for have := range s.seen {
		if id == "." || strings.HasPrefix(have, id+"/") {
			return true
		}
	}
	return false
}

func (s *source) skip(p, reason string) { s.skips = append(s.skips, skipped{p, reason}) }

func unknownType(name string) string {
	if ext := path.Ext(name); ext != "" {
		return "unknown type " + strings.ToLower(ext)
	}
	return "no file type"
}

// each reads the files one after the other.
func (s *source) each(ctx context.Context, yield func(input) error) error {
	for _, f := range s.files {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := s.openFile(ctx, f, yield); err != nil {
			return err
		}
	}
	return nil
}

func (s *source) openFile(ctx context.Context, f sourceFile, yield func(input) error) error {
	yieldLive := func(in input) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return yield(in)
	}
	if f.open == nil {
		return s.readFile(ctx, f.id, f.name, s.stdin, yieldLive)
	}
	file, err := f.open()
	if err != nil {
		return yield(unreadable(f.id, bare(err)))
	}
	defer file.Close()
	if !isKnown(f.name) {
		return yield(unreadable(f.id, fmt.Errorf("%s; known are %s", unknownType(f.id), knownTypes)))
	}
	return s.readFile(ctx, f.id, f.name, file, yieldLive)
}

// bare is the cause of a file error, whose path stands beside it anyway.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
