package graphstore

import (
	"bytes"
	"slices"

	"github.com/lightctl/lightrag/format"
)

// summaryRows reads the stored summaries of c's owner, if it can have any.
func (d *deriver) summaryRows(c *change) (map[summaryKey]*format.Summary, error) {
	if c.fresh || c.agg.Distinct < groupMin {
		return nil, nil
	}
	if !c.force && len(c.add)+len(c.drop)+len(c.summaries) == 0 || len(c.drop) == 0 && d.unchanged(c) {
		return nil, nil
	}
	var out map[summaryKey]*format.Summary
	err := d.rows.scan(format.AppendSummaryPrefix(nil, c.kind, c.owner), func(key, value []byte) (bool, error) {
		_, _, level, first, err := format.DecodeSummaryKey(key)
		if err != nil {
			return false, err
		}
		s := new(format.Summary)
		if err := format.DecodeSummary(value, s); err != nil {
			return false, err
		}
		if out == nil {
			out = make(map[summaryKey]*format.Summary)
		}
		out[summaryKey{level, first}] = s
		return true, nil
	})
	return out, err
}

// dropSummaries notes the stored summaries that are no longer part of the
// tree: one that lost a description must not be kept, let alone served.
func (n *derived) dropSummaries(c *change, old map[summaryKey]*format.Summary, wanted map[summaryKey][32]byte) {
	for key, s := range old {
		if input, ok := wanted[key]; !ok || input != s.Input {
			n.oldSummary = append(n.oldSummary, format.AppendSummaryKey(nil, c.kind, c.owner, key.level, key.first))
		}
	}
	slices.SortFunc(n.oldSummary, bytes.Compare)
}

// countDescriptions updates the count of distinct descriptions by looking at
// the other uses of those that come or go.
func (d *deriver) countDescriptions(c *change, agg *format.Aggregate) error {
	type use struct {
		hash    [16]byte
		text    string
		dropped bool
		added   bool
	}
	var uses []use
	at := make(map[string]int, len(c.drop)+len(c.add))
	note := func(text string, dropped bool) {
		if text == "" {
			return
		}
		i, ok := at[text]
		if !ok {
			i = len(uses)
			at[text] = i
			uses = append(uses, use{hash: descriptionHash(text), text: text})
		}
		uses[i].dropped = uses[i].dropped || dropped
		uses[i].added = uses[i].added || !dropped
	}
	for i := range c.drop {
		note(c.drop[i].Description, true)
	}
	for i := range c.add {
		note(c.add[i].Description, false)
	}
	if len(uses) > 1 && !c.fresh {
		slices.SortFunc(uses, func(a, b use) int { return bytes.Compare(a.hash[:], b.hash[:]) })
	}
	for _, u := range uses {
		stays := false
		if !c.fresh {
			err := d.rows.scan(format.AppendDescriptionPrefix(nil, c.kind, c.owner, u.hash), func(key, _ []byte) (bool, error) {
				_, _, _, at, err := format.DecodeDescriptionKey(key)
				stays = d.stays(at.Doc)
				return !stays, err
			})
			if err != nil {
				return err
			}
		}
		before, after := u.dropped || stays, u.added || stays
		switch {
		case !before && after:
			agg.Distinct++
			agg.Tokens += uint64(d.measure.Tokens(u.text))
		case before && !after:
			tokens := uint64(d.measure.Tokens(u.text))
			if agg.Distinct == 0 || agg.Tokens < tokens {
				return corruptf("aggregate of %s %d counts fewer descriptions than there are", c.kind, c.owner)
			}
			agg.Distinct--
			agg.Tokens -= tokens
		}
	}
	return nil
}
