package durable

import (
	"slices"
	"strings"
)

// sweep removes what Pebble leaves in kv when it has closed behind a flush:
// logs, whose every row is in a table now and which it keeps to write over,
// and the manifest before the last one. They can take more room than the
// tables, and hold what was deleted long ago. A file that stays is part of the
// SEAL and does no harm. Segments that were replaced go too.
func (d *DB) sweep() {
	for _, path := range d.retired {
		d.remove(path)
	}
	names, err := d.fs.List(d.Path(kvName))
	if err != nil {
		d.log.Warn("looking for files that nothing needs", "dir", d.Path(kvName), "error", err)
		return
	}
	manifest, markers := "", 0
	for _, name := range names { // marker.manifest.N.MANIFEST-M
		if rest, ok := strings.CutPrefix(name, "marker.manifest."); ok {
			_, manifest, _ = strings.Cut(rest, ".")
			markers++
		}
	}
	for _, name := range names {
		// Of several markers, which a failure can leave, one is older.
		old := strings.HasPrefix(name, "MANIFEST-") && markers == 1 && name != manifest
		if !old && !strings.HasSuffix(name, ".log") {
			continue
		}
		d.remove(d.Path(kvName, name))
	}
}

// Retire forgets segments whose rows a commit has deleted. Snapshots still read
// them; Close removes the files.
func (d *DB) Retire(list []SegmentInfo) {
	d.segmentsMu.Lock()
	defer d.segmentsMu.Unlock()
	for _, old := range list {
		d.retire(old)
	}
}

// retire needs segmentsMu.
func (d *DB) retire(old SegmentInfo) {
	d.segments = slices.DeleteFunc(d.segments, func(s SegmentInfo) bool { return s.UUID == old.UUID })
	d.retired = append(d.retired, old.Path)
}

func (d *DB) remove(path string) {
	if err := d.fs.Remove(path); err != nil {
		d.log.Warn("removing a file that nothing needs", "path", path, "error", err)
	}
}
