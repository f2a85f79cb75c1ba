// Package durable is the hardened disk under the graph store: one directory,
// one file system, one lock.
//
//	dir/LOCK      held while the store is open
//	dir/SEAL      present only after a clean close; lists every other file
//	dir/kv/       the Pebble database; no logs after a clean close
//	dir/seg/      immutable vector segments, seg/trash/ those nothing names
//	dir/idx/      index files; derived data that this package only makes room for
//
// It promises five things on top of Pebble:
//
//   - The host process is never exited, panicked or written to. Every error of
//     the log or the manifest is caught below Pebble (see shield), turns the
//     store into a failed one (ErrFailed, sticky) and freezes the files: from
//     then on nothing on disk changes, reads keep working, Close returns.
//   - A batch that SyncWait reports as durable survives power loss. A batch
//     that it reports as failed may or may not be there after a reopen.
//   - A store that was closed cleanly is checked against its SEAL before
//     anything is opened for writing, so that damage to the files Pebble cannot
//     check by itself is found while it can still be repaired. A store that
//     was not is opened read-only first and shown to Options.Verify.
//   - Segments become visible together with the row that names them, or not at
//     all.
//   - A copy, and any store that is made in a Staging, appears whole or not at
//     all.
//
// A DB may be used by many goroutines, with two rules of order that its caller
// keeps: batches become visible in the order of Apply, and one Seal runs at a
// time. Snapshots are closed by whoever took them; Close waits for them.
package durable
