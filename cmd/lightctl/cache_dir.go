package main

import (
	"path/filepath"
	"runtime"
)

// cacheDir is where what can be made again is kept between runs: LIGHTRAG_CACHE,
// else a directory of our own where the platform keeps caches. It is "" if the
// environment names no place.
func (a *app) cacheDir() string {
	if dir := a.env("LIGHTRAG_CACHE"); dir != "" {
		return dir
	}
	base := a.env("XDG_CACHE_HOME")
	switch home := a.env("HOME"); runtime.GOOS {
	case "windows":
		base = a.env("LocalAppData")
	case "darwin", "ios":
		if base = ""; home != "" {
			base = filepath.Join(home, "Library", "Caches")
		}
	default:
		if base == "" && home != "" {
			base = filepath.Join(home, ".cache")
		}
	}
	if !filepath.IsAbs(base) {
		return ""
	}
	return filepath.Join(base, "lightctl")
}
