package format

import "testing"

func TestSaltIsTheChecksumOfUUIDAndOffset(t *testing.T) {
	for _, offset := range []int64{0, 64, 1<<40 + 64, -1} {
		b := le.AppendUint64(uuid1[:len(uuid1):len(uuid1)], uint64(offset))
		if got, want := salt(uuid1, offset), crc32c(0, b); got != want {
			t.Errorf("%d: %08x, want %08x", offset, got, want)
		}
	}
}
