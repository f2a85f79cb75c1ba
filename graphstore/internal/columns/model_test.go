package columns

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/lightctl/lightrag/format"
	"pgregory.net/rapid"
)

type (
	modelEntity struct {
		name string
		EntityRow
	}
	modelRelation struct {
		a, b EntityID
		RelationRow
	}
	// model says the same as a version, in maps.
	model struct {
		entities  map[EntityID]modelEntity
		relations map[RelationID]modelRelation
		chunks    map[ChunkID]ChunkRow
	}
)

func newModel() model {
	return model{map[EntityID]modelEntity{}, map[RelationID]modelRelation{}, map[ChunkID]ChunkRow{}}
}

// clone shares the source lists, which the tests never change in place.
func (m model) clone() model {
	return model{maps.Clone(m.entities), maps.Clone(m.relations), maps.Clone(m.chunks)}
}

func (m model) neighbors() map[EntityID][]Neighbor {
	lists := map[EntityID][]Neighbor{}
	for id, r := range m.relations {
		lists[r.a] = append(lists[r.a], Neighbor{r.b, id})
		lists[r.b] = append(lists[r.b], Neighbor{r.a, id})
	}
	for _, list := range lists {
		slices.SortFunc(list, func(x, y Neighbor) int {
			return cmp.Compare(m.entities[x.Entity].name, m.entities[y.Entity].name)
		})
	}
	return lists
}

func (m model) hasPair(x, y EntityID) bool {
	for _, r := range m.relations {
		if r.a == x && r.b == y || r.a == y && r.b == x {
			return true
		}
	}
	return false
}

// edges are ids at the borders of pages, table nodes, 16 bits and 32 bits.
var edges = []uint32{0, 1, 2, 30, 31, 32, 33, 62, 63, 64, 65, 127, 128, 255, 256, 8191, 8192, 16382, 16383, 16384, 16385, 65534, 65535, 65536, 65537, 1 << 20, 1<<32 - 2, 1<<32 - 1}

// verify compares every answer of c with the model.
func (m model) verify(c *Columns) error {
	if got, want := c.Counts(), (Counts{len(m.entities), len(m.relations), len(m.chunks)}); got != want {
		return fmt.Errorf("counts %v, want %v", got, want)
	}
	if got, want := slices.Collect(c.Entities()), slices.Sorted(maps.Keys(m.entities)); !slices.Equal(got, want) {
		return fmt.Errorf("entities %v, want %v", got, want)
	}
	if got, want := slices.Collect(c.Relations()), slices.Sorted(maps.Keys(m.relations)); !slices.Equal(got, want) {
		return fmt.Errorf("relations %v, want %v", got, want)
	}
	if got, want := slices.Collect(c.Chunks()), slices.Sorted(maps.Keys(m.chunks)); !slices.Equal(got, want) {
		return fmt.Errorf("chunks %v, want %v", got, want)
	}
	neighbors := m.neighbors()
	for id := range join(m.entities) {
		if err := m.verifyEntity(c, id, neighbors[id]); err != nil {
			return err
		}
	}
	for id := range join(m.relations) {
		if err := m.verifyRelation(c, id); err != nil {
			return err
		}
	}
	for id := range join(m.chunks) {
		want, live := m.chunks[id]
		doc, order := c.ChunkPlace(id)
		if c.ChunkLive(id) != live || doc != want.Doc || order != want.Order {
			return fmt.Errorf("chunk %d: live %v at %d, %d; want %v, %+v", id, c.ChunkLive(id), doc, order, live, want)
		}
		if err := shared(c, format.KindChunk, uint32(id), want.LineTokens, want.Slot, want.HasSlot, want.Doc); err != nil {
			return err
		}
	}
	if err := m.verifyMentions(c); err != nil {
		return err
	}
	var tokens [4]uint64
	for _, r := range m.entities {
		tokens[format.KindEntity] += uint64(r.LineTokens)
	}
	for _, r := range m.relations {
		tokens[format.KindRelation] += uint64(r.LineTokens)
	}
	for _, r := range m.chunks {
		tokens[format.KindChunk] += uint64(r.LineTokens)
	}
	for kind, want := range tokens {
		if got := c.Tokens(Kind(kind)); got != want {
			return fmt.Errorf("%v: %d tokens in all, want %d", Kind(kind), got, want)
		}
	}
	return accounts(c)
}

