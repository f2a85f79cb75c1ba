package engine

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Files of a LightRAG working directory.
const (
	graphFile           = "graph_chunk_entity_relation.graphml"
	fullDocsFile        = "kv_store_full_docs.json"
	textChunksFile      = "kv_store_text_chunks.json"
	docStatusFile       = "kv_store_doc_status.json"
	answersFile         = "kv_store_llm_response_cache.json"
	entityChunksFile    = "kv_store_entity_chunks.json"
	relationChunksFile  = "kv_store_relation_chunks.json"
	entityVectorsFile   = "vdb_entities.json"
	relationVectorsFile = "vdb_relationships.json"
	chunkVectorsFile    = "vdb_chunks.json"
)

var lightragFiles = []string{
	fullDocsFile, docStatusFile, textChunksFile, chunkVectorsFile, graphFile, entityChunksFile, relationChunksFile,
	answersFile, entityVectorsFile, relationVectorsFile,
}

// lightragDir finds the directory that holds the files: dir, or one of its
// workspaces.
func lightragDir(dir, workspace string) (found, name string, others []string, err error) {
	info, err := os.Stat(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w: there is no directory %s", ErrNotFound, dir)
		}
		return "", "", nil, err
	}
	if !info.IsDir() {
		return "", "", nil, fmt.Errorf("%w: %s is no directory", ErrInvalid, dir)
	}
	if workspace != "" {
		if !filepath.IsLocal(workspace) || strings.ContainsAny(workspace, `/\`) {
			return "", "", nil, fmt.Errorf("%w: workspace %q is not the name of a sub-directory", ErrInvalid, workspace)
		}
		found = filepath.Join(dir, workspace)
		if !isLightragDir(found) {
			return "", "", nil, noLightragFiles(found)
		}
		return found, workspace, nil, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", "", nil, err
	}
	for _, e := range entries {
		if e.IsDir() && isLightragDir(filepath.Join(dir, e.Name())) {
			others = append(others, e.Name())
		}
	}
	switch {
	case isLightragDir(dir):
		return dir, "", others, nil
	case len(others) == 1:
		return filepath.Join(dir, others[0]), others[0], nil, nil
	case len(others) > 1:
		return "", "", nil, fmt.Errorf("%w: %s holds several workspaces, name one of them: %s", ErrInvalid, dir, strings.Join(others, ", "))
	}
	return "", "", nil, noLightragFiles(dir)
}

func noLightragFiles(dir string) error {
	return fmt.Errorf("%w: %s and its sub-directories hold none of the files of a LightRAG working directory (%s)",
		ErrNotFound, dir, strings.Join(lightragFiles, ", "))
}

// isLightragDir says whether one of the files is there and not empty.
func isLightragDir(dir string) bool {
	return slices.ContainsFunc(lightragFiles, func(name string) bool {
		info, err := os.Stat(filepath.Join(dir, name))
		return err == nil && info.Mode().IsRegular() && info.Size() > 0
	})
}

// file reads one file with fn, which returns the number of rows. A missing or
// empty one is noted, and so is an error of fn: what it has read counts.
// Errors of the import itself, in contrast to those of the file, are marked
// with stop.
func (im *lightragImport) file(name string, fn func(r io.Reader) (rows int, err error)) error {
	if err := im.ctx.Err(); err != nil {
		return err
	}
	out := ImportFile{Name: name}
	defer func() { im.rep.Files = append(im.rep.Files, out) }()
	f, err := os.Open(filepath.Join(im.dir, name))
	if err != nil {
		out.Note = "missing"
		if !errors.Is(err, fs.ErrNotExist) {
			out.Note = err.Error()
			im.issues.add("file damaged", name, "", err.Error())
		}
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() == 0 {
		out.Note = "empty"
		return nil
	}
	out.Rows, err = fn(&contextReader{im.ctx, f})
	var fatal *stopError
	if errors.As(err, &fatal) {
		return fatal.err
	}
	if err := im.ctx.Err(); err != nil {
		return err
	}
	if err != nil {
		out.Note = err.Error()
		im.issues.add("file damaged", name, "", err.Error())
	}
	return nil
}

// stopError is one that ends the import.
type stopError struct{ err error }

func (e *stopError) Error() string { return e.err.Error() }
func (e *stopError) Unwrap() error { return e.err }

func stop(err error) error {
	if err == nil {
		return nil
	}
	return &stopError{err}
}
