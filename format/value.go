package format

// Values that are a single id: four bytes, big endian.

// AppendDocID appends the value of a document name row.
func AppendDocID(dst []byte, id DocID) []byte { return be.AppendUint32(dst, uint32(id)) }

// DecodeDocID is the inverse of AppendDocID.
func DecodeDocID(b []byte) (DocID, error) {
	id, err := decodeIDValue(b, "document id")
	return DocID(id), err
}

// AppendEntityID appends the value of a name row or an alias row.
func AppendEntityID(dst []byte, id EntityID) []byte { return be.AppendUint32(dst, uint32(id)) }

// DecodeEntityID is the inverse of AppendEntityID.
func DecodeEntityID(b []byte) (EntityID, error) {
	id, err := decodeIDValue(b, "entity id")
	return EntityID(id), err
}

// AppendRelationID appends the value of a pair row.
func AppendRelationID(dst []byte, id RelationID) []byte { return be.AppendUint32(dst, uint32(id)) }

// DecodeRelationID is the inverse of AppendRelationID.
func DecodeRelationID(b []byte) (RelationID, error) {
	id, err := decodeIDValue(b, "relation id")
	return RelationID(id), err
}

func decodeIDValue(b []byte, what string) (uint32, error) {
	if len(b) != 4 {
		return 0, corruptf("%s of %d bytes", what, len(b))
	}
	return be.Uint32(b), nil
}
