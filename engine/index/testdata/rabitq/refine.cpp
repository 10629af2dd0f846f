// IVF_RABITQ with refinement as knowhere 2.6 makes it (IndexIVFRaBitQWrapper::create, src/index/ivf/ivfrbq_wrapper.cc, v2.6.9), by the classes that
// knowhere 2.5.6's library exports.
#include <faiss/IndexFlat.h>
#include <faiss/IndexIVFRaBitQ.h>
#include <faiss/IndexPreTransform.h>
#include <faiss/IndexRefine.h>
#include <faiss/IndexScalarQuantizer.h>
#include <faiss/VectorTransform.h>
#include <faiss/impl/IDSelector.h>
#include <faiss/index_io.h>
extern "C" {
void* kr_build(int64_t n, int d, const float* x, int ip, int nlist, int sq, int kind, const char* path) {
  auto m = ip ? faiss::METRIC_INNER_PRODUCT : faiss::METRIC_L2;
  auto* flat = new faiss::IndexFlat(d, m, false);
  faiss::Index* base;
  if (kind == 0) base = new faiss::IndexPreTransform(new faiss::RandomRotationMatrix(d, d), new faiss::IndexIVFRaBitQ(flat, d, nlist, m));
  else base = new faiss::IndexIVFScalarQuantizer(flat, d, nlist, faiss::ScalarQuantizer::QT_8bit, m);
  faiss::Index* all;
  if (sq < 0) all = new faiss::IndexRefineFlat(base);
  else all = new faiss::IndexRefine(base, new faiss::IndexScalarQuantizer(d, (faiss::ScalarQuantizer::QuantizerType)sq, m));
  all->train(n, x);
  all->add(n, x);
  faiss::write_index(all, path);
  return faiss::read_index(path);
}
struct Marked : faiss::IDSelector {
  bool is_member(faiss::idx_t id) const override { return id % 3 != 0; }
};
void kr_search(void* h, const float* q, int64_t k, int nprobe, int bits, float factor, int filtered, int64_t* ids, float* dist) {
  Marked left;
  faiss::IVFRaBitQSearchParameters p;
  p.nprobe = nprobe; p.max_codes = 0; p.qb = bits; p.sel = filtered ? &left : nullptr;
  faiss::IndexRefineSearchParameters r;
  r.k_factor = factor; r.base_index_params = &p; r.sel = p.sel;
  ((faiss::Index*)h)->search(1, q, k, dist, ids, &r);
}
}