func (m model) verifyMentions(c *Columns) error {
	want := map[ChunkID][]EntityID{}
	for _, id := range slices.Sorted(maps.Keys(m.entities)) {
		for _, chunk := range m.entities[id].Sources {
			if list := want[chunk]; len(list) == 0 || list[len(list)-1] != id {
				want[chunk] = append(list, id)
			}
		}
	}
	for chunk := range join(want) {
		if got := c.Mentions(chunk); !slices.Equal(got, want[chunk]) {
			return fmt.Errorf("chunk %d: mentions %v, want %v", chunk, got, want[chunk])
		}
	}
	return nil
}

// join yields the keys of m and the edge ids that are not among them.
func join[K ~uint32, V any](m map[K]V) map[K]bool {
	ids := map[K]bool{}
	for id := range m {
		ids[id] = true
	}
	for _, id := range edges {
		ids[K(id)] = true
	}
	return ids
}

func (m model) verifyEntity(c *Columns, id EntityID, neighbors []Neighbor) error {
	want, live := m.entities[id]
	if c.EntityLive(id) != live || c.EntityName(id) != want.name {
		return fmt.Errorf("entity %d: live %v, name %q; want %v, %q", id, c.EntityLive(id), c.EntityName(id), live, want.name)
	}
	if got := c.Neighbors(id); !slices.Equal(got, neighbors) || c.Degree(id) != len(neighbors) {
		return fmt.Errorf("entity %d: degree %d, neighbours %v; want %v", id, c.Degree(id), got, neighbors)
	}
	if c.EntityType(id) != want.Type {
		return fmt.Errorf("entity %d: type %d, want %d", id, c.EntityType(id), want.Type)
	}
	if got := c.EntitySources(id); !slices.Equal(got, want.Sources) {
		return fmt.Errorf("entity %d: sources %v, want %v", id, got, want.Sources)
	}
	return shared(c, format.KindEntity, uint32(id), want.LineTokens, want.Slot, want.HasSlot, want.Sole)
}

func (m model) verifyRelation(c *Columns, id RelationID) error {
	want, live := m.relations[id]
	a, b := want.a, want.b
	if m.entities[a].name > m.entities[b].name {
		a, b = b, a
	}
	gotA, gotB := c.Ends(id)
	if c.RelationLive(id) != live || gotA != a || gotB != b || c.Weight(id) != want.Weight {
		return fmt.Errorf("relation %d: live %v, ends %d, %d, weight %d; want %v, %d, %d, %d",
			id, c.RelationLive(id), gotA, gotB, c.Weight(id), live, a, b, want.Weight)
	}
	if got := c.RelationSources(id); !slices.Equal(got, want.Sources) {
		return fmt.Errorf("relation %d: sources %v, want %v", id, got, want.Sources)
	}
	return shared(c, format.KindRelation, uint32(id), want.LineTokens, want.Slot, want.HasSlot, want.Sole)
}

func shared(c *Columns, kind Kind, owner uint32, tokens, slot uint32, hasSlot bool, sole DocID) error {
	gotSlot, gotHas := c.Slot(kind, owner)
	gotSole, gotOne := c.Sole(kind, owner)
	if c.LineTokens(kind, owner) != tokens || gotSlot != slot || gotHas != hasSlot || gotSole != sole || gotOne != (sole != 0) {
		return fmt.Errorf("%v %d: tokens %d, slot %d %v, sole %d %v; want %d, %d %v, %d", kind, owner,
			c.LineTokens(kind, owner), gotSlot, gotHas, gotSole, gotOne, tokens, slot, hasSlot, sole)
	}
	return nil
}

// accounts checks that the arenas know what is live and that nothing is lost.
func accounts(c *Columns) error {
	var pairs, sources, mentioned, text int
	for id := range c.Entities() {
		r := &c.entities.page(uint32(id)).rows[id&pageMask]
		pairs += int(r.pairs.room)
		sources += int(r.sources.room)
		text += len(c.EntityName(id))
	}
	for id := range c.Relations() {
		sources += int(c.relations.page(uint32(id)).rows[id&pageMask].sources.room)
	}
	for id, ok := c.mentions.next(0); ok; id, ok = c.mentions.next(uint64(id) + 1) {
		mentioned += int(c.mentions.page(id).rows[id&pageMask].room)
	}
	if c.pairs.live != pairs || c.sources.live != sources || c.mentioned.live != mentioned || c.text.live != text {
		return fmt.Errorf("live %d, %d, %d, %d; spans hold %d, %d, %d, %d", c.pairs.live, c.sources.live, c.mentioned.live, c.text.live,
			pairs, sources, mentioned, text)
	}
	for _, a := range [][3]int{tally(&c.pairs), tally(&c.sources), tally(&c.mentioned), tally(&c.text)} {
		if a[0] != a[1] || a[2] < 0 {
			return fmt.Errorf("arena of %d elements accounts for %d, %d of them dead", a[0], a[1], a[2])
		}
	}
	return nil
}

