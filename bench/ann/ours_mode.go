package main

import (
	"reflect"

	"github.com/lightctl/lightrag/hnsw"
)

// walkRows makes a graph walk on float32 rows; false where it does so anyway.
func walkRows(o *hnsw.Options) bool {
	field := reflect.ValueOf(o).Elem().FieldByName("Walk")
	if !field.IsValid() {
		return false
	}
	field.SetUint(1)
	return true
}
