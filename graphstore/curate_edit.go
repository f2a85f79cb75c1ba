package graphstore

import (
	"github.com/lightctl/lightrag/format"
)

// EditEntity lays values over those derived of an entity: they hold whatever
// documents come and go. A nil field is left as it is; the fields of Reset are
// derived again.
type EditEntity struct {
	Name              string
	Type, Description *string
	Reset             format.Fields
}

func (op EditEntity) curate(c *curator) error {
	root, id, err := c.mustEntity(op.Name)
	if err != nil {
		return err
	}
	c.change = format.Change{Kind: format.ChangeEdit, Of: format.KindEntity, Names: []string{root}}
	c.read(identityToken(root))
	c.info.Shown = []string{root}
	return c.edit(ownerText{format.KindEntity, root}, uint32(id), op.Reset, func(o *format.Override) {
		if op.Type != nil {
			setField(o, format.FieldType)
			o.Type = *op.Type
		}
		if op.Description != nil {
			setField(o, format.FieldDescription)
			o.Description = *op.Description
		}
	})
}

// setField says that a person has set a field.
func setField(o *format.Override, field format.Fields) {
	o.Mask, o.Copied = o.Mask|field, o.Copied&^field
}

// EditRelation is EditEntity for a relation, whose ends are in any order.
type EditRelation struct {
	Src, Tgt    string
	Description *string
	Keywords    *[]string
	Weight      *int64 // in 1/format.WeightScale
	Reset       format.Fields
}

func (op EditRelation) curate(c *curator) error {
	if op.Weight != nil && *op.Weight < 0 {
		return invalidf("weight %d", *op.Weight)
	}
	src, tgt, id, err := c.mustRelation(op.Src, op.Tgt)
	if err != nil {
		return err
	}
	c.change = format.Change{Kind: format.ChangeEdit, Of: format.KindRelation, Names: []string{format.PairName(src, tgt)}}
	for _, token := range [...]string{identityToken(src), identityToken(tgt), relationToken(src, tgt)} {
		c.read(token)
	}
	c.info.Shown = []string{src, tgt}
	return c.edit(ownerText{format.KindRelation, format.PairName(src, tgt)}, uint32(id), op.Reset, func(o *format.Override) {
		if op.Description != nil {
			setField(o, format.FieldDescription)
			o.Description = *op.Description
		}
		if op.Keywords != nil {
			setField(o, format.FieldKeywords)
			o.Keywords = keywords(*op.Keywords)
		}
		if op.Weight != nil {
			setField(o, format.FieldWeight)
			o.Weight = *op.Weight
		}
	})
}

// edit changes the override of a root that exists.
func (c *curator) edit(owner ownerText, id uint32, reset format.Fields, set func(o *format.Override)) error {
	o, err := c.d.overrideOf(owner)
	if err != nil {
		return err
	}
	clearFields(&o, reset)
	set(&o)
	if err := c.setOverride(owner, o); err != nil || c.nothing() {
		return err
	}
	c.existing(owner.kind, id)
	return nil
}

// clearFields takes fields out of an override.
func clearFields(o *format.Override, fields format.Fields) {
	o.Copied &^= fields
	if o.Mask &^= fields; o.Mask&format.FieldType == 0 {
		o.Type = ""
	}
	if o.Mask&format.FieldDescription == 0 {
		o.Description = ""
	}
	if o.Mask&format.FieldKeywords == 0 {
		o.Keywords = nil
	}
	if o.Mask&format.FieldWeight == 0 {
		o.Weight = 0
	}
}
