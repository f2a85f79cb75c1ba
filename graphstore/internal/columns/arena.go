package columns

import "unsafe"

const (
	minChunk = 256     // elements of the first chunk of an arena
	maxChunk = 1 << 16 // elements of a chunk once the arena is large
)

// span names a list inside an arena: n elements at chunk, off, with room for
// room (>= n). Elements in [n, room) have never been visible to a version.
type span struct {
	chunk, off, n, room uint32
}

// arena is an append-only store of lists of T, which has no pointers. The value
// in a version is never changed; the chunks are shared with later versions,
// which write only behind what this version can reach. The zero value is empty.
type arena[T any] struct {
	chunks [][]T
	cur    int // chunk being filled; meaningful while used > 0 or chunks exist
	used   int // elements taken in it
	total  int // elements of all chunks
	live   int // elements (with their room) that spans of this version hold
	dead   int // elements that no span of this version holds, open tail excluded
}

// list returns the elements of s, clipped so that an append by the caller
// copies. The result is borrowed and must not be written.
func (a *arena[T]) list(s span) []T {
	if s.n == 0 {
		return nil
	}
	end := s.off + s.n
	return a.chunks[s.chunk][s.off:end:end]
}

// alloc takes room elements, zeroed or leftovers of a discarded edit.
func (a *arena[T]) alloc(room int) span {
	if room == 0 {
		return span{}
	}
	a.live += room
	if room >= maxChunk/4 {
		// A chunk of its own, so that a hub does not waste the tail of the
		// open one.
		c := len(a.chunks)
		if c == 0 {
			a.cur, a.used = 0, room
		}
		a.add(room)
		return span{chunk: uint32(c), room: uint32(room)}
	}
	if len(a.chunks) == 0 || a.used+room > len(a.chunks[a.cur]) {
		if len(a.chunks) > 0 {
			a.dead += len(a.chunks[a.cur]) - a.used
		}
		a.cur, a.used = len(a.chunks), 0
		a.add(max(min(max(a.total, minChunk), maxChunk), room))
	}
	s := span{chunk: uint32(a.cur), off: uint32(a.used), room: uint32(room)}
	a.used += room
	return s
}

func (a *arena[T]) add(n int) {
	// An append may write behind the end of the slice of an older version in
	// the same backing array; that version never looks there.
	a.chunks = append(a.chunks, make([]T, n))
	a.total += n
}

// store copies list into the arena and leaves spare elements behind it.
func (a *arena[T]) store(list []T, spare int) span {
	if len(list) == 0 {
		return span{}
	}
	s := a.alloc(len(list) + spare)
	s.n = uint32(len(list))
	copy(a.chunks[s.chunk][s.off:], list)
	return s
}

// extend appends tail to s in place. The caller has checked the room.
func (a *arena[T]) extend(s *span, tail []T) {
	copy(a.chunks[s.chunk][s.off+s.n:s.off+s.room], tail)
	s.n += uint32(len(tail))
}

// free counts n elements as garbage.
func (a *arena[T]) free(n uint32) {
	a.live -= int(n)
	a.dead += int(n)
}

func (a *arena[T]) bytes() (total, garbage int64) {
	var t T
	size := int64(unsafe.Sizeof(t))
	return int64(a.total) * size, int64(a.dead) * size
}

// wasteful reports whether the garbage exceeds the live part plus floor bytes.
func (a *arena[T]) wasteful(floor int64) bool {
	var t T
	size := int64(unsafe.Sizeof(t))
	return int64(a.dead)*size > int64(a.live)*size+floor
}
