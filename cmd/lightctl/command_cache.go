package main

import (
	"github.com/spf13/cobra"

	"github.com/lightctl/lightrag/engine"
)

func (a *app) cacheCommand() *cobra.Command {
	return group("cache", "The cache of model answers",
		&cobra.Command{
			Use:   "stats",
			Short: "How many answers are cached, and their size",
			Args:  arguments(0, 0),
			RunE:  func(*cobra.Command, []string) error { return a.cacheStats() },
		},
		&cobra.Command{
			Use:   "clear",
			Short: "Remove all cached answers; making them again costs model calls",
			Args:  arguments(0, 0),
			RunE:  func(*cobra.Command, []string) error { return a.cacheClear() },
		},
	)
}

func (a *app) cacheStats() error {
	db, err := a.openView()
	if err != nil {
		return err
	}
	defer db.Close()
	s, err := db.CacheStats()
	if err != nil {
		return err
	}
	if a.json {
		return writeJSON(a.out, s)
	}
	return a.say("%s cached, %s\n", plural(s.Answers, "answer"), bytesText(s.Bytes))
}

func (a *app) cacheClear() error {
	db, err := a.openEdit()
	if err != nil {
		return err
	}
	s, err := clearCache(db)
	if cerr := db.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	if a.json {
		return writeJSON(a.out, struct {
			Cleared engine.CacheStats `json:"cleared"`
		}{s})
	}
	return a.say("removed %s, %s\n", plural(s.Answers, "answer"), bytesText(s.Bytes))
}

func clearCache(db *engine.DB) (engine.CacheStats, error) {
	s, err := db.CacheStats()
	if err != nil {
		return s, err
	}
	return s, db.ClearCache()
}
