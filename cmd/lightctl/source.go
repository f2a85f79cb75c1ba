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
	stdin io.Reader
	limit int64 // bytes of one file, of one line of a JSONL file
	roots []*os.Root
	files []sourceFile
	skips []skipped
	seen  map[string]bool
}

type sourceFile struct {
	id   string
	open func() (fs.File, error) // nil: standard input
	read reader                  // nil: of unknown type, though named by the user
}

// openSource finds the files behind the paths that the user typed. Directories
// are walked in name order without hidden entries; links inside them are
// followed only to files inside them.
func openSource(stdin io.Reader, limit int64, paths []string) (*source, error) {
	s := &source{stdin: stdin, limit: limit, seen: make(map[string]bool)}
	for _, p := range paths {
		if err := s.addPath(p); err != nil {
			s.Close()
			return nil, about(p, err)
		}
	}
	return s, nil
}

// Close releases the directories.
func (s *source) Close() {
	for _, r := range s.roots {
		r.Close() // nothing was written
	}
}

func (s *source) addPath(p string) error {
	if p == "" {
		return usagef("an empty path was given")
	}
	if p == "-" {
		s.add(sourceFile{id: stdinID, read: readText})
		return nil
	}
	info, err := os.Stat(p)
	if err != nil {
		return err
	}
	id := path.Clean(filepath.ToSlash(p))
	if info.IsDir() {
		return s.addDir(p, id)
	}
	s.add(sourceFile{id: id, read: readerOf(p), open: func() (fs.File, error) { return os.Open(p) }})
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
	tree, before, skips := root.FS(), len(s.files), len(s.skips)
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		at := path.Join(id, name)
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			s.add(sourceFile{id: at, read: readText, open: func() (fs.File, error) { return nil, err }})
			return nil
		case name == ".":
			return nil
		case strings.HasPrefix(d.Name(), ".") && d.IsDir():
			return fs.SkipDir
		case strings.HasPrefix(d.Name(), ".") || d.IsDir():
			return nil
		}
		if d.Type()&fs.ModeSymlink != 0 {
			info, err := root.Stat(name)
			if err != nil {
				s.skip(at, "a link that leads out of the directory or nowhere")
				return nil
			}
			if info.IsDir() {
				s.skip(at, "a link to a directory")
				return nil
			}
			d = fs.FileInfoToDirEntry(info)
		}
		read := readerOf(name)
		switch {
		case !d.Type().IsRegular():
			s.skip(at, "not a regular file")
		case read == nil:
			s.skip(at, unknownType(name))
		default:
			s.add(sourceFile{id: at, read: read, open: func() (fs.File, error) { return tree.Open(name) }})
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(s.files) == before && !s.seenUnder(id) {
		return fmt.Errorf("%s holds no file of a known type (%s); %s of other types", dir, knownTypes,
			plural(len(s.skips)-skips, "file"))
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
		if err := s.readFile(ctx, f, yield); err != nil {
			return err
		}
	}
	return nil
}

func (s *source) readFile(ctx context.Context, f sourceFile, yield func(input) error) error {
	if f.read == nil {
		return yield(unreadable(f.id, fmt.Errorf("%s; known are %s", unknownType(f.id), knownTypes)))
	}
	if f.open == nil {
		return f.read(f.id, s.stdin, s.limit, yield)
	}
	file, err := f.open()
	if err != nil {
		return yield(unreadable(f.id, bare(err)))
	}
	defer file.Close()
	return f.read(f.id, file, s.limit, func(in input) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return yield(in)
	})
}

// bare is the cause of a file error, whose path stands beside it anyway.
func bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
