package engine

import (
	"errors"
	"slices"
	"testing"
)

func TestTypesOfAView(t *testing.T) {
	db, _ := planets(t, nil)
	v := db.View()
	want := []TypeCount{{"planet", 2}, {"UNKNOWN", 1}, {"comet", 1}, {"moon", 1}}
	if got, err := v.Types(); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	v.Close()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	closed := db.View()
	defer closed.Close()
	if _, err := closed.Types(); !errors.Is(err, ErrClosed) {
		t.Errorf("of a closed store: %v", err)
	}
}
