package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/lightctl/lightrag/format"
	"github.com/lightctl/lightrag/graphstore"
	"github.com/lightctl/lightrag/llm"
)

func (im *kgImport) badf(format string, args ...any) {
	if len(im.bad) < maxKGProblems {
		im.bad = append(im.bad, fmt.Errorf(format, args...))
	} else {
		im.lost++
	}
}

// read checks the file and spills its rows.
func (im *kgImport) read(r io.Reader) error {
	s := newJSONStream(r)
	lists := map[string]func(at string, f kgFields) error{
		"chunks": im.chunk, "entities": im.entity, "relationships": im.relation,
	}
	files := make(map[string]int)
	err := s.object(func(key string) error {
		add := lists[key]
		if add == nil {
			return s.skip()
		}
		if c, err := s.peek(); err != nil || c != '[' {
			im.badf("%s: not a list", key)
			return errors.Join(err, s.skip())
		}
		var buf []byte
		return s.array(func(i int) (err error) {
			files[key]++
			at := fmt.Sprintf("%s[%d]", key, i)
			buf, err = s.raw(buf[:0], maxImportRow)
			if err != nil && !errors.Is(err, errTooLong) {
				return err
			}
			fields := kgFields{im: im, at: at}
			if err != nil || json.Unmarshal(buf, &fields.values) != nil || fields.values == nil {
				im.badf("%s: not an object of at most %d bytes", at, maxImportRow)
				return nil
			}
			return add(at, fields)
		})
	})
	if err == nil {
		err = s.end()
	}
	if err != nil {
		if cause := im.ctx.Err(); cause != nil {
			return cause
		}
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	for _, key := range []string{"chunks", "entities", "relationships"} {
		im.rep.Files = append(im.rep.Files, ImportFile{Name: key, Rows: files[key]})
	}
	if len(files) == 0 {
		im.badf("the file has none of the lists chunks, entities and relationships, or nothing in them")
	}
	if im.lost > 0 {
		im.bad = append(im.bad, fmt.Errorf("and %d problems more", im.lost))
	}
	if len(im.bad) > 0 {
		return fmt.Errorf("%w: %w", ErrInvalid, errors.Join(im.bad...))
	}
	return nil
}

// kgFields are the fields of one element.
type kgFields struct {
	im     *kgImport
	at     string
	values map[string]any
}

// text returns a field that is text, "" if there is none.
func (f kgFields) text(field string, needed bool) string {
	v, ok := f.values[field]
	t, isText := v.(string)
	switch {
	case (!ok || v == nil) && needed:
		f.im.badf("%s.%s: missing", f.at, field)
	case ok && v != nil && !isText:
		f.im.badf("%s.%s: not a text", f.at, field)
	case needed && strings.TrimSpace(t) == "":
		f.im.badf("%s.%s: blank", f.at, field)
	}
	return t
}

func (f kgFields) name(field string) string {
	raw := f.text(field, true)
	n := llm.NormalizeName(raw)
	if n == "" && strings.TrimSpace(raw) != "" {
		f.im.badf("%s.%s: %q is no name: nothing is left of it once it is normalised", f.at, field, excerpt(raw))
	}
	return n
}

func (f kgFields) path(field string) string {
	p := f.text(field, false)
	if err := checkName("path", p, true); err != nil {
		f.im.badf("%s.%s: %w", f.at, field, err)
		return ""
	}
	if p == "" || p == "custom_kg" {
		return ""
	}
	return cleanPath(p)
}

func (f kgFields) label() string {
	l := strings.TrimSpace(f.text("source_id", false))
	if err := checkName("source_id", f.im.name+"#"+l, false); err != nil {
		f.im.badf("%s.source_id: %w", f.at, err)
	}
	return l
}

func (im *kgImport) chunk(at string, f kgFields) error {
	text, _ := llm.SanitizeText(f.text("content", true))
	f.text("source_id", true)
	label := f.label()
	c := kgChunk{order: -1, path: f.path("file_path")}
	switch v := f.values["chunk_order_index"].(type) {
	case nil:
	case float64:
		if c.order = int64(v); float64(c.order) != v || v < 0 || v > math.MaxUint32 {
			im.badf("%s.chunk_order_index: %v is not in 0..4294967295", at, v)
		}
	default:
		im.badf("%s.chunk_order_index: not a number", at)
	}
	var err error
	if c.text, err = im.spill.put([]byte(text)); err != nil {
		return err
	}
	i, ok := im.at[label]
	if !ok {
		i = len(im.labels)
		im.at[label] = i
		im.labels = append(im.labels, kgLabel{name: label, path: c.path})
	}
	im.labels[i].chunks = append(im.labels[i].chunks, c)
	return nil
}

func (im *kgImport) entity(at string, f kgFields) error {
	row := kgRow{Name: f.name("entity_name"), Description: llm.NormalizeDescription(f.text("description", false))}
	if _, ok := f.values["description"]; !ok {
		row.Description = "No description provided"
	}
	if raw := f.text("entity_type", false); strings.TrimSpace(raw) != "" {
		t, ok := llm.NormalizeType(raw)
		if !ok {
			im.badf("%s.entity_type: %q is no type", at, excerpt(raw))
		}
		if t != graphstore.UnknownType { // no vote
			row.Type = t
		}
	}
	f.path("file_path")
	im.entities[row.Name] = len(im.rows)
	return im.put(f.label(), &row)
}

func (im *kgImport) relation(at string, f kgFields) error {
	src, tgt := f.name("src_id"), f.name("tgt_id")
	if src == tgt && src != "" {
		im.badf("%s.tgt_id: the relation connects %q with itself", at, src)
	}
	row := kgRow{
		Src: min(src, tgt), Tgt: max(src, tgt), Description: llm.NormalizeDescription(f.text("description", true)),
		Weight: format.WeightScale,
	}
	switch v := f.values["keywords"].(type) {
	case nil:
		im.badf("%s.keywords: missing", at)
	case string:
		row.Keywords = llm.SplitKeywords(v)
	case []any:
		var all []string
		for _, k := range v {
			t, ok := k.(string)
			if !ok {
				im.badf("%s.keywords: %v is not a text", at, k)
			}
			all = append(all, t)
		}
		row.Keywords = llm.SplitKeywords(strings.Join(all, ","))
	default:
		im.badf("%s.keywords: not a text", at)
	}
	switch v := f.values["weight"].(type) {
	case nil:
	case float64:
		if v < 0 || v > 1e9 {
			im.badf("%s.weight: %v is not in 0..1000000000", at, v)
		}
		row.Weight = int64(math.Round(v * format.WeightScale))
	default:
		im.badf("%s.weight: not a number", at)
	}
	f.path("file_path")
	im.relations[[2]string{row.Src, row.Tgt}] = len(im.rows)
	return im.put(f.label(), &row)
}

func (im *kgImport) put(label string, row *kgRow) error {
	at, err := im.spill.putJSON(row)
	im.rows = append(im.rows, kgSpan{label, at})
	return err
}
