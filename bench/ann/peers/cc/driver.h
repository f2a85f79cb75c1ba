// The part of a peer's driver that all peers share: it reads the vectors, takes one command a line on standard
// input and answers each with one line of JSON on standard output. The same protocol as peers/driver in Go.
//
//   build ROWS SEED THREADS M EF_CONSTRUCTION     {"cpu_ns","wall_ns","rss"}
//   search K EF THREADS MIN_NS QUERIES            {"queries","cpu_ns","wall_ns"}, row numbers in the ids file
//
// A failure is answered with {"error"}. End of input ends the driver.
#pragma once
#include <malloc.h>
#include <sched.h>
#include <stdint.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct Data {
    uint32_t n = 0, dim = 0, queries = 0;
    std::vector<float> base, query;  // row-major unit vectors
};

// Peer is what a driver implements. build is called more than once: each call starts anew.
struct Peer {
    virtual ~Peer() {}
    virtual void build(const Data& data, size_t rows, unsigned seed, int threads, int m, int efConstruction) = 0;
    // search writes k row numbers for each of the queries from first on, in any order, -1 where there is none.
    // threads is that of the caller's split: each of them calls search for its own queries.
    virtual void prepare(int ef, int threads) = 0;
    virtual void search(const float* query, size_t count, size_t k, int32_t* ids) = 0;
    // batch is the number of queries to hand to search at once with one thread.
    virtual size_t batch() const { return 1; }
};

inline int64_t nanoseconds(clockid_t clock) {
    timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

inline int64_t residentBytes() {
    long total = 0, resident = 0;
    if (FILE* f = fopen("/proc/self/statm", "r")) {
        if (fscanf(f, "%ld %ld", &total, &resident) != 2) resident = 0;
        fclose(f);
    }
    return resident * 4096LL;
}

// parallel runs f(i) for all i below n.
inline void parallel(size_t n, int threads, const std::function<void(size_t)>& f) {
    if (threads <= 1) {
        for (size_t i = 0; i < n; i++) f(i);
        return;
    }
    std::atomic<size_t> next{0};
    std::vector<std::thread> workers;
    for (int t = 0; t < threads; t++)
        workers.emplace_back([&] {
            for (size_t i; (i = next.fetch_add(1)) < n;) f(i);
        });
    for (auto& w : workers) w.join();
}

inline bool readData(const char* path, Data& d) {
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    uint32_t head[4];
    bool ok = fread(head, 4, 4, f) == 4 && head[0] == 0x314e4e41;  // "ANN1"
    if (ok) {
        d.n = head[1], d.dim = head[2], d.queries = head[3];
        d.base.resize(size_t(d.n) * d.dim);
        d.query.resize(size_t(d.queries) * d.dim);
        ok = fread(d.base.data(), 4, d.base.size(), f) == d.base.size() &&
             fread(d.query.data(), 4, d.query.size(), f) == d.query.size();
    }
    fclose(f);
    return ok;
}

struct Timing {
    int64_t queries, cpu, wall;
};

inline Timing timed(Peer& peer, const Data& d, size_t k, int threads, int64_t atLeast, size_t count,
                    std::vector<int32_t>& ids) {
    const size_t batch = threads == 1 ? peer.batch() : 1;
    const size_t calls = (count + batch - 1) / batch;
    auto call = [&](size_t i) {
        size_t first = i % calls * batch, n = std::min(batch, count - first);
        peer.search(&d.query[first * d.dim], n, k, &ids[first * k]);
    };
    Timing t{0, 0, 0};
    size_t passes = 1;
    if (threads == 1) {
        while (t.queries == 0 || t.cpu < atLeast) {
            int64_t cpu = nanoseconds(CLOCK_THREAD_CPUTIME_ID), wall = nanoseconds(CLOCK_MONOTONIC);
            for (size_t i = 0; i < calls; i++) call(i);
            t.cpu += nanoseconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
            t.wall += nanoseconds(CLOCK_MONOTONIC) - wall;
            t.queries += count;
        }
        return t;
    }
    for (;;) {
        int64_t cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID), wall = nanoseconds(CLOCK_MONOTONIC);
        parallel(calls * passes, threads, call);
        t = {int64_t(count * passes), nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu, nanoseconds(CLOCK_MONOTONIC) - wall};
        if (t.wall >= atLeast) return t;
        passes = 1 + size_t(double(passes) * 1.2 * double(atLeast) / double(std::max<int64_t>(t.wall, 1000)));
    }
}

inline int drive(int argc, char** argv, const char* name, const std::string& version, Peer& peer) {
    if (argc != 4) {
        fprintf(stderr, "usage: %s DATA IDS CPU\n", argv[0]);
        return 2;
    }
    Data d;
    if (!readData(argv[1], d)) {
        fprintf(stderr, "%s: cannot read %s\n", name, argv[1]);
        return 1;
    }
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    CPU_SET(atoi(argv[3]), &one);
    auto place = [&](int threads) { sched_setaffinity(0, sizeof all, threads == 1 ? &one : &all); };
    printf("{\"peer\":\"%s\",\"version\":\"%s\"}\n", name, version.c_str());
    fflush(stdout);
    char line[256];
    while (fgets(line, sizeof line, stdin)) try {
            unsigned long long a[5];
            if (sscanf(line, "build %llu %llu %llu %llu %llu", a, a + 1, a + 2, a + 3, a + 4) == 5) {
                place(a[2]);
                malloc_trim(0);
                int64_t rss = residentBytes();
                int64_t cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID), wall = nanoseconds(CLOCK_MONOTONIC);
                peer.build(d, std::min<size_t>(a[0], d.n), a[1], a[2], a[3], a[4]);
                cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
                wall = nanoseconds(CLOCK_MONOTONIC) - wall;
                printf("{\"cpu_ns\":%lld,\"wall_ns\":%lld,\"rss\":%lld}\n", (long long)cpu, (long long)wall,
                       (long long)(residentBytes() - rss));
            } else if (sscanf(line, "search %llu %llu %llu %llu %llu", a, a + 1, a + 2, a + 3, a + 4) == 5) {
                size_t k = a[0], count = std::min<size_t>(a[4], d.queries);
                std::vector<int32_t> ids(k * count);
                place(a[2]);
                peer.prepare(a[1], a[2]);
                Timing t = timed(peer, d, k, a[2], a[3], count, ids);
                FILE* f = fopen(argv[2], "wb");
                bool ok = f && fwrite(ids.data(), 4, ids.size(), f) == ids.size();
                if (f) ok = fclose(f) == 0 && ok;
                if (!ok) throw std::runtime_error("cannot write the ids");
                printf("{\"queries\":%lld,\"cpu_ns\":%lld,\"wall_ns\":%lld}\n", (long long)t.queries, (long long)t.cpu,
                       (long long)t.wall);
            } else {
                printf("{\"error\":\"unknown command\"}\n");
            }
            fflush(stdout);
        } catch (const std::exception& e) {
            printf("{\"error\":\"%s\"}\n", e.what());
            fflush(stdout);
        }
    return 0;
}
