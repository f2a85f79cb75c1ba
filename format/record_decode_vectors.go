package format

// DecodeStale reads what AppendStale wrote.
func DecodeStale(b []byte, v *Stale) error {
	*v = Stale{}
	f := openFields(b)
	for f.next() {
		switch f.field {
		case 1:
			v.Vector = f.bool()
		case 2:
			v.Summary = f.bool()
		default:
			f.skip()
		}
	}
	return f.close("stale mark")
}

// DecodeBufferedVector reads what AppendBufferedVector wrote.
func DecodeBufferedVector(b []byte, v *BufferedVector) error {
	*v = BufferedVector{Vector: v.Vector[:0]}
	f := openFields(b)
	for f.next() {
		switch f.field {
		case 1:
			v.Kind = Kind(f.uint8())
		case 2:
			v.Owner = f.uint32()
		case 3:
			v.Version = f.uint32()
		case 4:
			v.Vector = f.floats(v.Vector)
		default:
			f.skip()
		}
	}
	return f.close("buffered vector")
}

// DecodeStagedVector reads what AppendStagedVector wrote.
func DecodeStagedVector(b []byte, v *StagedVector) error {
	*v = StagedVector{Vector: v.Vector[:0]}
	f := openFields(b)
	for f.next() {
		switch f.field {
		case 1:
			v.TextHash = f.fixed8()
		case 2:
			v.Vector = f.floats(v.Vector)
		default:
			f.skip()
		}
	}
	return f.close("staged vector")
}

// DecodeSegmentRow reads what AppendSegmentRow wrote.
func DecodeSegmentRow(b []byte, v *SegmentRow) error {
	*v = SegmentRow{}
	f := openFields(b)
	for f.next() {
		switch f.field {
		case 1:
			v.Rows = f.uint32()
		case 2:
			v.Dim = f.uint32()
		case 3:
			v.Length = f.uint64()
		case 4:
			v.FooterCRC = f.uint32()
		default:
			f.skip()
		}
	}
	return f.close("segment row")
}
