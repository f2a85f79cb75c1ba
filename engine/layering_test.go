package engine_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/lightctl/lightrag/"

// allowed lists what of the module each layer may import, itself included.
// graphstore alone may import Pebble.
var allowed = map[string][]string{
	"format":       {"format"},
	"llm":          {"llm"},
	"hnsw":         {"hnsw"},
	"graphstore":   {"format", "graphstore"},
	"engine":       {"engine", "format", "graphstore", "hnsw", "llm"},
	"bench":        {"bench", "engine", "format", "graphstore", "hnsw", "llm"},
	"fuzz":         {"bench", "engine", "format", "fuzz", "graphstore", "hnsw", "llm"},
	"cmd/lightctl": {"cmd/lightctl", "engine", "llm"},
}

func layer(pkg string) string {
	rel := strings.TrimPrefix(pkg, module)
	if strings.HasPrefix(rel, "cmd/") {
		return "cmd/lightctl"
	}
	first, _, _ := strings.Cut(rel, "/")
	return first
}

func TestLayersImportOnlyDownwards(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"...").CombinedOutput()
	if err != nil {
		t.Skipf("go list: %v %s", err, out)
	}
	packages := 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		packages++
		from := layer(fields[0])
		may, known := allowed[from]
		if !known {
			t.Errorf("%s is in no layer", fields[0])
		}
		for _, imp := range fields[1:] {
			if strings.HasPrefix(imp, module) && !slices.Contains(may, layer(imp)) {
				t.Errorf("%s must not import %s", fields[0], imp)
			}
			if strings.HasPrefix(imp, "github.com/cockroachdb/pebble") && from != "graphstore" {
				t.Errorf("%s must not import Pebble", fields[0])
			}
			if from == "format" && strings.Contains(imp, ".") && !strings.HasPrefix(imp, module) &&
				!strings.HasPrefix(imp, "github.com/klauspost/compress") && !strings.HasPrefix(imp, "github.com/RoaringBitmap/roaring") {
				t.Errorf("%s must not import %s", fields[0], imp)
			}
		}
	}
	if packages < len(allowed) {
		t.Errorf("only %d packages were checked", packages)
	}
}
