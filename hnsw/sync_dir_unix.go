//go:build unix

package hnsw

import (
	"errors"
	"fmt"
	"os"
)

// syncDir makes a renaming in a folder durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err == nil {
		err = errors.Join(d.Sync(), d.Close())
	}
	if err != nil {
		return fmt.Errorf("hnsw: save: %w", err)
	}
	return nil
}
