package format

// Versions of the store's format. A store carries two numbers: the version
// that wrote it, and the oldest version that can still read it.
const (
	// FormatVersion is what this code writes. Version 2 added postings.
	FormatVersion uint32 = 2
	// MinRead is the oldest store version that this code reads.
	MinRead uint32 = 2
	// RecordVersion is the first byte of every encoded record. It changes
	// only when fields change their meaning: added fields do not change it.
	RecordVersion byte = 1
)

// Magic opens the meta row that holds a store's version. The CR, LF and NUL
// make a transfer in text mode show.
const Magic = "GVSTORE\x00\r\n"

// CheckVersion decides whether a store may be opened: wrote is the version
// that wrote it, minRead the oldest version that it says can read it. The
// error matches ErrTooNew, or ErrInvalid for a store older than MinRead.
func CheckVersion(wrote, minRead uint32) error {
	switch {
	case minRead > FormatVersion:
		return &TooNewError{What: "store", Have: FormatVersion, Need: minRead}
	case minRead == 0 || wrote < minRead:
		return corruptf("store version %d readable from %d", wrote, minRead)
	case wrote < MinRead:
		return invalidf("store version %d is older than %d, the oldest one read", wrote, MinRead)
	}
	return nil
}
