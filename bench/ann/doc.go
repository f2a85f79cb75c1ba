// Command ann compares package hnsw with other vector indexes, on the same vectors in the same run, and prints
// one row a figure with its goal, and the curves of recall against queries per second.
//
//	go run ./bench/ann [--quick] [--json] [--only NAME,...] [--peers NAME,...] [--plot FILE]
//
// The run that tells most in the least time is real text against hnswlib, about a minute of CPU:
//
//	go run ./bench/ann --quick --only text --peers hnswlib
//
// What was measured is printed after an interrupt, too. With --peers none only this module is measured. --profile DIR
// writes CPU profiles of our builds; --plot FILE draws the curves into an SVG or PNG file. With --quick there is one
// seed, 20,000 rows (fewer of more than 384 dimensions, and for the peers other than hnswlib), 300 queries of a mixture,
// and no ef beyond 256: within three minutes on two free cores; without it, within thirty.
//
// # Peers
//
// C++ libraries are measured through small programs in peers/cc, which are compiled into a temporary folder when
// they are needed. On Debian:
//
//	apt-get install -y g++ libhnswlib-dev libfaiss-dev libopenblas-dev
//
// --hnswlib DIR takes a checkout of hnswlib instead of the package, --faiss DIR an installed faiss. Peers in Go
// are in modules of their own below peers, so that this module does not depend on them; the go command fetches
// them. A peer that is not there is reported as not found; nothing fails for it.
//
// hnswlib runs on all data and seeds; our walk by float32 rows only on real text, where it has a goal. The others
// (faiss HNSW over float32 and over 8-bit codes, weaviate, coder/hnsw, and chromem-go, which scans) run on 20,000
// rows with one seed, ours beside them.
//
// # Method
//
// All indexes have M 16 and efConstruction 200. Recall@10 is counted here, from row numbers, against a scan of
// all rows with another library's inner product; a row as near as the tenth counts as the tenth. Queries per
// second are per second of CPU time of the one thread that searches, on one core (for peers in Go, of the
// process: their garbage is theirs), so that they depend little on what else the machine does. A pass over the
// 1,000 queries warms up and gives the recall, then the median of three repeats of whole passes, at least 0.25 s
// each, counts. Contenders take turns at every point, so that a drift of the machine meets all of them. A rate
// at a recall is interpolated between the points around it, log against log. Ratios are made seed by seed, and
// the median of three seeds counts. A curve ends where its recall is .999 or more. Build times are CPU times of the
// process, one thread for the first seed, two for the others.
//
// What a second thread adds is wall time, and says something only on a machine with two free cores: to a build, the
// median of five pairs of builds, one right after the other, for ours (one pair for the peers, and with --quick); to
// searches, the best of three.
//
// The sections after the comparisons measure this module alone, against its own goals.
//
// # Limits
//
// Other programs share caches, memory and cores' second threads with a measurement: on a busy machine rates of
// all contenders fall, and ratios move by a tenth or two. faiss is handed all queries in one call, because it
// allocates per call; the others one by one. Debian builds faiss for the oldest amd64 processors, several times
// slower than a build for this one, which --faiss takes. hnswlib's version is that of its Debian package. There
// are no vectors of a neural embedding here.
//
// # Data
//
// Real text is in the folder of $LIGHTRAG_SHARED, or in ../shared beside the module: 20,000 glosses of WordNet as
// latent semantic vectors of 384 dimensions. The mixtures are made here, the same ones on every machine: 1,000
// clusters of Zipf-like sizes, 48 dimensions inside a cluster, and noise. Queries are of the same kind, held
// out.
package main
