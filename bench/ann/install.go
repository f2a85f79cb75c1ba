package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// recipe says how the driver of a peer is made from what the machine has.
type recipe struct {
	peer  string // as in --peers
	whole bool   // runs on all rows and seeds, in the two-thread part too; others on 20,000 rows with one seed
	cc    string // source in peers/cc; "" = a command of the nested module
	flags []string
	pkg   string // Debian package of a C++ library
	probe string // header that tells whether it is there
	dir   string // folder of the nested module, from peers
	exact bool   // has no graph: one point, few queries
	keeps bool   // keeps the slices it is given, which are not counted as its memory then
	slow  bool   // takes a minute to compile: with --quick only when asked for
}

func recipes() []recipe {
	return []recipe{
		{peer: "hnswlib", whole: true, cc: "hnswlib.cc", pkg: "libhnswlib-dev", probe: "hnswlib/hnswlib.h"},
		{peer: "faiss-flat", cc: "faiss.cc", flags: []string{"-fopenmp", "-lfaiss", "-lopenblas"}, pkg: "libfaiss-dev", probe: "faiss/IndexHNSW.h"},
		{peer: "faiss-sq8", cc: "faiss.cc", flags: []string{"-DPEER_SQ", "-fopenmp", "-lfaiss", "-lopenblas"}, pkg: "libfaiss-dev", probe: "faiss/IndexHNSW.h"},
		{peer: "coder", dir: ".", pkg: "./coder", keeps: true},
		{peer: "chromem", dir: ".", pkg: "./chromem", exact: true},
		{peer: "weaviate", dir: "weaviate", pkg: ".", keeps: true, slow: true},
	}
}

// aptLine installs what the C++ peers need on Debian.
const aptLine = "apt-get install -y g++ libhnswlib-dev libfaiss-dev libopenblas-dev"

// errNotFound says that a peer is not on this machine.
var errNotFound = errors.New("not found")

// workshop makes drivers in a temporary folder.
type workshop struct {
	source  string // bench/ann/peers
	dir     string
	hnswlib string // a checkout to take instead of the package; "" = none
	faiss   string // an installed one to take instead of the package; "" = none
}

// make builds the driver of a peer and returns its path.
func (w *workshop) make(ctx context.Context, r recipe) (string, error) {
	program := filepath.Join(w.dir, r.peer)
	if r.cc == "" {
		cmd := exec.CommandContext(ctx, "go", "build", "-o", program, r.pkg)
		cmd.Dir = filepath.Join(w.source, r.dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%w: go build: %v: %s", errNotFound, err, lastLine(out))
		}
		return program, nil
	}
	compiler, err := exec.LookPath("g++")
	if err != nil {
		return "", fmt.Errorf("%w: no g++ (%s)", errNotFound, aptLine)
	}
	args := []string{"-O3", "-march=native", "-DNDEBUG", "-std=c++17", "-pthread"}
	version := debianVersion(ctx, r.pkg)
	if w.hnswlib != "" && r.cc == "hnswlib.cc" {
		args = append(args, "-I", w.hnswlib)
		version = checkoutVersion(ctx, w.hnswlib)
		if _, err := os.Stat(filepath.Join(w.hnswlib, r.probe)); err != nil {
			return "", fmt.Errorf("%w: %w", errNotFound, err)
		}
	} else if w.faiss != "" && r.cc == "faiss.cc" {
		lib := filepath.Join(w.faiss, "lib")
		args = append(args, "-I", filepath.Join(w.faiss, "include"), "-L", lib, "-Wl,-rpath,"+lib)
	} else if exec.CommandContext(ctx, compiler, "-std=c++17", "-E", "-x", "c++", "-include", r.probe, "/dev/null", "-o", "/dev/null").Run() != nil {
		return "", fmt.Errorf("%w: no %s (%s)", errNotFound, r.probe, aptLine)
	}
	args = append(args, fmt.Sprintf("-DPEER_VERSION=%q", version), filepath.Join(w.source, "cc", r.cc), "-o", program)
	args = append(args, r.flags...)
	if out, err := exec.CommandContext(ctx, compiler, args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: g++: %v: %s", errNotFound, err, lastLine(out))
	}
	return program, nil
}

// debianVersion returns the version of an installed package, "unknown" where that cannot be told.
func debianVersion(ctx context.Context, pkg string) string {
	out, err := exec.CommandContext(ctx, "dpkg-query", "-W", "-f", "${Version}", pkg).Output()
	if err != nil || len(out) == 0 {
		return "unknown"
	}
	version, _, _ := strings.Cut(string(out), "-")
	return version
}

// checkoutVersion names the commit of a checkout.
func checkoutVersion(ctx context.Context, dir string) string {
	out, err := exec.CommandContext(ctx, "git", "-C", dir, "describe", "--tags", "--always", "--dirty").Output()
	if err != nil {
		return "checkout"
	}
	return strings.TrimSpace(string(out))
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}

// moduleFolder returns the folder of this module.
func moduleFolder(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Module.Dir}}", "github.com/lightctl/lightrag/hnsw").Output()
	if err != nil {
		return "", fmt.Errorf("the folder of the module: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// wanted keeps the recipes that names asks for; nil keeps all.
func wanted(all []recipe, names []string) []recipe {
	if names == nil {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(r recipe) bool { return !slices.Contains(names, r.peer) })
}
