package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A source is the unpacked files of one Debian package.
type source struct {
	name    string
	version string
	root    string // the directory that stands for /
}

// path returns the place of a file that the package installs at abs.
func (s source) path(abs string) string { return filepath.Join(s.root, filepath.FromSlash(abs)) }

// defaultWork is the default directory of unpacked packages.
func defaultWork() string {
	base, err := os.UserCacheDir()
	if err != nil {
		base = os.TempDir()
	}
	return filepath.Join(base, "lightrag-train")
}

// unpack returns the files of a package under work, which it fetches unless an
// earlier run has done so. A package that is named "name=version" is fetched in
// that version; apt says so when its mirror no longer has it.
func unpack(work, pkg string) (source, error) {
	name, version, _ := strings.Cut(pkg, "=")
	dir := filepath.Join(work, strings.ReplaceAll(pkg, "=", "_"))
	s := source{name: name, version: version, root: filepath.Join(dir, "root")}
	if have, err := os.ReadFile(filepath.Join(dir, "version")); err == nil {
		s.version = string(have)
		return s, nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return s, err
	}
	if err := os.MkdirAll(s.root, 0o755); err != nil {
		return s, err
	}
	fetch := exec.Command("apt-get", "download", "-q", pkg)
	fetch.Dir = dir
	if out, err := fetch.CombinedOutput(); err != nil {
		return s, fmt.Errorf("apt-get download %s (apt-get update first?): %w\n%s", pkg, err, out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil || len(files) != 1 {
		return s, fmt.Errorf("apt-get download %s: %d files", pkg, len(files))
	}
	if out, err := exec.Command("dpkg-deb", "-x", files[0], s.root).CombinedOutput(); err != nil {
		return s, fmt.Errorf("unpack %s: %w\n%s", pkg, err, out)
	}
	out, err := exec.Command("dpkg-deb", "-f", files[0], "Version").Output()
	if err != nil {
		return s, fmt.Errorf("version of %s: %w", pkg, err)
	}
	s.version = strings.TrimSpace(string(out))
	// Written last: a directory without it is an interrupted run.
	return s, os.WriteFile(filepath.Join(dir, "version"), []byte(s.version), 0o644)
}

// The packages that the tables are made from. Their licences allow any use of what
// is derived from their text, if they are named.
const (
	wordnetPackage = "wordnet-base"
	officePackage  = "libreoffice-help-en-us"
	pythonPackage  = "python3.11-doc"
)

// sources is the command of that name: one line for each package.
func sources(args []string) error {
	flags := flag.NewFlagSet("sources", flag.ContinueOnError)
	work := flags.String("work", defaultWork(), "`directory` of unpacked packages")
	if err := flags.Parse(args); err != nil {
		return err
	}
	for _, pkg := range []string{wordnetPackage, officePackage, pythonPackage} {
		s, err := unpack(*work, pkg)
		if err != nil {
			return err
		}
		fmt.Printf("%s %s %s\n", s.name, s.version, s.path("/usr/share/doc/"+s.name+"/copyright"))
	}
	return nil
}