func tally[T any](a *arena[T]) [3]int {
	open := 0
	if len(a.chunks) > 0 {
		open = len(a.chunks[a.cur]) - a.used
	}
	return [3]int{a.total, a.live + a.dead + open, a.dead}
}

// editor draws edits and makes them on a builder and on a model alike.
type editor struct {
	t *rapid.T
	b *Builder
	m model
}

func (e *editor) id(label string) uint32 { return rapid.SampledFrom(edges).Draw(e.t, label) }

func pick[K ~uint32, V any](t *rapid.T, m map[K]V, label string) (K, bool) {
	if len(m) == 0 {
		return 0, false
	}
	return rapid.SampledFrom(slices.Sorted(maps.Keys(m))).Draw(t, label), true
}

var nameGen = rapid.OneOf(rapid.StringMatching(`[ab]{0,12}`), rapid.String())

func (e *editor) addEntity() {
	id, name := EntityID(e.id("entity")), nameGen.Draw(e.t, "name")
	for _, x := range e.m.entities {
		if x.name == name {
			return
		}
	}
	if _, ok := e.m.entities[id]; !ok {
		e.b.AddEntity(id, name)
		e.m.entities[id] = modelEntity{name: name}
	}
}

func (e *editor) addRelation() {
	id := RelationID(e.id("relation"))
	x, ok := pick(e.t, e.m.entities, "x")
	if _, taken := e.m.relations[id]; taken || !ok {
		return
	}
	if y, _ := pick(e.t, e.m.entities, "y"); x != y && !e.m.hasPair(x, y) {
		e.b.AddRelation(id, x, y)
		e.m.relations[id] = modelRelation{a: x, b: y}
	}
}

// sources draws a list that is often close to the one there is.
func (e *editor) sources(old []ChunkID) []ChunkID {
	extra := rapid.SliceOfN(rapid.Map(rapid.Uint32Max(9), func(v uint32) ChunkID { return ChunkID(v) }), 0, 4)
	switch rapid.IntRange(0, 4).Draw(e.t, "sources") {
	case 0:
		return nil
	case 1:
		return old[:rapid.IntRange(0, len(old)).Draw(e.t, "cut")]
	case 2:
		return slices.Concat([]ChunkID{}, extra.Draw(e.t, "new"))
	}
	return slices.Concat(slices.Clip(old), extra.Draw(e.t, "more"))
}

func (e *editor) setEntity() {
	if id, ok := pick(e.t, e.m.entities, "entity"); ok {
		x := e.m.entities[id]
		r := EntityRow{uint16(e.id("type")), e.id("tokens"), e.id("slot"), rapid.Bool().Draw(e.t, "has"), DocID(e.id("sole")), e.sources(x.Sources)}
		e.b.SetEntity(id, r)
		if r.Sources == nil {
			r.Sources = x.Sources
		}
		e.m.entities[id] = modelEntity{x.name, r}
	}
}

func (e *editor) setRelation() {
	if id, ok := pick(e.t, e.m.relations, "relation"); ok {
		x := e.m.relations[id]
		r := RelationRow{rapid.Int64().Draw(e.t, "weight"), e.id("tokens"), e.id("slot"), rapid.Bool().Draw(e.t, "has"), DocID(e.id("sole")), e.sources(x.Sources)}
		e.b.SetRelation(id, r)
		if r.Sources == nil {
			r.Sources = x.Sources
		}
		e.m.relations[id] = modelRelation{x.a, x.b, r}
	}
}

func (e *editor) addChunk() {
	id := ChunkID(e.id("chunk"))
	r := ChunkRow{DocID(e.id("doc")), e.id("order"), e.id("tokens"), e.id("slot"), rapid.Bool().Draw(e.t, "has")}
	e.b.AddChunk(id, r)
	e.m.chunks[id] = r
}

