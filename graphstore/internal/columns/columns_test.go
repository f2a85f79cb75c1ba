package columns

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/lightctl/lightrag/format"
)

// graph loads n entities with random relations so that the mean degree is deg.
func graph(n, deg int) *Columns {
	rng := rand.New(rand.NewPCG(1, 2))
	l := NewLoader()
	for i := range n {
		l.AddEntity(EntityID(i), fmt.Sprintf("%08x entity %d", rng.Uint32(), i))
		l.SetEntity(EntityID(i), EntityRow{LineTokens: 40, Slot: uint32(i), HasSlot: true, Sole: 1, Sources: []ChunkID{ChunkID(i), ChunkID(i + 1)}})
	}
	pairs := make(map[[2]uint32]bool, n*deg/2)
	for id := 0; id < n*deg/2; {
		x, y := rng.Uint32N(uint32(n)), rng.Uint32N(uint32(n))
		if pair := [2]uint32{min(x, y), max(x, y)}; x != y && !pairs[pair] {
			pairs[pair] = true
			l.AddRelation(RelationID(id), EntityID(x), EntityID(y))
			l.SetRelation(RelationID(id), RelationRow{Weight: 1e6, LineTokens: 30, Sole: 1, Sources: []ChunkID{ChunkID(id)}})
			id++
		}
	}
	for i := range n {
		l.AddChunk(ChunkID(i), ChunkRow{Doc: DocID(i/10 + 1), Order: uint32(i % 10)})
	}
	c := l.Done()
	if l.Err() != nil {
		panic(l.Err())
	}
	return c
}

// hub returns a model and a version of one entity that all others relate to.
func hub(n int) (*Columns, model) {
	m := newModel()
	m.entities[0] = modelEntity{name: "m"}
	for i := 1; i <= n; i++ {
		m.entities[EntityID(i)] = modelEntity{name: fmt.Sprintf("%x", uint32(i)*2654435761)}
		m.relations[RelationID(i)] = modelRelation{a: 0, b: EntityID(i)}
	}
	c, err := m.load()
	if err != nil {
		panic(err)
	}
	return c, m
}

