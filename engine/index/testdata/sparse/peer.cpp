// knowhere's own sparse_inverted_index.h of a release, alone: writes index files, answers queries.
#include <cstdio>
#include <fstream>
#include <queue>
#include <set>
#include <optional>
#include <atomic>
#include <chrono>
#include <sstream>
#include <shared_mutex>
#include "index/sparse/sparse_inverted_index.h"
using namespace knowhere; using namespace knowhere::sparse;
typedef BaseInvertedIndex<float> Base;
struct H { Base* x; std::string bytes; bool bm25; };
static std::vector<SparseRow<float>> rowsOf(int64_t n, const int64_t* ptr, const uint32_t* idx, const float* val) {
  std::vector<SparseRow<float>> r(n);
  for (int64_t i = 0; i < n; i++) { SparseRow<float> row(ptr[i+1]-ptr[i]); for (int64_t j = ptr[i]; j < ptr[i+1]; j++) row.set_at(j-ptr[i], idx[j], val[j]); r[i] = std::move(row); }
  return r;
}
extern "C" {
void* p_new(int algo, int bm25, float k1, float b, float avgdl, float ratio) {
  auto h = new H{nullptr, "", bm25 != 0};
#ifdef OLD
  if (bm25) {
    if (algo) { auto x = new InvertedIndex<float, true, true>(); x->SetBM25Params(k1, b, avgdl, ratio); h->x = x; }
    else { auto x = new InvertedIndex<float, false, true>(); x->SetBM25Params(k1, b, avgdl, ratio); h->x = x; }
  } else if (algo) h->x = new InvertedIndex<float, true, false>(); else h->x = new InvertedIndex<float, false, false>();
#else
  avgdl = std::max(avgdl, 1.0f);
#define MAKE(A) if (bm25) { auto x = new InvertedIndex<float, uint16_t, InvertedIndexAlgo::A>(SparseMetricType::METRIC_BM25); x->SetBM25Params(k1, b, avgdl); h->x = x; } else h->x = new InvertedIndex<float, float, InvertedIndexAlgo::A>(SparseMetricType::METRIC_IP);
  if (algo == 0) { MAKE(TAAT_NAIVE) } else if (algo == 1) { MAKE(DAAT_WAND) } else { MAKE(DAAT_MAXSCORE) }
#endif
  return h;
}
void p_add(void* v, int64_t n, int64_t dim, const int64_t* ptr, const uint32_t* idx, const float* val, float drop) {
  auto h = (H*)v; auto r = rowsOf(n, ptr, idx, val);
#ifdef OLD
  h->x->Train(r.data(), n, drop);
#else
  h->x->Train(r.data(), n);
#endif
  h->x->Add(r.data(), n, dim);
}
void p_save(void* v, const char* path, int v0) {
  auto h = (H*)v; MemoryIOWriter w;
#ifdef OLD
  h->x->Save(w);
#else
  if (v0) h->x->SerializeV0(w); else h->x->Serialize(w);
#endif
  std::ofstream f(path, std::ios::binary); f.write((char*)w.data(), w.tellg());
}
void p_load(void* v, const char* path, int v0) {
  auto h = (H*)v; std::ifstream f(path, std::ios::binary); std::stringstream ss; ss << f.rdbuf(); h->bytes = ss.str();
  MemoryIOReader r((uint8_t*)h->bytes.data(), h->bytes.size());
#ifdef OLD
  h->x->Load(r, false);
#else
  if (v0) h->x->DeserializeV0(r, 0, ""); else h->x->Deserialize(r);
#endif
}
void p_search(void* v, int64_t nq, const int64_t* ptr, const uint32_t* idx, const float* val, int64_t k, float drop, int refine, float ratio, float k1, float b, float avgdl, const uint8_t* bits, int64_t nbits, int64_t* ids, float* dist) {
  auto h = (H*)v; auto q = rowsOf(nq, ptr, idx, val); BitsetView bs(bits, nbits);
  DocValueComputer<float> c = GetDocValueOriginalComputer<float>();
#ifdef OLD
  if (h->bm25) c = GetDocValueBM25Computer<float>(k1, b, avgdl);
  for (int64_t i = 0; i < nq; i++) h->x->Search(q[i], k, drop, dist + i*k, ids + i*k, refine, bs, c);
#else
  if (h->bm25) c = GetDocValueBM25Computer<float>(k1, b, std::max(avgdl, 1.0f));
  InvertedIndexApproxSearchParams a{ .refine_factor = drop == 0 ? 1 : refine, .drop_ratio_search = drop, .dim_max_score_ratio = ratio };
  for (int64_t i = 0; i < nq; i++) h->x->Search(q[i], k, dist + i*k, ids + i*k, bs, c, a);
#endif
}
}
