// Writes lines of hnswlib_builds.txt: the bits that a build of hnswlib 0.8.0 computes.
//
//     g++ -std=c++14 -O3 -march=CPU -I hnswlib-0.8.0/hnswlib hnswlib_builds.cc -o builds && ./builds PROFILE
//
// What setup.py of hnswlib gives the compiler is -O3 -march=native, which is -march and -mtune of the machine: to pass
// -march=CPU makes here what `pip install hnswlib` makes there. TestFloat32AgreesWithBuildsRunHere knows the flags of each
// profile. Lines are as in float32_peers.txt: profile, metric, dimension, and bits; inner products are 1-ip; "square" is the
// sum that normalize_vector of python_bindings/bindings.cpp takes the root of.
//
// ./builds PROFILE FOLDER saves graphs there instead, of the rows of tenths below: PROFILE-METRIC-DIM.hnsw.
//
// With -DHALVES the functions for AVX-512 have two registers of 256 bits for each of 512, so that machines without
// AVX-512 can run them. GCC 12 puts the same operations on floats in the same places (compared by objdump).

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#ifdef HALVES
#include <immintrin.h>
struct Halves {
    __m256 low, high;
};
static inline Halves load_halves(const float *p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
static inline Halves set_halves(float f) { return {_mm256_set1_ps(f), _mm256_set1_ps(f)}; }
static inline Halves sub_halves(Halves a, Halves b) { return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)}; }
// The compiler fuses this product with the sum that it goes to, in 512 bits whatever it is tuned for.
struct Product {
    Halves a, b;
};
static inline Product mul_halves(Halves a, Halves b) { return {a, b}; }
static inline Halves fma_halves(Halves a, Halves b, Halves c) {
    return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
}
static inline Halves add_halves(Halves sum, Product p) { return fma_halves(p.a, p.b, sum); }
static inline void store_halves(float *p, Halves a) {
    _mm256_storeu_ps(p, a.low);
    _mm256_storeu_ps(p + 8, a.high);
}
// As avx512fintrin.h of GCC: halves, halves again, (0+2)+(1+3).
static inline float reduce_halves(Halves a) {
    __m256 eight = _mm256_add_ps(a.high, a.low);
    __m128 four = _mm_add_ps(_mm256_extractf128_ps(eight, 1), _mm256_castps256_ps128(eight));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return two[0] + two[1];
}
#define __AVX512F__ 1
#define __m512 Halves
#define _mm512_set1_ps set_halves
#define _mm512_loadu_ps load_halves
#define _mm512_sub_ps sub_halves
#define _mm512_mul_ps mul_halves
#define _mm512_add_ps add_halves
#define _mm512_fmadd_ps fma_halves
#define _mm512_store_ps store_halves
#define _mm512_reduce_add_ps reduce_halves
#endif

#include "hnswlib.h"

using namespace hnswlib;

static DISTFUNC<float> l2(size_t dim) {
    DISTFUNC<float> f = L2Space(dim).get_dist_func();
#ifdef HALVES
    if (f == L2SqrSIMD16Ext) f = L2SqrSIMD16ExtAVX512;
    L2SqrSIMD16Ext = L2SqrSIMD16ExtAVX512;
#endif
    return f;
}

static DISTFUNC<float> ip(size_t dim) {
    DISTFUNC<float> f = InnerProductSpace(dim).get_dist_func();
#ifdef HALVES
    if (f == InnerProductDistanceSIMD16Ext) f = InnerProductDistanceSIMD16ExtAVX512;
    InnerProductSIMD16Ext = InnerProductSIMD16ExtAVX512;
#endif
    return f;
}

// Of normalize_vector.
__attribute__((noinline)) static float square(const float *data, int dim) {
    float norm = 0.0f;
    for (int i = 0; i < dim; i++) norm += data[i] * data[i];
    return norm;
}

// value() of float32_peers.py.
static std::vector<float> value(int dim, uint64_t row) {
    std::vector<float> v;
    for (int i = 0; i < dim; i++) {
        uint64_t n = uint64_t(i) + (uint64_t(dim) << 32 | row << 24) + 1;
        n *= 0x9E3779B97F4A7C15;
        n = (n ^ n >> 30) * 0xBF58476D1CE4E5B9;
        n = (n ^ n >> 27) * 0x94D049BB133111EB;
        n ^= n >> 31;
        v.push_back(float(std::ldexp(double(n >> 40) - 0x1p23, int(n & 7) - 23)));
    }
    return v;
}

static void bits(float f) {
    uint32_t b;
    std::memcpy(&b, &f, 4);
    std::printf(" %08x", b);
}

// A space whose distances are those of l2 and ip above.
struct Space : SpaceInterface<float> {
    size_t dim;
    DISTFUNC<float> f;
    Space(size_t dim, DISTFUNC<float> f) : dim(dim), f(f) {}
    size_t get_data_size() override { return dim * sizeof(float); }
    DISTFUNC<float> get_dist_func() override { return f; }
    void *get_dist_func_param() override { return &dim; }
};

// normalize_vector of python_bindings/bindings.cpp.
static std::vector<float> normalised(const std::vector<float> &v) {
    float norm = 1.0f / (sqrtf(square(v.data(), int(v.size()))) + 1e-30f);
    std::vector<float> out;
    for (float x : v) out.push_back(x * norm);
    return out;
}

// tenths are rows with many distances that differ in their last bits alone.
static std::vector<float> tenths(int dim, uint64_t row) {
    std::vector<float> v;
    for (int i = 0; i < dim; i++) {
        uint64_t n = (uint64_t(i) + (uint64_t(dim) << 32 | row << 10) + 1) * 0x9E3779B97F4A7C15;
        n = (n ^ n >> 30) * 0xBF58476D1CE4E5B9;
        v.push_back(float((n >> 40) % 5 + 1) * 0.1f);
    }
    return v;
}

static void graphs(const std::string &profile, const std::string &folder) {
    for (size_t dim : {7, 20, 33, 100}) {
        for (const char *metric : {"l2", "ip", "cosine"}) {
            Space space(dim, metric[0] == 'l' ? l2(dim) : ip(dim));
            HierarchicalNSW<float> graph(&space, 500, 8, 40, 100);
            for (uint64_t row = 0; row < 500; row++) {
                std::vector<float> v = tenths(int(dim), row);
                if (metric[0] == 'c') v = normalised(v);
                graph.addPoint(v.data(), row);
            }
            graph.saveIndex(folder + "/" + profile + "-" + metric + "-" + std::to_string(dim) + ".hnsw");
        }
    }
}

int main(int argc, char **argv) {
    if (argc > 2) {
        graphs(argv[1], argv[2]);
        return 0;
    }
    std::vector<size_t> dims{192, 255, 256, 300, 511, 768, 769, 1537};
    for (size_t dim = 1; dim <= 130; dim++) dims.push_back(dim);
    for (size_t dim : dims) {
        std::vector<float> q = value(dim, 0);
        for (const char *metric : {"l2", "ip"}) {
            DISTFUNC<float> f = metric[0] == 'l' ? l2(dim) : ip(dim);
            std::printf("%s %s %zu", argv[1], metric, dim);
            for (int row = 1; row <= 4; row++) bits(f(q.data(), value(dim, row).data(), &dim));
            std::printf("\n");
        }
        std::printf("%s square %zu", argv[1], dim);
        bits(square(q.data(), int(dim)));
        std::printf("\n");
    }
}
