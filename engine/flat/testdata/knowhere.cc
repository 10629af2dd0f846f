// What the heap and the reservoir of knowhere 2.2 make of exhaustive searches over vectors
// with many ties: goldens of engine/flat, as JSON lines.
//
//   git clone --branch v2.2.3 https://github.com/zilliztech/knowhere
//   g++ -O1 -std=c++17 -I knowhere/include -I knowhere/thirdparty/faiss knowhere.cc knowhere/thirdparty/faiss/faiss/impl/FaissException.cpp -o goldens
//   ./goldens | gzip -9n > knowhere.json.gz
//
// The templates are knowhere's own (impl/ResultHandler.h, utils/Heap.h, utils/partitioning.cpp);
// the loop over the rows is that of exhaustive_L2sqr_seq and exhaustive_inner_product_seq
// (utils/distances.cpp) without a bitset. The vectors are small integers, as golden_test.go
// makes them, so that the order of summation does not matter.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>
#undef __AVX2__ // only for 16-bit keys
#include <faiss/impl/ResultHandler.h>
#include <faiss/utils/partitioning.cpp>
using namespace faiss;

static std::vector<float> values(uint64_t set, size_t n, size_t dim) {
    std::vector<float> v(n * dim);
    for (uint64_t i = 0; i < v.size(); i++) {
        uint64_t x = i * set + 0x9E3779B97F4A7C15ull * set;
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
        x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
        x ^= x >> 31;
        v[i] = float(x % (dim == 1 ? 20 : 3));
    }
    return v;
}

template <class C>
static void answer(const char* metric, bool l2, size_t n, size_t dim, size_t k, int of) {
    auto x = values(1, n, dim), q = values(3, 2, dim);
    printf("{\"policy\":\"knowhere\",\"metric\":\"%s\",\"kind\":\"ties\",\"rows\":%zu,\"dim\":%zu,\"k\":%zu,\"filter\":%d,", metric, n, dim, k, of);
    std::vector<std::vector<float>> dis;
    std::vector<std::vector<int64_t>> ids;
    for (size_t i = 0; i < 2; i++) {
        std::vector<float> d(k);
        std::vector<int64_t> l(k);
        auto run = [&](auto& handler) {
            typename std::remove_reference<decltype(handler)>::type::SingleResultHandler res(handler);
            res.begin(0);
            for (size_t j = 0; j < n; j++) {
                if (of > 0 && j % of == 0) continue;
                float s = 0;
                for (size_t c = 0; c < dim; c++) {
                    float a = q[i * dim + c], b = x[j * dim + c];
                    s += l2 ? (a - b) * (a - b) : a * b;
                }
                res.add_result(s, j);
            }
            res.end();
        };
        if (k < 100) {
            HeapResultHandler<C> h(1, d.data(), l.data(), k);
            run(h);
        } else {
            ReservoirResultHandler<C> h(1, d.data(), l.data(), k);
            run(h);
        }
        size_t found = 0;
        while (found < k && l[found] >= 0) found++;
        d.resize(found), l.resize(found);
        dis.push_back(d), ids.push_back(l);
    }
    printf("\"ids\":[");
    for (size_t i = 0; i < 2; i++) {
        printf(i ? ",[" : "[");
        for (size_t j = 0; j < ids[i].size(); j++) printf(j ? ",%ld" : "%ld", (long)ids[i][j]);
        printf("]");
    }
    printf("],\"bits\":[");
    for (size_t i = 0; i < 2; i++) {
        printf(i ? ",[" : "[");
        for (size_t j = 0; j < dis[i].size(); j++) {
            uint32_t b;
            memcpy(&b, &dis[i][j], 4);
            printf(j ? ",%u" : "%u", b);
        }
        printf("]");
    }
    printf("]}\n");
}

int main() {
    for (size_t dim : {1, 3, 17, 128})
        for (size_t k : {1, 2, 10, 64, 99, 100, 101, 500, 3000})
            for (int of : {0, 3}) {
                if (k == 3000 && dim != 3) continue;
                answer<CMax<float, int64_t>>("L2", true, 2500, dim, k, of);
                answer<CMin<float, int64_t>>("IP", false, 2500, dim, k, of);
            }
}
