// hnswlib: hierarchical navigable small-world graphs over float32, header-only.
#include <hnswlib/hnswlib.h>

#include <memory>

#include "driver.h"

#ifndef PEER_VERSION
#define PEER_VERSION "unknown"
#endif

struct Hnswlib : Peer {
    std::unique_ptr<hnswlib::InnerProductSpace> space;
    std::unique_ptr<hnswlib::HierarchicalNSW<float>> index;

    void build(const Data& d, size_t rows, unsigned seed, int threads, int m, int efConstruction) override {
        index.reset();
        space.reset(new hnswlib::InnerProductSpace(d.dim));
        index.reset(new hnswlib::HierarchicalNSW<float>(space.get(), rows, m, efConstruction, seed));
        index->addPoint(d.base.data(), 0);
        parallel(rows - 1, threads, [&](size_t i) { index->addPoint(&d.base[(i + 1) * d.dim], i + 1); });
    }
    void prepare(int ef, int) override { index->setEf(ef); }
    void search(const float* q, size_t count, size_t k, int32_t* ids) override {
        auto dim = *(size_t*)space->get_dist_func_param();
        for (; count > 0; count--, q += dim, ids += k) {
            auto found = index->searchKnn(q, k);
            size_t at = 0;
            for (; !found.empty(); found.pop()) ids[at++] = int32_t(found.top().second);
            for (; at < k; at++) ids[at] = -1;
        }
    }
};

int main(int argc, char** argv) {
    Hnswlib peer;
    return drive(argc, argv, "hnswlib", PEER_VERSION, peer);
}
