package graphstore

import "context"

// Backup writes a sealed copy of the store to dst, which must not exist, on
// the same file system. Readers and writers go on meanwhile; the copy holds
// every commit that was acknowledged before the call, and appears whole or not
// at all: it is made in a Staging, and what a crash leaves there goes with the
// next Backup to dst. The error matches ErrExists if dst does, and ErrLocked
// while another store is made there.
func (s *Store) Backup(ctx context.Context, dst string) error {
	err := ctx.Err()
	if err == nil {
		err = s.enter()
	}
	if err == nil {
		defer s.writers.Done()
		err = s.backup(dst)
	}
	return opError("back up to", dst, err)
}

func (s *Store) backup(dst string) error {
	s.sealer.run.Lock() // no segment comes or goes
	defer s.sealer.run.Unlock()
	return s.db.Checkpoint(dst)
}
