package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"html"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

func htmlOf(t testing.TB, v *View, o HTMLOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := v.ExportHTML(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// pageContent is the data that a page holds.
type pageContent struct {
	Graph pageHead   `json:"graph"`
	Nodes []pageNode `json:"nodes"`
	Edges []pageEdge `json:"edges"`
}

func contentOf(t testing.TB, page []byte) (c pageContent) {
	t.Helper()
	_, rest, ok := bytes.Cut(page, []byte(`<script type="application/json" id="data">`))
	data, _, ended := bytes.Cut(rest, []byte("</script>"))
	if !ok || !ended {
		t.Fatal("the page has no data")
	}
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestHTMLHoldsTheGraph(t *testing.T) {
	v, _ := hostileGraph(t)
	page := htmlOf(t, v, HTMLOptions{Title: `</title><script>alert(1)</script>`})
	if n := bytes.Count(bytes.ToLower(page), []byte("<script")); n != 2 {
		t.Errorf("%d script elements", n)
	}
	if n := bytes.Count(bytes.ToLower(page), []byte("</script")); n != 2 {
		t.Errorf("%d ends of script elements", n)
	}
	for _, bad := range []string{"\u2028", "<img", "alert(1)</script>", "http://", "https://", "//cdn"} {
		if bytes.Contains(page, []byte(bad)) {
			t.Errorf("the page holds %q", bad)
		}
	}
	c := contentOf(t, page)
	if c.Graph.Title != `</title><script>alert(1)</script>` || c.Graph.Entities != 4 || c.Graph.Relations != 2 {
		t.Errorf("%+v", c.Graph)
	}
	if len(c.Nodes) != 4 || len(c.Edges) != 2 {
		t.Fatalf("%d nodes, %d edges", len(c.Nodes), len(c.Edges))
	}
	hub := c.Nodes[0]
	if hub.Name != "=cmd()" || hub.Degree != 2 || c.Graph.Types[hub.Type] != "person" || len(hub.Sources) != 2 ||
		hub.Description != `"Quoted", with, commas and <b>tags</b> & amps.<SEP>Said again elsewhere.` {
		t.Errorf("%+v", hub)
	}
	if e := c.Edges[0]; c.Nodes[e.A].Name != "=cmd()" || c.Nodes[e.B].Name != "</script><img src=x onerror=alert(1)>" ||
		e.Description != "They met." || strings.Join(e.Keywords, "|") != "first|second" {
		t.Errorf("%+v", e)
	}
	places := make(map[[2]int]bool)
	for _, n := range c.Nodes {
		places[[2]int{n.X, n.Y}] = true
	}
	if len(places) != 4 {
		t.Errorf("nodes lie on one another: %v", places)
	}
	if again := htmlOf(t, v, HTMLOptions{Title: `</title><script>alert(1)</script>`}); !bytes.Equal(page, again) {
		t.Error("two exports of one graph differ")
	}
}

func TestHTMLHoldsTheBestConnected(t *testing.T) {
	v, _ := hostileGraph(t)
	c := contentOf(t, htmlOf(t, v, HTMLOptions{MaxEntities: 2}))
	if len(c.Nodes) != 2 || c.Nodes[0].Name != "=cmd()" || len(c.Edges) != 1 || c.Graph.Entities != 4 || c.Nodes[0].Degree != 2 {
		t.Errorf("%+v", c)
	}
	empty := opened(t, "empty", testOptions(&fakeModel{})).View()
	defer empty.Close()
	if c := contentOf(t, htmlOf(t, empty, HTMLOptions{})); len(c.Nodes)+len(c.Edges) != 0 || c.Graph.Title != "Knowledge graph" {
		t.Errorf("%+v", c)
	}
}

// TestLayoutSeparatesClusters lays out two cliques that one edge joins.
func TestLayoutSeparatesClusters(t *testing.T) {
	const n = 12
	var edges [][2]int32
	for i := range int32(n) {
		for j := range i {
			edges = append(edges, [2]int32{i, j}, [2]int32{n + i, n + j})
		}
	}
	edges = append(edges, [2]int32{0, n})
	l := newLayout(2*n, edges)
	l.run(layoutRounds(2 * n))
	distance := func(a, b int) float64 { return math.Hypot(l.x[a]-l.x[b], l.y[a]-l.y[b]) }
	within, between := 0.0, math.Inf(1)
	for a := range 2 * n {
		for b := range a {
			d := distance(a, b)
			if math.IsNaN(d) || d == 0 {
				t.Fatalf("nodes %d and %d are %v apart", a, b, d)
			}
			if a/n == b/n {
				within = max(within, d)
			} else if a != n || b != 0 {
				between = min(between, d)
			}
		}
	}
	if within >= between {
		t.Errorf("a cluster is %v wide, the other begins at %v", within, between)
	}
}

// TestQuadtreeSumsAllBodies compares the tree, made to open every cell, with
// the sum over all pairs, also where bodies lie on one another.
func TestQuadtreeSumsAllBodies(t *testing.T) {
	x := []float64{0, 0, 0, 1, 5, 5.0000001, -3}
	y := []float64{0, 0, 2, 1, 5, 5, 7}
	m := []float64{1, 2, 3, 4, 5, 6, 7}
	var q quadtree
	q.build(x, y, m)
	if got := q.cells[0].mass; got != 28 {
		t.Errorf("the root weighs %v", got)
	}
	for i := range x {
		fx, fy := q.repulsion(x[i], y[i], m[i])
		var wx, wy float64
		for j := range x {
			dx, dy := x[i]-x[j], y[i]-y[j]
			if d2 := dx*dx + dy*dy; d2 > 0 {
				wx += dx * layoutRepulsion * m[i] * m[j] / d2
				wy += dy * layoutRepulsion * m[i] * m[j] / d2
			}
		}
		if math.Abs(fx-wx)+math.Abs(fy-wy) > 0.25*(math.Abs(wx)+math.Abs(wy)) {
			t.Errorf("body %d: force (%v, %v), want about (%v, %v)", i, fx, fy, wx, wy)
		}
	}
}

// browser finds a browser that can be run without a window.
func browser(t *testing.T) string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium to open the page in")
	return ""
}

// The driver is put around the page's script: it notes what goes wrong, uses
// the page as somebody would, and reports in an attribute of the body.
const (
	driverBefore = `
const problems = [];
addEventListener("error", e => problems.push(String(e.message)));
addEventListener("unhandledrejection", e => problems.push(String(e.reason)));
addEventListener("securitypolicyviolation", e => problems.push("policy: " + e.violatedDirective + " " + e.blockedURI));
`
	driverAfter = `
setTimeout(() => {
  const key = (target, key) => target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
  const byId = id => document.getElementById(id), report = {};
  const box = byId("search"), canvas = byId("graph");
  report.status = byId("status").textContent;
  report.legend = byId("legend").innerText;
  report.hidden = byId("details").hidden;
  key(document.body, "/");
  report.focused = document.activeElement === box;
  box.value = "IMG SRC";
  box.dispatchEvent(new Event("input"));
  report.hits = byId("hits").innerText;
  key(box, "Enter");
  report.details = byId("details").innerText;
  report.elements = byId("details").querySelectorAll("img, script, b").length;
  report.hash = decodeURIComponent(location.hash);
  byId("details").querySelector("li a").click();
  report.neighbour = byId("details").innerText;
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  report.colours = new Set(new Uint32Array(pixels.buffer)).size;
  const dark = document.documentElement.classList.contains("dark");
  byId("theme").click();
  report.themed = dark !== document.documentElement.classList.contains("dark");
  key(document.body, "Escape");
  report.closed = byId("details").hidden;
  report.requests = performance.getEntriesByType("resource").map(e => e.name);
  report.problems = problems;
  document.body.setAttribute("data-report", JSON.stringify(report));
}, 300);
`
)

func TestHTMLInABrowser(t *testing.T) {
	path := browser(t)
	v, _ := hostileGraph(t)
	was := pageJS
	pageJS = []byte(driverBefore + string(pageJS) + driverAfter) // the policy follows
	page := htmlOf(t, v, HTMLOptions{Title: "A & B"})
	pageJS = was
	dir := t.TempDir()
	file := filepath.Join(dir, "graph.html")
	if err := os.WriteFile(file, page, 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // a browser that hangs fails the test
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
		"--disable-extensions", "--host-resolver-rules=MAP * ~NOTFOUND", "--user-data-dir="+filepath.Join(dir, "profile"),
		"--window-size=1200,800", "--virtual-time-budget=3000", "--enable-logging=stderr", "--v=0", "--dump-dom", "file://"+filepath.ToSlash(file))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	dom, err := cmd.Output()
	if err != nil {
		t.Skipf("the browser does not run here: %v\n%s", err, stderr.String())
	}
	for line := range strings.Lines(stderr.String()) {
		if strings.Contains(line, "CONSOLE") {
			t.Errorf("console: %s", line)
		}
	}
	m := regexp.MustCompile(`data-report="([^"]*)"`).FindSubmatch(dom)
	if m == nil {
		t.Fatalf("the script did not come to its end\n%s", stderr.String())
	}
	var r struct {
		Status, Legend, Hits, Details, Hash, Neighbour string
		Hidden, Focused, Themed, Closed                bool
		Elements, Colours                              int
		Requests, Problems                             []string
	}
	if err := json.Unmarshal([]byte(html.UnescapeString(string(m[1]))), &r); err != nil {
		t.Fatal(err)
	}
	const evil = "</script><img src=x onerror=alert(1)>"
	if r.Status != "4 of 4 entities and 2 of 2 relations are drawn." || !r.Hidden || !r.Focused || !r.Themed || !r.Closed {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(r.Legend, "person") || !strings.Contains(r.Hits, evil) {
		t.Errorf("legend %q, hits %q", r.Legend, r.Hits)
	}
	for _, text := range []string{evil, "concept, 1 relation", "]]> and", "# heading.", "They met.", "weight 1", "first, second", "a#0"} {
		if !strings.Contains(r.Details, text) {
			t.Errorf("the details lack %q:\n%s", text, r.Details)
		}
	}
	if !strings.Contains(r.Neighbour, `"Quoted", with, commas and <b>tags</b> & amps.`) || r.Elements != 0 || r.Hash != "#"+evil {
		t.Errorf("elements %d, hash %q, neighbour %q", r.Elements, r.Hash, r.Neighbour)
	}
	if r.Colours < 10 {
		t.Errorf("the drawing has %d colours", r.Colours)
	}
	if len(r.Requests) > 0 || len(r.Problems) > 0 {
		t.Errorf("requests %q, problems %q", r.Requests, r.Problems)
	}
}
