#pragma once
#include <cstddef>

namespace distance {
float l2(const float *a, const float *b, std::size_t n);
float l2(const signed char *a, const signed char *b, std::size_t n);
} // namespace distance