func (e *editor) setSlots() {
	slot := e.id("slot")
	if id, ok := pick(e.t, e.m.entities, "entity"); ok {
		x := e.m.entities[id]
		x.Slot, x.HasSlot = slot, true
		e.m.entities[id] = x
		e.b.SetEntitySlot(id, slot)
	}
	if id, ok := pick(e.t, e.m.relations, "relation"); ok {
		x := e.m.relations[id]
		x.Slot, x.HasSlot = slot, true
		e.m.relations[id] = x
		e.b.SetRelationSlot(id, slot)
	}
	if id, ok := pick(e.t, e.m.chunks, "chunk"); ok {
		x := e.m.chunks[id]
		x.Slot, x.HasSlot = slot, true
		e.m.chunks[id] = x
		e.b.SetChunkSlot(id, slot)
	}
}

func (e *editor) drop() {
	switch rapid.IntRange(0, 3).Draw(e.t, "drop") {
	case 0:
		if id, ok := pick(e.t, e.m.entities, "entity"); ok {
			e.b.DropEntity(id)
			delete(e.m.entities, id)
			maps.DeleteFunc(e.m.relations, func(_ RelationID, r modelRelation) bool { return r.a == id || r.b == id })
		}
	case 1:
		if id, ok := pick(e.t, e.m.chunks, "chunk"); ok {
			e.b.DropChunk(id)
			delete(e.m.chunks, id)
		}
	default:
		if id, ok := pick(e.t, e.m.relations, "relation"); ok {
			e.b.DropRelation(id)
			delete(e.m.relations, id)
		}
	}
}

func (e *editor) edit() {
	edits := []func(){e.addEntity, e.addEntity, e.addRelation, e.addRelation, e.addRelation, e.setEntity, e.setRelation, e.addChunk, e.setSlots, e.drop}
	for range rapid.IntRange(0, 15).Draw(e.t, "edits") {
		rapid.SampledFrom(edits).Draw(e.t, "edit")()
	}
}

type version struct {
	c *Columns
	m model
}

func (v version) check(t interface{ Fatal(...any) }) {
	if err := v.m.verify(v.c); err != nil {
		t.Fatal(err)
	}
}

// load feeds the model to a loader, relations and rows in the order given by
// the maps.
func (m model) load() (*Columns, error) {
	l := NewLoader()
	for id, x := range m.entities {
		l.AddEntity(id, x.name)
	}
	for id, x := range m.relations {
		l.AddRelation(id, x.b, x.a)
		l.SetRelation(id, x.RelationRow)
	}
	for id, x := range m.entities {
		l.SetEntity(id, x.EntityRow)
	}
	for id, x := range m.chunks {
		l.AddChunk(id, x)
	}
	c := l.Done()
	return c, l.Err()
}

// Every version answers like the model it was made with, also after later
// edits, discarded edits and edits of older versions; and the loader agrees.
func TestVersionsAnswerLikeModelForever(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		empty := Empty()
		if rapid.Bool().Draw(t, "compact often") {
			empty.floor = 0
		}
		versions := []version{{empty, newModel()}}
		for range rapid.IntRange(1, 8).Draw(t, "versions") {
			from := versions[len(versions)-1]
			if rapid.IntRange(0, 9).Draw(t, "branch") == 0 {
				from = rapid.SampledFrom(versions).Draw(t, "old version")
			}
			e := &editor{t, from.c.Edit(), from.m.clone()}
			e.edit()
			if err := e.b.Err(); err != nil {
				t.Fatal(err)
			}
			if rapid.IntRange(0, 5).Draw(t, "give up") == 0 {
				e.b.Discard()
				continue
			}
			v := version{e.b.Done(), e.m}
			v.check(t)
			versions = append(versions, v)
		}
		for _, v := range versions {
			v.check(t)
		}
		last := versions[len(versions)-1]
		loaded, err := last.m.load()
		if err != nil {
			t.Fatal(err)
		}
		version{loaded, last.m}.check(t)
		e := &editor{t, loaded.Edit(), last.m.clone()}
		e.edit()
		version{e.b.Done(), e.m}.check(t)
		version{loaded, last.m}.check(t)
	})
}
