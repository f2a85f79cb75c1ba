package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBackup(t *testing.T) {
	b, _, flags := scripted(t)
	dst := filepath.Join(b.dir, "copy")
	b.exits(exitNotFound, "backup", dst)
	b.exits(exitUsage, "backup")
	b.ok(with(flags, "index", "--pre-chunked", b.file("chunks.jsonl", chunked))...)
	want := b.ok("graph", "export").out
	got := decode[backupJSON](t, b.ok("backup", "--json", dst))
	if got.Path != dst || got.Bytes == 0 {
		t.Errorf("%+v", got)
	}
	r := b.exits(exitFailure, "backup", dst)
	if !strings.Contains(r.err, dst+" exists") {
		t.Errorf("%s", r.err)
	}
	if err := os.RemoveAll(b.env["LIGHTRAG_DB"]); err != nil {
		t.Fatal(err)
	}
	b.ok("check", "--deep", "--db", dst)
	if export := b.ok("graph", "export", "--db", dst).out; export != want {
		t.Errorf("the copy exports\n%s\nthe store\n%s", export, want)
	}
}
