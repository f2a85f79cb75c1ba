package main

import (
	"strings"
	"testing"
)

func TestRebuildIndex(t *testing.T) {
	b, srv, flags := scripted(t)
	b.exits(exitNotFound, "rebuild-index")
	b.exits(exitNotFound, "rebuild-index", "--re-embed")
	b.ok(with(flags, "index", "--pre-chunked", b.file("chunks.jsonl", chunked))...)
	plain := decode[rebuildJSON](t, b.ok("rebuild-index", "--json"))
	if plain.ReEmbedded || plain.Texts != 0 || plain.Index["chunk"].Vectors != 2 || len(srv.Embeds()) != 0 {
		t.Errorf("%+v", plain)
	}

	other := append([]string{"--embed-url", srv.URL, "--embed-model", "fake-embed"}, flags...)
	r := b.exits(exitFailure, with(other, "query", "who?")...)
	if !strings.Contains(r.err, "rebuild-index --re-embed") || !strings.Contains(r.err, "fake-embed") {
		t.Errorf("%s", r.err)
	}
	got := decode[rebuildJSON](t, b.ok(with(other, "rebuild-index", "--re-embed", "--json")...))
	vectors := 0
	for _, x := range got.Index {
		vectors += int(x.Vectors)
	}
	if !got.ReEmbedded || got.Texts != vectors || vectors < 4 || got.Identity.Embedder != "fake-embed" || got.Identity.Dim == plain.Identity.Dim {
		t.Errorf("%+v", got)
	}
	b.ok(with(other, "query", "--json", "who wrote the first program?")...)
	b.ok("check", "--deep")
	b.exits(exitFailure, with(flags, "query", "who?")...)
	back := decode[rebuildJSON](t, b.ok("rebuild-index", "--re-embed", "--offline", "--json"))
	if back.Identity != plain.Identity {
		t.Errorf("%+v, want %+v", back.Identity, plain.Identity)
	}
	b.ok(with(flags, "query", "--json", "who?")...)
}