func TestReadersDoNotAllocate(t *testing.T) {
	c := graph(2000, 10)
	var sink int
	reads := func() {
		for id := range c.Entities() {
			for _, nb := range c.Neighbors(id) {
				sink += c.Degree(nb.Entity) + int(c.Weight(nb.Relation))
			}
			a, b := c.Ends(RelationID(id))
			doc, order := c.ChunkPlace(ChunkID(id))
			sink += len(c.EntityName(a)) + len(c.EntityName(b)) + int(doc) + int(order)
			for _, kind := range []Kind{format.KindEntity, format.KindRelation, format.KindChunk, 9} {
				slot, _ := c.Slot(kind, uint32(id))
				sole, _ := c.Sole(kind, uint32(id))
				sink += int(slot) + int(sole) + int(c.LineTokens(kind, uint32(id)))
			}
			sink += len(c.EntitySources(id)) + len(c.RelationSources(RelationID(id))) + len(c.Mentions(ChunkID(id)))
			if c.EntityLive(id) && c.RelationLive(RelationID(id)) && c.ChunkLive(ChunkID(id)) {
				sink++
			}
		}
		for range c.Relations() {
			sink++
		}
		for range c.Chunks() {
			sink++
		}
		total, garbage := c.Bytes()
		sink += c.Counts().Entities + int(total+garbage)
	}
	if n := testing.AllocsPerRun(3, reads); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

func TestUnknownKindHasNothing(t *testing.T) {
	c := graph(10, 2)
	if _, ok := c.Slot(7, 1); ok {
		t.Error("slot of an unknown kind")
	}
	if _, ok := c.Sole(7, 1); ok || c.LineTokens(7, 1) != 0 {
		t.Error("row of an unknown kind")
	}
}

// The results of readers are clipped: an append by the caller must not reach
// what other versions read.
func TestAppendByCallerCopies(t *testing.T) {
	b := Empty().Edit()
	b.AddEntity(1, "a")
	b.SetEntity(1, EntityRow{Sources: []ChunkID{1}})
	b.SetEntity(1, EntityRow{Sources: []ChunkID{1, 2}}) // stored anew with room
	c := b.Done()
	_ = append(c.EntitySources(1), 99)
	b = c.Edit()
	b.SetEntity(1, EntityRow{Sources: []ChunkID{1, 2, 3}})
	d := b.Done()
	_ = append(c.EntitySources(1), 99)
	if got := d.EntitySources(1); !slices.Equal(got, []ChunkID{1, 2, 3}) {
		t.Fatalf("sources %v", got)
	}
	if &d.EntitySources(1)[0] != &c.EntitySources(1)[0] {
		t.Error("a list with room was copied")
	}
}

func TestHubAcrossChunkSizes(t *testing.T) {
	c, m := hub(1<<16 + 3)
	if err := m.verify(c); err != nil {
		t.Fatal(err)
	}
	old := c
	b := c.Edit()
	for i := RelationID(1); i <= 1<<16; i += 97 {
		b.DropRelation(i)
		delete(m.relations, i)
	}
	c = b.Done()
	if err := m.verify(c); err != nil {
		t.Fatal(err)
	}
	if old.Degree(0) != 1<<16+3 {
		t.Fatalf("degree of the old version is %d", old.Degree(0))
	}
}

func TestGarbageIsCompactedAndOldVersionsStay(t *testing.T) {
	c, m := hub(3000)
	first := version{c, m.clone()}
	var compactions int
	for i := range 200 {
		id := RelationID(1 + i%3000)
		other := m.relations[id].b
		b := c.Edit()
		b.DropRelation(id)
		b.AddRelation(id, other, 0)
		b.DropEntity(EntityID(2000 + i))
		b.AddEntity(EntityID(2000+i), strings.Repeat("n", 20_000+i))
		b.SetEntity(0, EntityRow{Sources: make([]ChunkID, 3000-i)})
		b.SetEntity(0, EntityRow{Sources: []ChunkID{ChunkID(i + 1)}})
		delete(m.relations, RelationID(2000+i))
		m.entities[EntityID(2000+i)] = modelEntity{name: strings.Repeat("n", 20_000+i)}
		m.entities[0] = modelEntity{"m", EntityRow{Sources: []ChunkID{ChunkID(i + 1)}}}
		next := b.Done()
		if &next.pairs.chunks[0][0] != &c.pairs.chunks[0][0] {
			compactions++
		}
		c = next
		for _, a := range []bool{c.pairs.wasteful(compactFloor), c.sources.wasteful(compactFloor), c.mentioned.wasteful(compactFloor), c.text.wasteful(compactFloor)} {
			if a {
				t.Fatal("too much garbage after Done")
			}
		}
	}
	if compactions < 2 || compactions > 20 {
		t.Errorf("%d compactions of 200 x 24 KB of garbage", compactions)
	}
	if err := m.verify(c); err != nil {
		t.Fatal(err)
	}
	first.check(t)
}

func TestReaddedOwnersStartEmpty(t *testing.T) {
	b := Empty().Edit()
	b.AddEntity(1, "a")
	b.AddEntity(2, "b")
	b.AddRelation(5, 2, 1)
	b.SetRelation(5, RelationRow{Weight: 3, Sources: []ChunkID{4}})
	b.SetEntity(1, EntityRow{LineTokens: 3, HasSlot: true, Sole: 2, Sources: []ChunkID{4}})
	c := b.Done()

	b = c.Edit()
	b.DropEntity(1) // takes relation 5 with it
	b.AddEntity(1, "z")
	b.AddRelation(5, 1, 2)
	d := b.Done()
	m := newModel()
	m.entities[1], m.entities[2] = modelEntity{name: "z"}, modelEntity{name: "b"}
	m.relations[5] = modelRelation{a: 1, b: 2}
	if err := m.verify(d); err != nil {
		t.Error(err)
	}
	if a, b := c.Ends(5); a != 1 || b != 2 || c.EntityName(1) != "a" || c.Weight(5) != 3 {
		t.Error("the old version changed")
	}
	if a, b := d.Ends(5); a != 2 || b != 1 {
		t.Error("ends are not in name order")
	}
}

func TestSenselessEditsAreRefusedAndChangeNothing(t *testing.T) {
	base := Empty().Edit()
	base.AddEntity(1, "a")
	base.AddEntity(2, "b")
	base.AddRelation(1, 1, 2)
	c := base.Done()
	m := newModel()
	m.entities[1], m.entities[2] = modelEntity{name: "a"}, modelEntity{name: "b"}
	m.relations[1] = modelRelation{a: 1, b: 2}

	for name, edit := range map[string]func(*Builder){
		"entity twice":         func(b *Builder) { b.AddEntity(1, "c") },
		"unknown entity":       func(b *Builder) { b.SetEntity(3, EntityRow{LineTokens: 1}) },
		"slot of no entity":    func(b *Builder) { b.SetEntitySlot(3, 1) },
		"drop of no entity":    func(b *Builder) { b.DropEntity(3) },
		"relation twice":       func(b *Builder) { b.AddRelation(1, 1, 2) },
		"pair twice":           func(b *Builder) { b.AddRelation(2, 2, 1) },
		"self loop":            func(b *Builder) { b.AddRelation(2, 1, 1) },
		"unknown end":          func(b *Builder) { b.AddRelation(2, 1, 9) },
		"unknown relation":     func(b *Builder) { b.SetRelation(3, RelationRow{Weight: 1}) },
		"slot of no relation":  func(b *Builder) { b.SetRelationSlot(3, 1) },
		"drop of no relation":  func(b *Builder) { b.DropRelation(3) },
		"slot of no chunk":     func(b *Builder) { b.SetChunkSlot(3, 1) },
		"drop of no chunk":     func(b *Builder) { b.DropChunk(3) },
		"largest unknown ones": func(b *Builder) { b.DropEntity(1<<32 - 1) },
	} {
		b := c.Edit()
		edit(b)
		if !errors.Is(b.Err(), ErrInvalid) {
			t.Errorf("%s: error %v", name, b.Err())
		}
		c = b.Done()
		if err := m.verify(c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFinishedBuilderIsHarmless(t *testing.T) {
	for name, end := range map[string]func(*Builder){
		"done":      func(b *Builder) { b.Done() },
		"discarded": func(b *Builder) { b.Discard() },
	} {
		c := graph(100, 4)
		b := c.Edit()
		end(b)
		b.AddEntity(1000, "x")
		b.AddRelation(1000, 1, 2)
		b.AddChunk(1000, ChunkRow{})
		b.DropEntity(1)
		b.Discard()
		if b.Done() != nil || !errors.Is(b.Err(), ErrInvalid) {
			t.Errorf("%s: a finished builder went on, error %v", name, b.Err())
		}
		if c.Counts().Entities != 100 || !c.EntityLive(1) {
			t.Errorf("%s: version changed", name)
		}
	}
}

func TestLoaderRefusesSecondRelationOfPair(t *testing.T) {
	l := NewLoader()
	l.AddEntity(2, "b")
	l.AddEntity(1, "a")
	l.AddEntity(3, "c")
	l.AddRelation(9, 1, 2)
	l.AddRelation(8, 2, 1)
	l.AddRelation(7, 1, 2)
	l.AddRelation(3, 3, 1)
	l.SetRelation(9, RelationRow{Sources: []ChunkID{1, 2}})
	c := l.Done()
	if !errors.Is(l.Err(), ErrInvalid) {
		t.Errorf("error %v", l.Err())
	}
	m := newModel()
	m.entities[1], m.entities[2], m.entities[3] = modelEntity{name: "a"}, modelEntity{name: "b"}, modelEntity{name: "c"}
	m.relations[7], m.relations[3] = modelRelation{a: 1, b: 2}, modelRelation{a: 1, b: 3}
	if err := m.verify(c); err != nil {
		t.Error(err)
	}
	if l.Done() != nil {
		t.Error("second version from one loader")
	}
}

// A discarded edit leaves its version the newest one; an edit that is neither
// done nor discarded makes the next one pay for a copy, and no more.
func TestAbandonedEdits(t *testing.T) {
	c := graph(100, 4)
	shares := func(d *Columns) bool { return d.line == c.line }

	b := c.Edit()
	b.SetEntity(1, EntityRow{Sources: []ChunkID{7, 8, 9}})
	b.Discard()
	b = c.Edit()
	b.SetEntity(2, EntityRow{Sources: []ChunkID{1}})
	d := b.Done()
	if !shares(d) {
		t.Error("a discarded edit forced a copy")
	}
	d.Edit() // abandoned
	e := d.Edit()
	e.SetEntity(3, EntityRow{Sources: []ChunkID{1, 2, 3}})
	f := e.Done()
	if shares(f) {
		t.Error("two builders share arenas")
	}
	g := c.Edit().Done() // c is not the newest
	if shares(g) || !slices.Equal(g.EntitySources(2), c.EntitySources(2)) {
		t.Error("an old version was edited in place")
	}
}

// Readers check whole versions while the writer makes new ones; the race
// detector sees every read and write.
func TestReadersRunBesideWriter(t *testing.T) {
	m := newModel()
	for i := range EntityID(40) {
		m.entities[i*40] = modelEntity{name: fmt.Sprint("entity ", i)}
	}
	c, err := m.load()
	if err != nil {
		t.Fatal(err)
	}
	c.floor = 2000
	var newest atomic.Pointer[version]
	newest.Store(&version{c, m.clone()})
	var stop atomic.Bool
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for !stop.Load() {
				v := newest.Load()
				if err := v.m.verify(v.c); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 150 {
		b := c.Edit()
		for range 5 {
			x, y := EntityID(rng.IntN(40)*40), EntityID(rng.IntN(40)*40)
			id := RelationID(rng.IntN(200))
			if _, ok := m.relations[id]; ok {
				b.DropRelation(id)
				delete(m.relations, id)
			} else if x != y && !m.hasPair(x, y) {
				b.AddRelation(id, x, y)
				m.relations[id] = modelRelation{a: x, b: y}
			}
			e := m.entities[x]
			e.Sources = append(slices.Clip(e.Sources), ChunkID(len(e.Sources)))
			if len(e.Sources) > 20 {
				e.Sources = e.Sources[:5]
			}
			b.SetEntity(x, e.EntityRow)
			m.entities[x] = e
		}
		if b.Err() != nil {
			t.Fatal(b.Err())
		}
		c = b.Done()
		newest.Store(&version{c, m.clone()})
	}
	stop.Store(true)
	readers.Wait()
}

// Sources are the caller's: a chunk that they name twice mentions the entity
// until they name it no more.
func TestMentionsFollowSources(t *testing.T) {
	c := Empty()
	set := func(sources map[EntityID][]ChunkID) {
		b := c.Edit()
		for id, list := range sources {
			if !b.next.EntityLive(id) {
				b.AddEntity(id, string(rune('a'+id)))
			}
			b.SetEntity(id, EntityRow{Sources: list})
		}
		c = b.Done()
	}
	want := func(chunk ChunkID, ids ...EntityID) {
		t.Helper()
		if got := c.Mentions(chunk); !slices.Equal(got, ids) {
			t.Errorf("chunk %d mentions %v, want %v", chunk, got, ids)
		}
	}
	set(map[EntityID][]ChunkID{1: {7, 7, 8}, 2: {8, 9}})
	want(7, 1)
	want(8, 1, 2)
	want(9, 2)
	set(map[EntityID][]ChunkID{1: {7, 8}})
	want(7, 1)
	set(map[EntityID][]ChunkID{1: {8, 7}, 2: {}})
	want(7, 1)
	want(8, 1)
	want(9)
	set(map[EntityID][]ChunkID{1: nil}) // as they were
	want(7, 1)
	b := c.Edit()
	b.DropEntity(1)
	c = b.Done()
	want(7)
	want(8)
}
