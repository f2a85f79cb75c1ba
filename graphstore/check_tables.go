package graphstore

import "path/filepath"

// tables reads every block of every table from the disk. It comes first: what
// a damaged block holds may end the steps behind it.
func (c *checker) tables(deep bool) error {
	if !deep {
		return nil
	}
	return c.s.db.VerifyTables(c.ctx, func(path string, err error) error {
		return c.bad("table "+filepath.Base(path), "%w", err)
	})
}
