// Package driver is the part of a peer's driver that peers in Go share. The protocol is that of cc/driver.h.
package driver

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Data is unit vectors, row-major.
type Data struct {
	Rows, Dim, Queries int
	Base, Query        []float32
}

// Row returns row i, borrowed.
func (d *Data) Row(i int) []float32 { return d.Base[i*d.Dim : (i+1)*d.Dim : (i+1)*d.Dim] }

// Q returns query i, borrowed.
func (d *Data) Q(i int) []float32 { return d.Query[i*d.Dim : (i+1)*d.Dim : (i+1)*d.Dim] }

// Peer is an index under measurement.
type Peer interface {
	// Build indexes the first rows anew.
	Build(d *Data, rows int, seed uint64, threads, m, efConstruction int) error
	// Prepare sets the width of searches.
	Prepare(ef int) error
	// Search fills ids with the row numbers that it finds, -1 where there are fewer.
	Search(q []float32, ids []int32) error
}

// Main answers commands until the end of input. module is the path of the peer's module, whose version it tells.
func Main(name, module string, p Peer) {
	if err := run(name, module, p); err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		os.Exit(1)
	}
}

func run(name, module string, p Peer) error {
	if len(os.Args) != 4 {
		return errors.New("usage: DATA IDS CPU")
	}
	d, err := read(os.Args[1])
	if err != nil {
		return err
	}
	cpu, err := strconv.Atoi(os.Args[3])
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(map[string]string{"peer": name, "version": version(module)}); err != nil {
		return err
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		answer, err := command(p, d, in.Text(), os.Args[2], cpu)
		if err != nil {
			answer = map[string]string{"error": err.Error()}
		}
		if err := out.Encode(answer); err != nil {
			return err
		}
	}
	return in.Err()
}

func version(module string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if dep.Path == module {
				return strings.TrimPrefix(dep.Version, "v")
			}
		}
	}
	return "unknown"
}

func command(p Peer, d *Data, line, ids string, cpu int) (any, error) {
	var a [5]int
	if n, _ := fmt.Sscanf(line, "build %d %d %d %d %d", &a[0], &a[1], &a[2], &a[3], &a[4]); n == 5 {
		return build(p, d, min(a[0], d.Rows), uint64(a[1]), a[2], a[3], a[4])
	}
	if n, _ := fmt.Sscanf(line, "search %d %d %d %d %d", &a[0], &a[1], &a[2], &a[3], &a[4]); n == 5 {
		if a[2] != 1 {
			return nil, errors.New("searches with one thread only")
		}
		return search(p, d, a[0], a[1], time.Duration(a[3]), min(a[4], d.Queries), ids, cpu)
	}
	return nil, errors.New("unknown command")
}

func build(p Peer, d *Data, rows int, seed uint64, threads, m, efConstruction int) (any, error) {
	debug.FreeOSMemory()
	rss := resident()
	cpu, wall := clock(unix.CLOCK_PROCESS_CPUTIME_ID), time.Now()
	if err := p.Build(d, rows, seed, threads, m, efConstruction); err != nil {
		return nil, err
	}
	took := map[string]int64{
		"cpu_ns":  int64(clock(unix.CLOCK_PROCESS_CPUTIME_ID) - cpu),
		"wall_ns": time.Since(wall).Nanoseconds(),
	}
	debug.FreeOSMemory() // what the collector would free on its own
	took["rss"] = resident() - rss
	return took, nil
}

func search(p Peer, d *Data, k, ef int, atLeast time.Duration, count int, path string, core int) (any, error) {
	if err := p.Prepare(ef); err != nil {
		return nil, err
	}
	ids := make([]int32, k*count)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, one unix.CPUSet
	one.Set(core)
	if unix.SchedGetaffinity(0, &before) == nil && unix.SchedSetaffinity(0, &one) == nil {
		defer unix.SchedSetaffinity(0, &before)
	}
	var cpu, wall time.Duration
	queries := 0
	for queries == 0 || cpu < atLeast {
		// The process, not the thread: some search with goroutines of their own, and their garbage is theirs.
		c, w := clock(unix.CLOCK_PROCESS_CPUTIME_ID), time.Now()
		for i := range count {
			if err := p.Search(d.Q(i), ids[i*k:(i+1)*k]); err != nil {
				return nil, err
			}
		}
		cpu, wall, queries = cpu+clock(unix.CLOCK_PROCESS_CPUTIME_ID)-c, wall+time.Since(w), queries+count
	}
	b := make([]byte, 4*len(ids))
	for i, id := range ids {
		binary.NativeEndian.PutUint32(b[4*i:], uint32(id))
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		return nil, err
	}
	return map[string]int64{"queries": int64(queries), "cpu_ns": int64(cpu), "wall_ns": int64(wall)}, nil
}

func read(path string) (*Data, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var head [4]uint32
	if err := binary.Read(f, binary.LittleEndian, &head); err != nil {
		return nil, err
	}
	if head[0] != 0x314e4e41 {
		return nil, fmt.Errorf("%s is not a data file", path)
	}
	d := &Data{Rows: int(head[1]), Dim: int(head[2]), Queries: int(head[3])}
	if d.Base, err = floats(f, d.Rows*d.Dim); err == nil {
		d.Query, err = floats(f, d.Queries*d.Dim)
	}
	return d, err
}

func floats(r io.Reader, n int) ([]float32, error) {
	v := make([]float32, n)
	return v, binary.Read(r, binary.LittleEndian, v)
}

func clock(id int32) time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(id, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

func resident() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var total, pages int64
	fmt.Sscan(string(b), &total, &pages)
	return pages * int64(os.Getpagesize())
}
