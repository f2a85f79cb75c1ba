package engine

import (
	"slices"
	"strings"
)

// Models names what a store was made with.
type Models struct {
	// Extraction lists the models that extracted entities and relations over
	// the life of the store, sorted. Empty if none did, as in an imported graph.
	Extraction []string `json:"extraction"`
	Embedder   string   `json:"embedder"`
	// Answer is the model that answers now.
	Answer string `json:"answer"`
}

// Offline reports whether any of the models is of the offline pair, which is
// weaker than a language model and should be seen as such.
func (m Models) Offline() bool {
	return offlineName(m.Embedder) || offlineName(m.Answer) || slices.ContainsFunc(m.Extraction, offlineName)
}

// offlineName tells the names of the offline pair: no other model's begins so.
func offlineName(model string) bool { return strings.HasPrefix(model, "offline-") }

// String says who made what. A model of the offline pair that stands for a
// language model is called rules.
func (m Models) String() string {
	var parts []string
	if len(m.Extraction) > 0 {
		names := make([]string, len(m.Extraction))
		for i, name := range m.Extraction {
			names[i] = maker(name)
		}
		parts = append(parts, "graph by "+strings.Join(names, " and "))
	}
	if m.Embedder != "" {
		parts = append(parts, "vectors by "+m.Embedder)
	}
	if m.Answer != "" {
		parts = append(parts, "answers by "+maker(m.Answer))
	}
	return strings.Join(parts, ", ")
}

func maker(model string) string {
	if offlineName(model) {
		return "rules (" + model + ")"
	}
	return model
}

// Models returns the models that the store was made with and the one that
// answers.
func (db *DB) Models() Models {
	return Models{Extraction: db.ledger.extractors(), Embedder: db.store.Identity().Embedder, Answer: db.opts.Completer.Model()}
}

// Models returns the models that the graph was made with; Answer is empty.
func (v *View) Models() Models { return v.models }
