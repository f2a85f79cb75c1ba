package engine

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// hostileGraph has names and descriptions that every format has to cope with,
// and an entity without relations.
func hostileGraph(t *testing.T) (*View, *DB) {
	t.Helper()
	db := opened(t, "store", testOptions(&fakeModel{}))
	inserted(t, db,
		doc("a", `@e|=cmd()|person|"Quoted", with, commas and <b>tags</b> & amps.`,
			"@e|</script><img src=x onerror=alert(1)>|concept|]]> and \u2028 and ``` and # heading.",
			"@e|Lonely|place|No relations at all.",
			"@r|=cmd()|</script><img src=x onerror=alert(1)>|first, second|They met."),
		doc("b", "@e|=cmd()|person|Said again elsewhere.", "@e|Ünïcode 한국어|place|- not a list",
			"@r|=cmd()|Ünïcode 한국어|first|Another one."),
	)
	v := db.View()
	t.Cleanup(v.Close)
	return v, db
}

func written(t *testing.T, export func(io.Writer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := export(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

type graphMLDoc struct {
	Keys []struct {
		ID   string `xml:"id,attr"`
		For  string `xml:"for,attr"`
		Name string `xml:"attr.name,attr"`
		Type string `xml:"attr.type,attr"`
	} `xml:"key"`
	Graph struct {
		Nodes []graphMLItem `xml:"node"`
		Edges []graphMLItem `xml:"edge"`
	} `xml:"graph"`
}

type graphMLItem struct {
	ID     string `xml:"id,attr"`
	Source string `xml:"source,attr"`
	Target string `xml:"target,attr"`
	Data   []struct {
		Key  string `xml:"key,attr"`
		Text string `xml:",chardata"`
	} `xml:"data"`
}

func TestGraphMLHoldsTheGraph(t *testing.T) {
	v, _ := hostileGraph(t)
	var g graphMLDoc
	if err := xml.Unmarshal(written(t, v.ExportGraphML), &g); err != nil {
		t.Fatal(err)
	}
	names := make(map[string]string)
	for _, k := range g.Keys {
		names[k.ID] = k.For + "." + k.Name + ":" + k.Type
	}
	fields := func(i graphMLItem) map[string]string {
		m := make(map[string]string)
		for _, d := range i.Data {
			m[names[d.Key]] = d.Text
		}
		return m
	}
	n := 0
	if err := v.Entities(func(e *Entity) error {
		node := g.Graph.Nodes[n]
		f := fields(node)
		if node.ID != e.Name || f["node.entity_id:string"] != e.Name || f["node.entity_type:string"] != e.Type ||
			f["node.description:string"] != e.Description || f["node.source_id:string"] != strings.Join(e.Sources, "<SEP>") {
			t.Errorf("node %d is %+v, the entity %+v", n, f, e)
		}
		n++
		return nil
	}); err != nil || n != len(g.Graph.Nodes) || n != 4 {
		t.Fatalf("%d entities, %d nodes: %v", n, len(g.Graph.Nodes), err)
	}
	if f := fields(g.Graph.Nodes[slices.IndexFunc(g.Graph.Nodes, func(n graphMLItem) bool { return n.ID == "=cmd()" })]); f["node.file_path:string"] != "a.md<SEP>b.md" {
		t.Errorf("paths %q", f["node.file_path:string"])
	}
	n = 0
	if err := v.Relations(func(e *Relation) error {
		edge := g.Graph.Edges[n]
		f := fields(edge)
		if edge.Source != e.Src || edge.Target != e.Tgt || f["edge.weight:double"] != decimal(e.Weight) ||
			f["edge.keywords:string"] != strings.Join(e.Keywords, ",") || f["edge.description:string"] != e.Description {
			t.Errorf("edge %d is %+v, the relation %+v", n, f, e)
		}
		n++
		return nil
	}); err != nil || n != 2 || len(g.Graph.Edges) != 2 {
		t.Fatalf("%d relations, %d edges: %v", n, len(g.Graph.Edges), err)
	}
}

func TestXMLSafe(t *testing.T) {
	for in, want := range map[string]string{
		"a\x0cb\x00":    "a\u240cb\u2400",
		"tab\tnl\ncr\r": "tab\tnl\ncr\r",
		"\ufffe\uffff":  "\ufffd\ufffd",
		"\xff":          "\ufffd",
		"😀 \u0085":      "😀 \u0085",
	} {
		if got := xmlSafe(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
	// Two names that become equal stay two nodes.
	v, _ := hostileGraph(t)
	x := &graphML{view: v, ids: make(map[string]string), taken: make(map[string]bool)}
	got := []string{x.id("Lonely\x01"), x.id("Lonely\u2401"), x.id("\x02"), x.id("\x02")}
	if got[0] != "Lonely\u2401" || got[1] != "Lonely\u2401" || got[2] != got[3] {
		t.Errorf("ids %q", got)
	}
	x.taken["A\u2401"] = true
	if id := x.id("A\x01"); id != "A\u2401 (2)" {
		t.Errorf("a taken id was given again: %q", id)
	}
}

// TestGraphMLInNetworkX reads the export with networkx, where that is
// installed.
func TestGraphMLInNetworkX(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 to read the export with")
	}
	if err := exec.Command(python, "-c", "import networkx").Run(); err != nil {
		t.Skip("python3 has no networkx to read the export with")
	}
	v, _ := hostileGraph(t)
	path := filepath.Join(t.TempDir(), "graph.graphml")
	if err := os.WriteFile(path, written(t, v.ExportGraphML), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(python, "-c", `
import networkx, sys
g = networkx.read_graphml(sys.argv[1])
assert not g.is_directed() and not g.is_multigraph(), g
for n, d in sorted(g.nodes(data=True)):
    assert d["entity_id"] == n
    print("node", ascii(n), d["entity_type"], ascii(d["description"]), d["source_id"], d["file_path"])
for a, b, d in sorted(g.edges(data=True)):
    assert isinstance(d["weight"], float)
    print("edge", d["weight"], d["keywords"], d["description"])
`, path).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := `node '</script><img src=x onerror=alert(1)>' concept ']]> and \u2028 and ` + "```" + ` and # heading.' a#0 a.md
node '=cmd()' person '"Quoted", with, commas and <b>tags</b> & amps.<SEP>Said again elsewhere.' a#0<SEP>b#0 a.md<SEP>b.md
node 'Lonely' place 'No relations at all.' a#0 a.md
node '\xdcn\xefcode \ud55c\uad6d\uc5b4' place '- not a list' b#0 b.md
edge 1.0 first,second They met.
edge 1.0 first Another one.
`
	if string(out) != want {
		t.Errorf("networkx read\n%s\nwant\n%s", out, want)
	}
}

func TestCSVIsReadBack(t *testing.T) {
	v, _ := hostileGraph(t)
	read := func(part CSVPart) [][]string {
		b := written(t, func(w io.Writer) error { return v.ExportCSV(w, part) })
		if bytes.Count(b, []byte("\n")) != bytes.Count(b, []byte("\r\n")) {
			t.Error("lines do not end in CR LF")
		}
		rows, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	entities, relations, all := read(CSVEntities), read(CSVRelations), read(CSVAll)
	if len(entities) != 5 || len(relations) != 3 || len(all) != 7 {
		t.Fatalf("%d, %d and %d rows", len(entities), len(relations), len(all))
	}
	want := []string{"'=cmd()", "person", `"Quoted", with, commas and <b>tags</b> & amps.<SEP>Said again elsewhere.`, "2", "a#0<SEP>b#0", "a.md<SEP>b.md"}
	if !slices.Equal(entities[2], want) {
		t.Errorf("entity %q, want %q", entities[2], want)
	}
	if r := relations[1]; r[0] != "</script><img src=x onerror=alert(1)>" || r[1] != "'=cmd()" || r[2] != "1" || r[3] != "first<SEP>second" {
		t.Errorf("relation %q", r)
	}
	if all[1][0] != "entity" || all[6][0] != "relation" || all[6][3] != "'=cmd()" || all[4][7] != "'- not a list" {
		t.Errorf("rows %q", all)
	}
	for _, s := range []string{"=1", "+1", "-1", "@a", "\tx", "\rx", "\nx", "'x", "＝1"} {
		if csvCell(s) != "'"+s {
			t.Errorf("%q is written as %q", s, csvCell(s))
		}
	}
	if csvCell("a\x00=") != "a=" || csvCell("") != "" {
		t.Error("a cell changed that needs no protection")
	}
}

func TestMarkdownReadsWell(t *testing.T) {
	v, _ := hostileGraph(t)
	got := string(written(t, v.ExportMarkdown))
	want := "# Knowledge graph\n\n4 entities and 2 relations from 2 documents. Entities with the most relations come first.\n" + `
## <a id="e1"></a>\=cmd()

*person, 2 relations*

"Quoted", with, commas and &lt;b>tags&lt;/b> &amp; amps.

Said again elsewhere.

- [&lt;/script>&lt;img src=x onerror=alert(1)>](#e2): They met. (weight 1; first, second)
- [Ünïcode 한국어](#e3): Another one. (weight 1; first)

Sources: a#0, b#0

## <a id="e2"></a>&lt;/script>&lt;img src=x onerror=alert(1)>

*concept, 1 relation*

\]\]> and and ` + "\\`\\`\\`" + ` and # heading.

- [\=cmd()](#e1): They met. (weight 1; first, second)

Sources: a#0

## <a id="e3"></a>Ünïcode 한국어

*place, 1 relation*

\- not a list

- [\=cmd()](#e1): Another one. (weight 1; first)

Sources: b#0

## <a id="e4"></a>Lonely

*place, 0 relations*

No relations at all.

Sources: a#0
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
