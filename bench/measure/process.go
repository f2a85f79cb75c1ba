package measure

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"
)

// Span is a stretch of time that one goroutine measures, on two clocks.
type Span struct {
	Wall, CPU time.Duration
}

// Sub returns s without o.
func (s Span) Sub(o Span) Span { return Span{s.Wall - o.Wall, s.CPU - o.CPU} }

// Add returns s and o together.
func (s Span) Add(o Span) Span { return Span{s.Wall + o.Wall, s.CPU + o.CPU} }

// Start returns a function that returns what has passed since. CPU is that of
// the whole process, 0 where it cannot be told.
func Start() func() Span {
	cpu, _ := ProcessCPU()
	wall := time.Now()
	return func() Span {
		s := Span{Wall: time.Since(wall)}
		now, _ := ProcessCPU()
		s.CPU = now - cpu
		return s
	}
}

// StartThread is Start with the CPU time of the calling thread, to which the
// goroutine stays locked until the returned function has been called.
func StartThread() func() Span {
	runtime.LockOSThread()
	cpu, _ := ThreadCPU()
	wall := time.Now()
	return func() Span {
		s := Span{Wall: time.Since(wall)}
		now, _ := ThreadCPU()
		s.CPU = now - cpu
		runtime.UnlockOSThread()
		return s
	}
}

// BytesWritten returns what the process has sent to storage so far, as the
// kernel counts it; false where there is no /proc/self/io.
func BytesWritten() (int64, bool) { return procField("/proc/self/io", "write_bytes:", 1) }

// ResidentBytes returns the resident set size of the process and its peak.
func ResidentBytes() (now, peak int64, ok bool) {
	now, ok = procField("/proc/self/status", "VmRSS:", 1024)
	peak, ok2 := procField("/proc/self/status", "VmHWM:", 1024)
	return now, peak, ok && ok2
}

func procField(file, field string, unit int64) (int64, bool) {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(b) {
		if rest, ok := bytes.CutPrefix(line, []byte(field)); ok {
			words := bytes.Fields(rest)
			if len(words) == 0 {
				return 0, false
			}
			n, err := strconv.ParseInt(string(words[0]), 10, 64)
			return n * unit, err == nil
		}
	}
	return 0, false
}

// DirBytes returns the total size of the files below dir.
func DirBytes(dir string) (int64, error) {
	var sum int64
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	return sum, err
}
