package graphstore

import (
	"context"
	"encoding/json"

	"github.com/cockroachdb/pebble/v2"

	"github.com/lightctl/lightrag/format"
)

// derivation is the part of Options that derived values depend on. It is
// stored, so that a store whose options change derives everything anew instead
// of serving a mixture. The model that makes summaries is no part of it: what
// was paid for is not given up because somebody opens the store with another.
type derivation struct {
	MaxSources int
	Summary    SummaryPolicy
}

const rederiveBatch = 512 // owners per commit

// storedDerivation reads by which options the records were derived.
func (s *Store) storedDerivation() (d derivation, ok bool, err error) {
	ok, err = s.small(format.AppendMetaKey(nil, metaPolicy), func(b []byte) error {
		if err := json.Unmarshal(b, &d); err != nil {
			return corruptf("policy row: %v", err)
		}
		d.Summary.Model = ""
		return nil
	})
	return d, ok, err
}

// adoptDerivation takes the settings that are to be kept from the store: all
// of them if it is read-only, so that it shows what was derived as it was
// derived. It comes before anything is loaded.
func (s *Store) adoptDerivation() error {
	d, ok, err := s.storedDerivation()
	if err != nil || !ok {
		return err
	}
	o := &s.opts
	if o.ReadOnly {
		o.Keep = Kept{MaxSources: true, SummaryFragments: true, SummaryTokens: true}
	}
	if o.Keep.MaxSources {
		o.MaxSources = d.MaxSources
	}
	if o.Keep.SummaryFragments {
		o.Summary.Fragments = d.Summary.Fragments
	}
	if o.Keep.SummaryTokens {
		o.Summary.Tokens, o.Summary.Join = d.Summary.Tokens, d.Summary.Join
	}
	return nil
}

// rederive derives every owner anew if the options are not those by which the
// records were derived. It takes time in proportion to the store; a crash in
// the middle is made good by the next opening.
func (s *Store) rederive() error {
	want := derivation{s.opts.MaxSources, s.opts.Summary}
	want.Summary.Model = ""
	have, ok, err := s.storedDerivation()
	if err != nil || ok && have == want || s.opts.ReadOnly {
		return err
	}
	st := s.newest
	if ok {
		s.log.Info("options changed: deriving every owner anew", "entities", st.n.Entities, "relations", st.n.Relations)
	}
	var list []*change
	flush := func() error {
		p := &plan{renewed: list}
		if _, err := s.write(func(tx *txn) error {
			if err := p.build(context.Background(), s, tx.base, tx.rows, nil); err != nil {
				return err
			}
			_, err := tx.plan(p)
			return err
		}); err != nil {
			return err
		}
		list = nil
		return nil
	}
	add := func(kind Kind, owner uint32) error {
		c := (&deriver{cols: st.cols}).existing(kind, owner)
		c.force = true
		if list = append(list, c); len(list) < rederiveBatch {
			return nil
		}
		return flush()
	}
	for id := range st.cols.Entities() {
		if err := add(format.KindEntity, uint32(id)); err != nil {
			return err
		}
	}
	for id := range st.cols.Relations() {
		if err := add(format.KindRelation, uint32(id)); err != nil {
			return err
		}
	}
	if len(list) > 0 {
		if err := flush(); err != nil {
			return err
		}
	}
	row, err := json.Marshal(want)
	if err != nil {
		return err
	}
	return s.writeSmall(func(b *pebble.Batch) error {
		return b.Set(format.AppendMetaKey(nil, metaPolicy), row, nil)
	})
}
