package durable

import (
	"strings"
)

// collect removes what no row names: temporary files at once, segments in two
// steps. They go to seg/trash first and are deleted at the next clean open
// after that, because a damaged manifest can make a live segment look unnamed.
// Nothing but temporary files is touched unless verified. Unknown names are
// left and reported. No failure of this keeps a store from opening.
func (d *DB) collect(verified bool) error {
	warn := func(what, path string, err error) {
		if err != nil {
			d.log.Warn(what, "path", path, "error", err)
		}
	}
	seg, trash := d.Path(segName), d.Path(segName, trashName)
	if d.clean {
		if _, err := d.fs.Stat(trash); err == nil {
			warn("emptying the trash", trash, d.fs.RemoveAll(trash))
		}
	}
	names, err := d.fs.List(seg)
	if isNotExist(err) { // a copy without segments
		return makeDir(d.fs, seg)
	}
	if err != nil {
		return wrap("open", seg, err)
	}
	named := make(map[string]bool, len(d.segments))
	for _, s := range d.segments {
		named[d.fs.PathBase(s.Path)] = true
	}
	moved := false
	for _, name := range names {
		path := d.Path(segName, name)
		switch {
		case named[name] || name == trashName:
		case strings.HasSuffix(name, tmpSuffix):
			warn("removing a temporary file", path, d.fs.Remove(path))
		case strings.HasSuffix(name, segmentSuffix) && verified:
			if err := d.discard(name); err != nil {
				warn("moving a segment to the trash", path, err)
				continue
			}
			moved = true
			d.log.Warn("segment that no row names moved to the trash", "path", path)
		default:
			d.log.Warn("unknown file", "path", path)
		}
	}
	if moved {
		warn("syncing", trash, syncDir(d.fs, trash))
		warn("syncing", seg, syncDir(d.fs, seg))
	}
	return nil
}

// discard moves a file from seg to seg/trash.
func (d *DB) discard(name string) error {
	if err := makeDir(d.fs, d.Path(segName, trashName)); err != nil {
		return err
	}
	return d.fs.Rename(d.Path(segName, name), d.Path(segName, trashName, name))
}
