package durable

import (
	"fmt"
	"log/slog"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	sst "github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// formatMajorVersion is pinned: Pebble's default is so old that a damaged log
// drops acknowledged writes in silence, and a newer one cannot be undone.
const formatMajorVersion = pebble.FormatValueSeparation

// pebbleOptions returns the options of every database this package opens.
func pebbleOptions(o Options, fs vfs.FS, h *health, cache *pebble.Cache, readOnly bool) *pebble.Options {
	p := &pebble.Options{
		FS:                          fs,
		Cache:                       cache,
		FormatMajorVersion:          formatMajorVersion,
		Merger:                      postingsMerger(),
		Logger:                      &logger{log: o.Logger, health: h},
		EventListener:               listener(o.Logger, h),
		ErrorIfNotExists:            true,
		ReadOnly:                    readOnly,
		MemTableSize:                uint64(o.MemTableBytes),
		MemTableStopWritesThreshold: 4,
		// A stalled Apply waits for a compaction that may never succeed; the
		// rate of writes is bounded by language models, not by the disk.
		L0StopWritesThreshold:      1000,
		MaxOpenFiles:               256,
		CompactionConcurrencyRange: func() (int, int) { return 1, 2 },
	}
	p.Experimental.FileCacheShards = 2
	// The default scheduler has a goroutine that a failed Open leaves behind.
	// All it adds is to start a second compaction within 100 ms rather than
	// when the first one ends: one that waits is granted by the end of another.
	p.Experimental.CompactionScheduler = pebble.NewConcurrencyLimitSchedulerWithNoPeriodicGrantingForTest()
	// A commit on a store that was just opened reads cold blocks: unpacking them
	// with zstd was a seventh of its CPU, and saves 7 % of the disk.
	// What is flushed is packed with the first compaction: it is rewritten soon, and
	// a third of it are vectors, which do not get smaller.
	p.ApplyCompressionSettings(func() pebble.DBCompressionSettings {
		c := pebble.DBCompressionFastest
		c.Levels[0] = sst.NoCompression
		return c
	})
	for i := range p.Levels {
		p.Levels[i].BlockSize = 32 << 10
		p.Levels[i].IndexBlockSize = 256 << 10
		p.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
		p.Levels[i].FilterType = pebble.TableFilter
	}
	return p
}

// logger is where Pebble's messages go. Pebble's own logger writes to the
// standard error stream, and its Fatalf exits the process.
type logger struct {
	log    *slog.Logger
	health *health
}

func (l *logger) Infof(text string, args ...any) { l.log.Debug(fmt.Sprintf(text, args...)) }

func (l *logger) Errorf(text string, args ...any) { l.log.Warn(fmt.Sprintf(text, args...)) }

// Fatalf fails the store and returns. Returning is safe because the shield
// lets nothing reach the disk any more, and it is the only choice that leaves
// no goroutine of the host or of Pebble dead with a lock in its hands.
func (l *logger) Fatalf(text string, args ...any) {
	l.health.fatals.Add(1)
	l.health.fail(fmt.Errorf(text, args...))
}

// listener sets every event that Pebble would otherwise log, or exit on.
func listener(log *slog.Logger, h *health) *pebble.EventListener {
	return &pebble.EventListener{
		BackgroundError: h.backgroundError,
		DataCorruption: func(info pebble.DataCorruptionInfo) {
			// The read or the compaction that met it returns the error.
			log.Error("damaged table", "path", info.Path, "error", &brief{info.Details})
		},
		DiskSlow:        func(info pebble.DiskSlowInfo) { log.Warn("slow disk", "info", info.String()) },
		WriteStallBegin: func(info pebble.WriteStallBeginInfo) { log.Warn("writes stalled", "info", info.String()) },
		WriteStallEnd:   func() { log.Warn("writes resumed") },
		FlushEnd: func(info pebble.FlushInfo) {
			if info.Err == nil {
				h.backgroundSuccess()
			}
		},
		CompactionEnd: func(info pebble.CompactionInfo) {
			if info.Err == nil {
				h.backgroundSuccess()
			}
		},
	}
}
