package graphstore

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/lightctl/lightrag/format"
)

// summaryRows reads the stored summaries of c's owner, if it can have any.
func (d *deriver) summaryRows(c *change) (map[summaryKey]*storedSummary, error) {
	if c.regroup {
		return d.inherited(c)
	}
	if c.fresh || c.agg.Distinct < groupMin || !c.force && !d.policy.mayHave(&c.agg) {
		return nil, nil
	}
	if !c.force && len(c.add)+len(c.drop)+len(c.summaries) == 0 || len(c.drop) == 0 && d.unchanged(c) {
		return nil, nil
	}
	return d.summariesOf(c.kind, c.owner, nil)
}

// storedSummary is a summary and the root that has it.
type storedSummary struct {
	format.Summary
	from uint32
}

// inherited reads the summaries of c's root and of the roots that it is made
// of: they were paid for, and where their input is the same they still fit.
func (d *deriver) inherited(c *change) (out map[summaryKey]*storedSummary, err error) {
	for _, root := range c.inherit {
		if root == c.owner && !c.fresh {
			continue
		}
		if out, err = d.summariesOf(c.kind, root, out); err != nil {
			return nil, err
		}
	}
	if c.fresh {
		return out, nil
	}
	return d.summariesOf(c.kind, c.owner, out) // its own win
}

// summariesOf adds the stored summaries of a root to out.
func (d *deriver) summariesOf(kind Kind, root uint32, out map[summaryKey]*storedSummary) (map[summaryKey]*storedSummary, error) {
	err := d.rows.scan(format.AppendSummaryPrefix(nil, kind, root), func(key, value []byte) (bool, error) {
		_, _, level, first, err := format.DecodeSummaryKey(key)
		if err != nil {
			return false, err
		}
		s := &storedSummary{from: root}
		if err := format.DecodeSummary(value, &s.Summary); err != nil {
			return false, err
		}
		if out == nil {
			out = make(map[summaryKey]*storedSummary)
		}
		out[summaryKey{level, first}] = s
		return true, nil
	})
	return out, err
}

// dropSummaries notes the stored summaries that are no longer part of the
// tree: one that lost a description must not be kept, let alone served. One
// that stays is written anew where its last description is now said elsewhere:
// no row may name a fragment that is gone.
func (n *derived) dropSummaries(c *change, old map[summaryKey]*storedSummary, wanted map[summaryKey]covered) {
	for i := range n.newSummary {
		job := &n.newSummary[i].Job
		key := summaryKey{job.Level, job.First}
		job.Last = wanted[key].last
		delete(old, key)
	}
	for key, s := range old {
		if s.from != c.owner {
			continue
		}
		w, ok := wanted[key]
		switch {
		case !ok || w.input != s.Input:
			n.oldSummary = append(n.oldSummary, format.AppendSummaryKey(nil, c.kind, c.owner, key.level, key.first))
		case w.last != s.Last:
			n.newSummary = append(n.newSummary, DoneSummary{
				Job:  SummaryJob{Level: key.level, First: key.first, Last: w.last, Input: s.Input},
				Text: s.Text, Model: s.Model,
			})
		}
	}
	slices.SortFunc(n.oldSummary, bytes.Compare)
	slices.SortFunc(n.newSummary, func(a, b DoneSummary) int {
		return cmp.Or(cmp.Compare(a.Job.Level, b.Job.Level), a.Job.First.Compare(b.Job.First))
	})
}

// sum brings the aggregate up to date.
func (d *deriver) sum(c *change, agg *format.Aggregate) error {
	if c.regroup {
		*agg = format.Aggregate{LastSeq: agg.LastSeq}
		seen := make(map[string]struct{})
		return d.walk(c, func(a *addition) bool {
			addFragment(agg, &a.Fragment)
			if _, twice := seen[a.Description]; !twice && a.Description != "" {
				seen[a.Description] = struct{}{}
				agg.Distinct++
				agg.Tokens += uint64(d.measure.Tokens(a.Description))
			}
			return true
		})
	}
	for i := range c.drop {
		if err := dropFragment(agg, &c.drop[i].Fragment); err != nil {
			return err
		}
	}
	for i := range c.add {
		addFragment(agg, &c.add[i].Fragment)
	}
	return d.countDescriptions(c, agg)
}

// emptied finds the raw owners of c, but for the root, that lose their last
// fragment.
func (d *deriver) emptied(c *change) error {
	c.empty = c.empty[:0]
	if len(c.drop) == 0 || d.n.Members == 0 {
		return nil
	}
	done := make(map[uint32]struct{})
	for _, w := range c.raws {
		done[w.id] = struct{}{}
	}
	if !c.hidden {
		done[c.owner] = struct{}{}
	}
	for i := range c.drop {
		id := c.drop[i].raw
		if _, ok := done[id]; ok {
			continue
		}
		done[id] = struct{}{}
		has, err := d.rows.hasFragments(c.kind, id, func(key FragmentKey) bool { return d.stays(c.kind, id, key) })
		if err != nil {
			return err
		}
		if has {
			continue
		}
		e := emptied{raw: id}
		var ok bool
		if e.member, ok, err = d.rows.member(c.kind, id); err != nil {
			return err
		}
		if !ok {
			return corruptf("%s %d has fragments, but no root", c.kind, id)
		}
		if c.kind == format.KindEntity {
			if e.name, err = d.rows.entityName(EntityID(id)); err != nil {
				return err
			}
		}
		c.empty = append(c.empty, e)
	}
	return nil
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
			uses = append(uses, use{text: text})
			if len(c.stored) > 0 { // or there is nothing to look it up in
				uses[i].hash = descriptionHash(text)
			}
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
	if len(uses) > 1 && len(c.stored) > 0 {
		slices.SortFunc(uses, func(a, b use) int { return bytes.Compare(a.hash[:], b.hash[:]) })
	}
	for _, u := range uses {
		stays := false
		for _, raw := range c.stored {
			err := d.rows.scan(format.AppendDescriptionPrefix(nil, c.kind, raw, u.hash), func(key, _ []byte) (bool, error) {
				_, _, _, at, err := format.DecodeDescriptionKey(key)
				stays = err == nil && d.stays(c.kind, raw, at)
				return !stays, err
			})
			if err != nil {
				return err
			}
			if stays {
				break
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
