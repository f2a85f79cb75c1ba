package main

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/lightctl/lightrag/engine"
	"github.com/lightctl/lightrag/llm"
	"github.com/lightctl/lightrag/llm/offline"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Build and format versions",
		Args:  arguments(0, 0),
		RunE:  func(*cobra.Command, []string) error { return a.version() },
	}
}

type versionJSON struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Format   int    `json:"format"`
	Prompts  string `json:"prompts"`
	Offline  string `json:"offline"`
}

func (a *app) version() error {
	v := versionJSON{
		Version: "devel", Commit: "unknown", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Format: engine.FormatVersion, Prompts: llm.PromptVersion, Offline: offline.NewCompleter().Model(),
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		if m := info.Main.Version; m != "" && m != "(devel)" {
			v.Version = m
		}
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				v.Commit = s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				v.Commit += "+modified"
			}
		}
	}
	if a.json {
		return writeJSON(a.out, v)
	}
	t := a.table()
	t.row("lightctl", v.Version)
	t.row("commit", v.Commit)
	t.row("go", v.Go+" "+v.Platform)
	t.row("store format", v.Format)
	t.row("prompts", v.Prompts)
	t.row("offline model", v.Offline)
	return t.flush()
}
