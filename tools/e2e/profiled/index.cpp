// index searches random vectors by brute force on several threads, and counts words, for some
// seconds of processor time: templates, namespaces, lambdas, inlined calls, a library and the allocator in one profile.
#include "distance.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace bench::index {

template <typename T> class Flat {
public:
  Flat(std::size_t rows, std::size_t dim, unsigned seed) : dim_(dim), rows_(rows), data_(rows * dim) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<int> value(-100, 100);
    for (auto &v : data_) {
      v = static_cast<T>(value(random));
    }
  }

  __attribute__((noinline)) std::vector<std::pair<float, std::size_t>> search(const T *query, std::size_t k) const {
    std::vector<std::pair<float, std::size_t>> found;
    found.reserve(rows_);
    for (std::size_t row = 0; row < rows_; row++) {
      found.emplace_back(distance::l2(query, &data_[row * dim_], dim_), row);
    }
    std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(k), found.end(),
                      [](const auto &a, const auto &b) { return a.first < b.first; });
    found.resize(k);
    return found;
  }

  const T *row(std::size_t i) const { return &data_[i % rows_ * dim_]; }

private:
  std::size_t dim_, rows_;
  std::vector<T> data_;
};

} // namespace bench::index

namespace bench::words {

__attribute__((noinline)) std::map<std::string, int> count(unsigned seed, int words) {
  std::mt19937 random(seed);
  std::unordered_map<std::string, int> counts;
  for (int i = 0; i < words; i++) {
    std::string word;
    for (int n = 2 + static_cast<int>(random() % 3); n > 0; n--) {
      word += static_cast<char>('a' + random() % 26);
    }
    counts[word]++;
  }
  return {counts.begin(), counts.end()};
}

} // namespace bench::words

int main(int argc, char **argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 3;
  const auto end = static_cast<std::clock_t>(seconds * CLOCKS_PER_SEC);
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    bench::index::Flat<float> index(2000, 64, 1);
    float sum = 0;
    for (std::size_t i = 0; std::clock() < end; i++) {
      sum += index.search(index.row(i), 10).back().first;
    }
    std::printf("%g\n", sum);
  });
  threads.emplace_back([&] {
    bench::index::Flat<signed char> index(2000, 64, 2);
    float sum = 0;
    for (std::size_t i = 0; std::clock() < end; i++) {
      sum += index.search(index.row(i), 10).back().first;
    }
    std::printf("%g\n", sum);
  });
  std::size_t words = 0;
  for (unsigned seed = 0; std::clock() < end; seed++) {
    words += bench::words::count(seed, 20000).size();
  }
  for (auto &t : threads) {
    t.join();
  }
  std::printf("%zu\n", words);
}
