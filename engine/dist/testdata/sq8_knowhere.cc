// Distances to 8-bit codes by the codec of knowhere v2.2.3: its header compiled by itself, with the options of its
// cmake/libs/libfaiss.cmake, on a CPU with AVX-512. Writes sq8_knowhere.txt: a dimension, and the bits of L2 and IP with lanes of 16
// (0 where the dimension has none) and of 8.
//
//   g++ -O3 -std=c++17 -fopenmp -msse4.2 -mavx2 -mfma -mf16c -mavx512f -mavx512dq -mavx512bw -mpopcnt \
//     -I KNOWHERE/thirdparty/faiss -I KNOWHERE/include sq8_knowhere.cc -Wl,--unresolved-symbols=ignore-all
#include <faiss/impl/ScalarQuantizerCodec_avx512.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

using namespace faiss;

static uint64_t state = 1;

static uint64_t draw() {  // splitmix64
    uint64_t x = state += 0x9E3779B97F4A7C15;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
    x = (x ^ x >> 27) * 0x94D049BB133111EB;
    return x ^ x >> 31;
}

template <class S, int W>
void distance(size_t d, const std::vector<float>& trained, const float* q, const uint8_t* code) {
    unsigned bits = 0;
    if (d % W == 0) {
        DCTemplate_avx512<QuantizerTemplate_avx512<Codec8bit_avx512, false, W>, S, W> dc(d, trained);
        float v = dc.compute_distance(q, code);
        memcpy(&bits, &v, 4);
    }
    printf(" %08x", bits);
}

int main() {
    for (int d : {8, 16, 24, 32, 40, 48, 64, 104, 128, 256, 768}) {
        for (int i = 0; i < 10; i++) {
            std::vector<float> trained(2 * d), q(d);
            std::vector<uint8_t> code(d);
            for (auto& x : trained) x = float(draw() >> 40) / (1 << 24) - 0.5f;
            for (auto& x : q) x = float(draw() >> 40) / (1 << 24) - 0.5f;
            for (auto& x : code) x = draw();
            printf("%d", d);
            distance<SimilarityL2_avx512<16>, 16>(d, trained, q.data(), code.data());
            distance<SimilarityIP_avx512<16>, 16>(d, trained, q.data(), code.data());
            distance<SimilarityL2_avx512<8>, 8>(d, trained, q.data(), code.data());
            distance<SimilarityIP_avx512<8>, 8>(d, trained, q.data(), code.data());
            printf("\n");
        }
    }
}
