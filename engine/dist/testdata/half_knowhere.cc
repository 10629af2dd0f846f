// Writes half_knowhere.bin: what knowhere's functions for one pair of float16, bfloat16 and
// int8 vectors return, float32 little-endian, in the order of the loops in main. The vectors
// are pseudo-random, of a generator that half_test.go has too. On a machine with AVX-512:
//
//   K=knowhere-v2.5.5; B="-std=gnu++17 -fPIC -msse4.2 -O3 -DNDEBUG -I$K/include -I$K/src -I$K/thirdparty/faiss"
//   g++ $B -c $K/src/simd/distances_ref.cc -o ref.o
//   g++ $B -mpopcnt -c $K/src/simd/distances_sse.cc -o sse.o
//   g++ $B -mfma -mf16c -mavx2 -mpopcnt -c $K/src/simd/distances_avx.cc -o avx.o
//   g++ $B -mfma -mf16c -mavx512f -mavx512dq -mavx512bw -mavx512vl -mpopcnt -c $K/src/simd/distances_avx512.cc -o avx512.o
//   g++ $B half_knowhere.cc ref.o sse.o avx.o avx512.o -o half_knowhere && ./half_knowhere > half_knowhere.bin
//
// The flags are those of knowhere's cmake/libs/libfaiss.cmake and cmake/utils/compile_flags.cmake.
// Made with g++ 12.2.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "simd/distances_avx.h"
#include "simd/distances_avx512.h"
#include "simd/distances_ref.h"
#include "simd/distances_sse.h"

using knowhere::bf16;
using knowhere::fp16;

template <typename T>
struct Level {
    float (*l2)(const T*, const T*, size_t);
    float (*ip)(const T*, const T*, size_t);
    float (*norm)(const T*, size_t);
};

static const Level<fp16> fp16s[3] = {
    {faiss::fp16_vec_L2sqr_avx512, faiss::fp16_vec_inner_product_avx512, faiss::fp16_vec_norm_L2sqr_avx512},
    {faiss::fp16_vec_L2sqr_avx, faiss::fp16_vec_inner_product_avx, faiss::fp16_vec_norm_L2sqr_avx},
    {faiss::fp16_vec_L2sqr_ref, faiss::fp16_vec_inner_product_ref, faiss::fp16_vec_norm_L2sqr_ref},
};
static const Level<bf16> bf16s[3] = {
    {faiss::bf16_vec_L2sqr_avx512, faiss::bf16_vec_inner_product_avx512, faiss::bf16_vec_norm_L2sqr_avx512},
    {faiss::bf16_vec_L2sqr_avx, faiss::bf16_vec_inner_product_avx, faiss::bf16_vec_norm_L2sqr_avx},
    {faiss::bf16_vec_L2sqr_sse, faiss::bf16_vec_inner_product_sse, faiss::bf16_vec_norm_L2sqr_sse},
};
static const Level<int8_t> int8s[3] = {
    {faiss::int8_vec_L2sqr_avx512, faiss::int8_vec_inner_product_avx512, faiss::int8_vec_norm_L2sqr_avx512},
    {faiss::int8_vec_L2sqr_avx, faiss::int8_vec_inner_product_avx, faiss::int8_vec_norm_L2sqr_avx},
    {faiss::int8_vec_L2sqr_sse, faiss::int8_vec_inner_product_sse, faiss::int8_vec_norm_L2sqr_sse},
};

static uint32_t state = 1;

static uint32_t
next() {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

// float16: exponents 11 to 14, or all finite ones; bfloat16: 123 to 126, or 97 to 160.
static uint16_t
element(int type, bool wide) {
    uint32_t r = next();
    if (type == 1) {
        uint32_t e = wide ? (r >> 16) % 31 : 11 + (r >> 16) % 4;
        return (r & 0x83ff) | e << 10;
    }
    uint32_t e = wide ? 97 + (r >> 16) % 64 : 123 + (r >> 16) % 4;
    return (r & 0x807f) | e << 7;
}

template <typename T>
static void
write(const Level<T>* levels, const void* x, const void* y, size_t dim) {
    for (int p = 0; p < 3; p++) {
        float r[3] = {levels[p].l2((const T*)x, (const T*)y, dim), levels[p].ip((const T*)x, (const T*)y, dim),
                      levels[p].norm((const T*)y, dim)};
        fwrite(r, 4, 3, stdout);
    }
}

int
main() {
    for (size_t dim = 1; dim <= 257; dim++) {
        for (int type = 1; type <= 2; type++) {
            for (int wide = 0; wide < 2; wide++) {
                std::vector<uint16_t> x(dim), y(dim);
                for (auto& v : x) v = element(type, wide);
                for (auto& v : y) v = element(type, wide);
                if (type == 1) {
                    write(fp16s, x.data(), y.data(), dim);
                } else {
                    write(bf16s, x.data(), y.data(), dim);
                }
            }
        }
        std::vector<int8_t> x(dim), y(dim);
        for (auto& v : x) v = (int8_t)next();
        for (auto& v : y) v = (int8_t)next();
        write(int8s, x.data(), y.data(), dim);
    }
}
