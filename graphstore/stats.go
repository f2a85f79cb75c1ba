package graphstore

import "github.com/lightctl/lightrag/format"

// Stats describes the newest published view and the files. It takes locks of
// the key-value store: ask at most about once a second.
func (s *Store) Stats() Stats {
	st, err := s.acquire()
	if err != nil {
		return Stats{}
	}
	defer st.release()
	out := Stats{
		Counts: st.counts(), Seq: st.seq, Stale: st.stale, BufferedBytes: st.buffered,
		Identity: s.ident, CacheBytes: s.opts.CacheBytes,
	}
	out.Views, out.OldestView, out.LiveViewStates = s.readers()
	out.Views = max(out.Views-1, 0) // this one
	out.MemoryBytes, _ = st.cols.Bytes()
	for _, seg := range s.db.Segments() {
		out.Segments++
		out.SegmentBytes += seg.Length
	}
	out.PostingsWritten = s.postingBytes.Load()
	out.PostingsBytes = s.db.TableBytes(format.TablePostings)
	if m := s.db.Metrics(); m != nil {
		out.DiskBytes = m.DiskSpaceUsage()
		out.WALBytes = m.WAL.Size
		out.MemTableBytes = m.MemTable.Size
		out.CacheHits, out.CacheMisses = m.BlockCache.Hits, m.BlockCache.Misses
		out.CompactionDebt = m.Compact.EstimatedDebt
		out.KV = m.String()
	}
	return out
}
