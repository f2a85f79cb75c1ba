package hnsw

import (
	"bytes"
	"fmt"
	"hash/crc32"
)

// delta is a change read from a file.
type delta struct {
	offset  uint64
	patches []byte
}

// readDeltas reads the changes behind a file, the end of which is cut off if a crash has torn it. The file is as its
// last change says then.
func (f *indexFile) readDeltas(size uint64) error {
	at := f.size
	for at < size {
		head, body, reason, err := f.readDelta(at, size)
		if err != nil {
			return err
		}
		if reason != "" {
			return f.tear(at, size, reason, head)
		}
		h, why := decodeHeader(body)
		if h == nil {
			return f.corrupt(partName("changes"), at, why)
		}
		if h.dim != f.dim || h.m != f.m || h.seed != f.seed || h.codes != f.codes || !h.index || !f.index || h.slots < f.slots || h.own != 0 {
			return f.corrupt(partName("changes"), at, "of another index")
		}
		if uint64(h.mark)*uint64(h.m)*8 > size {
			return f.corrupt(partName("changes"), at, "more slots than the file has room for")
		}
		f.fileHeader = *h
		l, err := h.place(f.upperWords())
		if err != nil || !bytes.Equal(body[:headerSize], h.encode(l)) {
			return f.corrupt(partName("changes"), at, "wrong sections, or reserved bytes in use")
		}
		for s, span := range l.spans {
			f.lengths[s] = span.length
		}
		if err := f.addDelta(at, body[headerSize:], le.Uint64(head[24:])); err != nil {
			return err
		}
		at += le.Uint64(head[16:])
		f.after = le.Uint32(head[deltaHead-crcSize:])
		f.number++
	}
	f.end = at
	return nil
}

// readDelta returns the head of a change and what follows it. reason says why it cannot be believed.
func (f *indexFile) readDelta(at, size uint64) (head, body []byte, reason string, err error) {
	if size-at < deltaHead+headerSize {
		return nil, nil, "too short", nil
	}
	head = make([]byte, deltaHead)
	if err := f.readAt(head, at, partName("changes")); err != nil {
		return nil, nil, "", err
	}
	switch reason := unfit(head, f.number, f.after, size-at); reason {
	case "":
	case tooLong:
		return head, nil, reason, nil
	default:
		return nil, nil, reason, nil
	}
	body = make([]byte, le.Uint64(head[16:])-deltaHead)
	if err := f.readAt(body, at+deltaHead, partName("changes")); err != nil {
		return nil, nil, "", err
	}
	if crc32.Checksum(body, castagnoli) != le.Uint32(head[36:]) {
		return head, nil, "checksum", nil
	}
	return head, body, "", nil
}

const tooLong = "longer than the file"

// unfit says why a head is none of a change that is the next after so many, with that checksum, and has so much room.
func unfit(head []byte, number, after uint32, room uint64) string {
	n := le.Uint64(head[16:])
	switch {
	case !isDeltaHead(head) || le.Uint32(head[8:]) != number+1 || le.Uint32(head[32:]) != after:
		return "no change of this file"
	case n > room:
		return tooLong
	case n < deltaHead+headerSize || le.Uint64(head[24:]) > n-deltaHead-headerSize:
		return "impossible length"
	}
	return ""
}

func isDeltaHead(p []byte) bool {
	return string(p[:8]) == deltaMagic && crc32.Checksum(p[:deltaHead-crcSize], castagnoli) == le.Uint32(p[deltaHead-crcSize:])
}

// tear ends the file at a change that cannot be believed, unless others follow it: that is no crash while writing it,
// but damage.
func (f *indexFile) tear(at, size uint64, reason string, head []byte) error {
	e := f.corrupt(partName("changes"), at, reason).(*CorruptionError)
	if !f.mayTear {
		return e
	}
	from := at + deltaHead
	if head != nil {
		from = at + min(le.Uint64(head[16:]), size-at)
	}
	buf := make([]byte, 1<<16)
	for ; from < size; from += uint64(len(buf)) {
		p := buf[:min(uint64(len(buf)), size-from)]
		if err := f.readAt(p, from, partName("changes")); err != nil {
			return err
		}
		for ; len(p) >= deltaHead; p = p[deltaHead:] {
			if isDeltaHead(p) && le.Uint32(p[8:]) > f.number+1 {
				return e
			}
		}
	}
	f.torn, f.end = e, at
	return nil
}

// addDelta checks that patches are within their sections.
func (f *indexFile) addDelta(at uint64, body []byte, n uint64) error {
	all := body[:n]
	for p := all; len(p) > 0; {
		if len(p) < patchHead {
			return f.corrupt(partName("changes"), at, "a patch that is cut off")
		}
		s, length, off := le.Uint32(p), uint64(le.Uint32(p[4:])), le.Uint64(p[8:])
		if s >= uint32(sections) || off > f.lengths[s] || length > f.lengths[s]-off || length > uint64(len(p)-patchHead) {
			return f.corrupt(partName("changes"), at, fmt.Sprintf("a patch of %d bytes at %d of section %d", length, off, s))
		}
		p = p[patchHead+length:]
	}
	for _, x := range body[n:] {
		if x != 0 {
			return f.corrupt(partName("changes"), at, "not zero behind its end")
		}
	}
	f.deltas = append(f.deltas, delta{at, all})
	return nil
}

// patch applies the changes of a section to what the file had of it.
func (f *indexFile) patch(s section, p []byte) {
	for _, d := range f.deltas {
		for all := d.patches; len(all) > 0; {
			n, off := uint64(le.Uint32(all[4:])), le.Uint64(all[8:])
			if section(le.Uint32(all)) == s && off < uint64(len(p)) { // a later change may have made it shorter
				copy(p[off:], all[patchHead:][:n])
			}
			all = all[patchHead+n:]
		}
	}
}

// changed reports whether there are changes.
func (f *indexFile) changed() bool { return len(f.deltas) > 0 }
