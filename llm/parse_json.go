package llm

import "strings"

// looksLikeJSON reports whether an answer is in the JSON format: an object with
// the wanted lists, not rows that happen to hold braces.
func looksLikeJSON(s string) bool {
	object, ok := findObject(s)
	if !ok || !strings.Contains(object, `"entities"`) && !strings.Contains(object, `"relation`) {
		return false
	}
	before := s[:len(s)-len(object)]
	if strings.Contains(before, delimiter) || strings.Contains(before, oldDelimiter) {
		return false
	}
	object = strings.TrimLeft(object[1:], " \t\r\n")
	return object == "" || object[0] == '"' || object[0] == '}'
}

// parseJSON reads {"entities":[{name,type,description}],
// "relationships":[{source,target,keywords,description}]}.
func (p *parser) parseJSON(s string) {
	p.out.Format = FormatJSON
	text, _ := findObject(s)
	object, closed, ok := readObject(text)
	p.out.Complete = ok && closed
	if !ok {
		p.out.Malformed++
	}
	for _, e := range list(object, "entities") {
		m, _ := e.(map[string]any)
		name := str(m, "name", "entity_name", "entity")
		kind := str(m, "type", "entity_type")
		description := str(m, "description", "entity_description")
		if m == nil {
			p.jsonDrop("entity: not an object")
			continue
		}
		p.entity(name, kind, description)
	}
	relations := list(object, "relationships")
	if relations == nil {
		relations = list(object, "relations")
	}
	for _, e := range relations {
		m, _ := e.(map[string]any)
		if m == nil {
			p.jsonDrop("relation: not an object")
			continue
		}
		p.relation(str(m, "source", "source_entity", "src"), str(m, "target", "target_entity", "tgt"),
			str(m, "keywords", "relationship_keywords"), str(m, "description", "relationship_description"), WeightOne)
	}
	p.out.Keywords = appendKeywords(p.out.Keywords, str(object, "content_keywords"))
}

func (p *parser) jsonDrop(reason string) {
	if _, ok := p.next(); ok {
		p.drop(reason, true)
	}
}

func list(m map[string]any, key string) []any {
	l, _ := m[key].([]any)
	return l
}

// str returns the first of the keys that holds text. A list of texts is joined
// by commas.
func str(m map[string]any, keys ...string) string {
	for _, k := range keys {
		switch v := m[k].(type) {
		case string:
			return v
		case []any:
			var parts []string
			for _, e := range v {
				if s, ok := e.(string); ok {
					parts = append(parts, s)
				}
			}
			return strings.Join(parts, ",")
		}
	}
	return ""
}
