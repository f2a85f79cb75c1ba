// faiss: IndexHNSWFlat and IndexHNSWSQ (8 bits), no re-rank. PEER_SQ selects the latter.
#include <faiss/Index.h>
#include <faiss/IndexHNSW.h>
#include <omp.h>

#include <memory>

#include "driver.h"

#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)

// Unit vectors have the same neighbours by L2 as by inner product; L2 is what these indexes are made for.
struct Faiss : Peer {
    std::unique_ptr<faiss::IndexHNSW> index;

    void build(const Data& d, size_t rows, unsigned seed, int threads, int m, int efConstruction) override {
        index.reset();
#ifdef PEER_SQ
        index.reset(new faiss::IndexHNSWSQ(d.dim, faiss::ScalarQuantizer::QT_8bit, m));
#else
        index.reset(new faiss::IndexHNSWFlat(d.dim, m));
#endif
        index->hnsw.efConstruction = efConstruction;
        index->hnsw.rng = faiss::RandomGenerator(seed);
        omp_set_num_threads(threads);
        index->train(rows, d.base.data());
        index->add(rows, d.base.data());
    }
    void prepare(int ef, int) override {
        omp_set_num_threads(1);  // a thread of the driver is one thread
        index->hnsw.efSearch = ef;
    }
    // All queries in one call: faiss allocates a visited table per call.
    size_t batch() const override { return 1 << 20; }
    void search(const float* q, size_t count, size_t k, int32_t* ids) override {
        std::vector<float> distances(count * k);
        std::vector<faiss::Index::idx_t> labels(count * k);
        index->search(count, q, k, distances.data(), labels.data());
        for (size_t i = 0; i < labels.size(); i++) ids[i] = int32_t(labels[i]);
    }
};

int main(int argc, char** argv) {
    Faiss peer;
#ifdef PEER_SQ
    const char* name = "faiss HNSW SQ8";
#else
    const char* name = "faiss HNSW flat";
#endif
    return drive(argc, argv, name, TEXT(FAISS_VERSION_MAJOR) "." TEXT(FAISS_VERSION_MINOR) "." TEXT(FAISS_VERSION_PATCH),
                 peer);
}
