package format

import "hash/crc32"

// Checksums are CRC32C (Castagnoli): every single-bit flip and every burst of
// up to 32 bits is detected, and processors have an instruction for it.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func crc32c(crc uint32, b []byte) uint32 { return crc32.Update(crc, castagnoli, b) }

// salt starts the checksum of a part of a segment with whose part it is and
// where it stands, so that sound bytes in the wrong place do not pass.
func salt(uuid UUID, offset int64) uint32 {
	var b [24]byte
	copy(b[:], uuid[:])
	le.PutUint64(b[16:], uint64(offset))
	return crc32c(0, b[:])
}
