// Package arena holds arrays that grow while others read them.
//
// An [Arena] reserves as much address space as it may ever need and makes it usable bit by bit: growing it moves
// nothing, so that a slice loaded before stays valid, sees what is written later, and a kernel may keep to
// base + i*stride. The garbage collector neither scans nor counts this memory, which is given back when the arena
// has become unreachable, or by Release.
//
// That needs an operating system with mmap (Linux and macOS), 64 bits, and an address space that is not limited.
// Elsewhere, and in race builds, whose detector sees nothing but the heap, an arena is a slice of the heap that
// moves when it grows: Moves tells. Readers do not notice, for they keep the slice they have, but what is written
// in place while it is being copied may be lost, so writers have to be kept out.
//
// An arena made by [NewFile] lies in a file instead of in memory of the process. Elements come into it by Write, which
// tells that a disk is full where a store to mapped memory would end the process; so does Grow, which takes the blocks of
// what may be read.
//
// # Lifetime
//
// A slice of an arena does not keep the arena alive. Whoever uses one must hold the Arena too, up to a
// [runtime.KeepAlive] after the last access if nothing else refers to it by then.
//
// # Memory
//
// Pages are taken as they are touched. Where an arena has filled 2 MiB of address space aligned to 2 MiB, Linux is
// asked to back them with one huge page: rows read at random then miss the TLB less. What is not yet full stays in
// small pages, so that 100 rows take some pages and not megabytes. Arenas of 16 MiB and more take the next 2 MiB as
// a whole: faulting in 512 small pages takes several times as long as one huge one.
package arena
