package format

import "hash/crc32"

// Checksums are CRC32C (Castagnoli): every single-bit flip and every burst of
// up to 32 bits is detected, and processors have an instruction for it.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func crc32c(crc uint32, b []byte) uint32 { return crc32.Update(crc, castagnoli, b) }

// salt starts the checksum of a part of a segment with whose part it is and
// where it stands, so that sound bytes in the wrong place do not pass.
func salt(uuid UUID, offset int64) uint32 {
	// By table, byte by byte: the assembly behind crc32.Update would make
	// these 24 bytes escape to the heap.
	crc := ^uint32(0)
	for _, x := range uuid {
		crc = castagnoli[byte(crc)^x] ^ crc>>8
	}
	for n := range 8 {
		crc = castagnoli[byte(crc)^byte(uint64(offset)>>(8*n))] ^ crc>>8
	}
	return ^crc
}
