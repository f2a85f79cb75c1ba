package format

// AppendMember appends the encoding of v to dst.
func AppendMember(dst []byte, v *Member) []byte {
	dst = append(dst, RecordVersion)
	dst = appendUint(dst, 1, uint64(v.Root))
	dst = appendBool(dst, 2, v.Hidden)
	dst = appendUint(dst, 3, uint64(v.Lo))
	return appendUint(dst, 4, uint64(v.Hi))
}

// DecodeMember reads what AppendMember wrote.
func DecodeMember(b []byte, v *Member) error {
	*v = Member{}
	f := openFields(b)
	for f.next() {
		switch f.field {
		case 1:
			v.Root = f.uint32()
		case 2:
			v.Hidden = f.bool()
		case 3:
			v.Lo = EntityID(f.uint32())
		case 4:
			v.Hi = EntityID(f.uint32())
		default:
			f.skip()
		}
	}
	return f.close("member")
}

// AppendChange appends the encoding of v to dst.
func AppendChange(dst []byte, v *Change) []byte {
	dst = append(dst, RecordVersion)
	dst = appendUint(dst, 1, uint64(v.Kind))
	dst = appendUint(dst, 2, uint64(v.Of))
	dst = appendStrings(dst, 3, v.Names)
	dst = appendInt(dst, 4, v.Created)
	dst = appendInt(dst, 5, v.Undone)
	list := make([]string, 0, 3*len(v.Aliases))
	for _, e := range v.Aliases {
		list = append(list, e.Name, e.Before, e.After)
	}
	dst = appendStrings(dst, 6, list)
	list = list[:0]
	for _, e := range v.Overrides {
		list = append(list, string([]byte{byte(e.Kind)})+e.Owner, e.Before, e.After)
	}
	dst = appendStrings(dst, 7, list)
	dst = appendBool(dst, 8, v.Made)
	dst = appendStrings(dst, 9, v.Reads)
	return appendStrings(dst, 10, v.Writes)
}

// DecodeChange reads what AppendChange wrote.
func DecodeChange(b []byte, v *Change) error {
	*v = Change{}
	f := openFields(b)
	for f.next() {
		switch f.field {
		case 1:
			v.Kind = ChangeKind(f.uint8())
		case 2:
			v.Of = Kind(f.uint8())
		case 3:
			v.Names = f.strings(nil)
		case 4:
			v.Created = f.int64()
		case 5:
			v.Undone = f.int64()
		case 6:
			f.triples(func(a, b, c string) bool {
				v.Aliases = append(v.Aliases, AliasEdit{a, b, c})
				return true
			})
		case 7:
			f.triples(func(a, b, c string) bool {
				if a == "" {
					return false
				}
				v.Overrides = append(v.Overrides, OverrideEdit{Kind(a[0]), a[1:], b, c})
				return true
			})
		case 8:
			v.Made = f.bool()
		case 9:
			v.Reads = f.strings(nil)
		case 10:
			v.Writes = f.strings(nil)
		default:
			f.skip()
		}
	}
	return f.close("change")
}

// triples reads a list of strings that come in threes.
func (f *fields) triples(add func(a, b, c string) bool) {
	list := f.strings(nil)
	if len(list)%3 != 0 {
		f.fail("not a whole number of edits")
		return
	}
	for i := 0; i < len(list); i += 3 {
		if !add(list[i], list[i+1], list[i+2]) {
			f.fail("edit without a kind")
			return
		}
	}
}
