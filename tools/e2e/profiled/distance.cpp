// libdistance.so: the library that index calls, built apart so that it can be stripped of its
// symbols and given them back.
#include "distance.h"

namespace distance {
namespace {

constexpr std::size_t block = 32;

template <typename T>
__attribute__((noinline)) float squared(const T *a, const T *b, std::size_t n) {
  float sum = 0;
  for (std::size_t i = 0; i < n; i++) {
    const float d = static_cast<float>(a[i]) - static_cast<float>(b[i]);
    sum += d * d;
  }
  return sum;
}

// In blocks, each a call, so that the library has stacks of its own.
template <typename T>
__attribute__((noinline)) float blocks(const T *a, const T *b, std::size_t n) {
  float sum = 0;
  for (std::size_t i = 0; i < n; i += block) {
    sum += squared(a + i, b + i, n - i < block ? n - i : block);
  }
  return sum;
}

} // namespace

float l2(const float *a, const float *b, std::size_t n) { return blocks(a, b, n) * 0.5F; }
float l2(const signed char *a, const signed char *b, std::size_t n) { return blocks(a, b, n) * 0.5F; }

} // namespace distance
