//go:build !unix

package hnsw

// syncDir does nothing where folders cannot be synced.
func syncDir(string) error { return nil }
