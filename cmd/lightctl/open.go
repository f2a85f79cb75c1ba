package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/lightctl/lightrag/engine"
	"github.com/lightctl/lightrag/llm"
)

// openView opens the store to look at it: nothing is written, no model is
// used, and it does not matter which embedder it was made with.
func (a *app) openView() (*engine.DB, error) {
	return a.open(engine.Options{ReadOnly: true, MustExist: true})
}

// openEdit opens the store for changes that need no model.
func (a *app) openEdit() (*engine.DB, error) {
	return a.open(engine.Options{MustExist: true})
}

func (a *app) open(o engine.Options) (*engine.DB, error) {
	o.Logger = a.log
	known := nobody{dim: 768}
	for {
		o.Embedder = known
		db, err := engine.Open(a.db, o)
		var m *engine.MismatchError
		if err == nil || !errors.As(err, &m) {
			return db, about(a.db, a.explainOpen(err))
		}
		dim, perr := strconv.Atoi(m.Have)
		if perr != nil || dim == known.dim {
			return nil, about(a.db, err)
		}
		known.dim = dim
	}
}

// nobody stands for whichever embedder a store was made with.
type nobody struct{ dim int }

func (n nobody) Info() llm.EmbedderInfo { return llm.EmbedderInfo{Dim: n.dim} }

func (nobody) Embed(context.Context, []string, llm.Purpose) ([][]float32, error) {
	return nil, errors.New("this command embeds nothing")
}

// store is an open store and the models it works with.
type store struct {
	*engine.DB
	models *models
}

// openModels opens the store with the configured models. o says whether it may
// be created and changed.
func (a *app) openModels(ctx context.Context, o engine.Options) (*store, error) {
	m, err := a.models(ctx)
	if err != nil {
		return nil, err
	}
	if o.Prompts, err = a.loadPrompts(); err != nil {
		m.close()
		return nil, err
	}
	o.Completer, o.Embedder, o.Logger, o.Concurrency = m.completer, m.embedder, a.log, a.concurrency
	db, err := engine.Open(a.db, o)
	if err != nil {
		m.close()
		return nil, about(a.db, a.explainOpen(a.explainMismatch(err, m.embedder.Info())))
	}
	return &store{DB: db, models: m}, nil
}

func (s *store) Close() error {
	err := s.DB.Close()
	s.models.close()
	return err
}

// explainOpen says in plain words why there is no store to work with.
func (a *app) explainOpen(err error) error {
	switch {
	case errors.Is(err, engine.ErrNotFound):
		return &plainError{err, fmt.Sprintf("no store in %s: `lightctl index` makes one; --db or LIGHTRAG_DB names another", a.db)}
	case errors.Is(err, engine.ErrLocked):
		return &plainError{err, fmt.Sprintf("the store %s is in use: only one process can open it at a time; wait for the other one or end it", a.db)}
	case errors.Is(err, engine.ErrInvalid):
		return &plainError{err, fmt.Sprintf("%s cannot be used as a store: %s", a.db, strings.TrimSuffix(innermost(err), ": "+engine.ErrInvalid.Error()))}
	}
	return err
}

// explainMismatch says what to pass to a store that was made with other
// settings than those given.
func (a *app) explainMismatch(err error, given llm.EmbedderInfo) error {
	var m *engine.MismatchError
	if !errors.As(err, &m) {
		return err
	}
	db, oerr := a.openView()
	if oerr != nil {
		return err
	}
	id := db.Identity()
	if cerr := db.Close(); cerr != nil {
		return err
	}
	if id.Embedder == given.Name && id.Dim == given.Dim && id.Checksum == given.Checksum {
		return &plainError{err, fmt.Sprintf("the store %s was created with the tokenizer %s, which is fixed: leave out --tokenizer or pass --tokenizer %s",
			a.db, id.Tokenizer, id.Tokenizer)}
	}
	if strings.HasPrefix(id.Embedder, "offline-") && strings.HasPrefix(given.Name, "offline-") {
		return &plainError{err, fmt.Sprintf("the store %s was created with another version of the offline embedder (%s, checksum %s; this is %s, checksum %s): make its vectors anew with `lightctl rebuild-index --re-embed`",
			a.db, id.Embedder, id.Checksum, given.Name, given.Checksum)}
	}
	hint := fmt.Sprintf("pass --embed-url URL --embed-model %s --embed-dim %d", id.Embedder, id.Dim)
	if strings.HasPrefix(id.Embedder, "offline-") {
		hint = "leave out --embed-url and --embed-model"
	}
	return &plainError{err, fmt.Sprintf("the store %s was created with the embedder %s of dimension %d, not %s of dimension %d; %s, or change the store with `lightctl rebuild-index --re-embed` and the flags of the new one",
		a.db, id.Embedder, id.Dim, given.Name, given.Dim, hint)}
}
