// A plain inverted index of sparse vectors: a list for each dimension, scores of all rows added up list by list, the best k of them in a
// heap. sparse BASE.csr QUERIES.csr K: for each line that it reads it answers all queries and says how many nanoseconds its thread took;
// at "answers" it writes ids and scores.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <queue>
#include <string>
#include <time.h>
#include <unordered_map>
#include <vector>

struct Csr {
    std::vector<int64_t> starts;
    std::vector<int32_t> dims;
    std::vector<float> values;
    explicit Csr(const char* path) {
        std::ifstream f(path, std::ios::binary);
        int64_t head[3];
        f.read((char*)head, sizeof head);
        starts.resize(head[0] + 1), dims.resize(head[2]), values.resize(head[2]);
        f.read((char*)starts.data(), 8 * starts.size());
        f.read((char*)dims.data(), 4 * dims.size());
        f.read((char*)values.data(), 4 * values.size());
    }
    int64_t rows() const { return starts.size() - 1; }
};

struct List {
    std::vector<uint32_t> ids;
    std::vector<float> values;
};

static int64_t now() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int, char** argv) {
    Csr base(argv[1]), queries(argv[2]);
    const size_t k = std::stoul(argv[3]);
    std::unordered_map<int32_t, List> lists;
    for (int64_t i = 0; i < base.rows(); i++)
        for (int64_t j = base.starts[i]; j < base.starts[i + 1]; j++) {
            auto& l = lists[base.dims[j]];
            l.ids.push_back(i), l.values.push_back(base.values[j]);
        }
    typedef std::pair<float, int64_t> Hit; // the row is negative: of equal scores the first row is the better
    std::vector<std::vector<Hit>> answers(queries.rows());
    std::vector<float> scores(base.rows());
    for (std::string line; std::getline(std::cin, line);) {
        if (line == "answers") {
            for (auto& a : answers) {
                for (auto& h : a) printf("%lld %.9g ", (long long)-h.second, h.first);
                printf("\n");
            }
            fflush(stdout);
            continue;
        }
        const int64_t began = now();
        for (int64_t q = 0; q < queries.rows(); q++) {
            std::fill(scores.begin(), scores.end(), 0.f);
            for (int64_t j = queries.starts[q]; j < queries.starts[q + 1]; j++) {
                auto it = lists.find(queries.dims[j]);
                if (it == lists.end()) continue;
                const float v = queries.values[j];
                const List& l = it->second;
                for (size_t i = 0; i < l.ids.size(); i++) scores[l.ids[i]] += v * l.values[i];
            }
            std::priority_queue<Hit, std::vector<Hit>, std::greater<Hit>> heap;
            for (size_t i = 0; i < scores.size(); i++) {
                if (scores[i] == 0 || (heap.size() == k && scores[i] <= heap.top().first)) continue;
                if (heap.size() == k) heap.pop();
                heap.push({scores[i], -(int64_t)i});
            }
            auto& a = answers[q];
            a.assign(heap.size(), {});
            for (size_t i = heap.size(); i-- > 0; heap.pop()) a[i] = heap.top();
        }
        printf("%lld\n", (long long)(now() - began));
        fflush(stdout);
    }
}
