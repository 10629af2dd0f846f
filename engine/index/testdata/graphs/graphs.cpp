// A C face over HNSW_SQ, HNSW_PQ and HNSW_PRQ of knowhere 2.5.6: indexes as src/index/hnsw/faiss_hnsw.cc builds and searches them, over the
// faiss in libknowhere.so, which exports its C++ symbols, and src/index/hnsw/impl, which that library lacks and which is compiled in here.
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include "faiss/IndexCosine.h"
#include "faiss/IndexFlat.h"
#include "faiss/IndexHNSW.h"
#include "faiss/IndexRefine.h"
#include "faiss/impl/AuxIndexStructures.h"
#include "faiss/index_io.h"
#include "index/hnsw/faiss_hnsw_config.h"
#include "index/hnsw/impl/IndexConditionalWrapper.h"
#include "index/hnsw/impl/IndexHNSWWrapper.h"
#include "knowhere/bitsetview_idselector.h"
#include "knowhere/range_util.h"
#include "simd/hook.h"
namespace knowhere {
class KnowhereConfig {
 public:
    enum SimdType { AUTO = 0, AVX512, AVX2, SSE4_2, GENERIC };
    static std::string SetSimdType(const SimdType simd_type);
};
}  // namespace knowhere
using namespace faiss;
static std::string err;
typedef ScalarQuantizer::QuantizerType QT;
static Index* flat(int cosine, MetricType m, int d, int M, int efc) {
    IndexHNSW* h = cosine ? (IndexHNSW*)new IndexHNSWFlatCosine(d, M) : (IndexHNSW*)new IndexHNSWFlat(d, M, m);
    h->hnsw.efConstruction = efc;
    return h;
}
// swap puts another storage under a graph, as AddInternal of the PQ and PRQ nodes does.
template <class T> static IndexHNSW* swap(IndexHNSW* from, T* to, Index* storage) {
    static_cast<IndexHNSW&>(*to) = *from;
    delete from->storage;
    from->storage = nullptr;
    to->storage = storage;
    return to;
}
extern "C" {
const char* g_error() { return err.c_str(); }
const char* g_simd(int simd) { static std::string s; s = knowhere::KnowhereConfig::SetSimdType((knowhere::KnowhereConfig::SimdType)simd); return s.c_str(); }
// kind: "SQ", "PQ", "PRQ", "FLAT"; metric: 0 L2, 1 IP, 2 COSINE; sq: the quantiser; refine: -1 none, -2 fp32, else a quantiser.
void* g_build(const char* kind_, int metric, int d, int64_t n, const float* x, int M, int efc, int sq, int m, int nrq, int nbits, int refine) {
    try {
        std::string kind = kind_;
        const bool cosine = metric == 2;
        const MetricType mt = metric == 0 ? METRIC_L2 : METRIC_INNER_PRODUCT;
        IndexHNSW* h;
        if (kind == "SQ") {
            h = cosine ? (IndexHNSW*)new IndexHNSWSQCosine(d, (QT)sq, M) : (IndexHNSW*)new IndexHNSWSQ(d, (QT)sq, M, mt);
            h->hnsw.efConstruction = efc;
        } else {
            h = (IndexHNSW*)flat(cosine, mt, d, M, efc);
        }
        IndexRefine* r = nullptr;
        if (refine == -2) r = new IndexRefineFlat(h);
        else if (refine >= 0) r = new IndexRefine(h, new IndexScalarQuantizer(d, (QT)refine, mt));
        Index* all = r ? (Index*)r : (Index*)h;
        all->train(n, x);
        std::unique_ptr<Index> storage;
        if (kind == "PQ") {
            IndexPQ* p = cosine ? new IndexPQCosine(d, m, nbits) : new IndexPQ(d, m, nbits, mt);
            p->train(n, x);
            p->pq.compute_sdc_table();
            storage.reset(p);
        } else if (kind == "PRQ") {
            auto st = mt == METRIC_INNER_PRODUCT ? AdditiveQuantizer::ST_LUT_nonorm : AdditiveQuantizer::ST_norm_float;
            IndexProductResidualQuantizer* p = cosine ? new IndexProductResidualQuantizerCosine(d, m, nrq, nbits, st)
                                                      : new IndexProductResidualQuantizer(d, m, nrq, nbits, mt, st);
            p->train(n, x);
            storage.reset(p);
        }
        all->add(n, x);
        if (storage) {
            storage->add(n, x);
            IndexHNSW* s;
            if (kind == "PQ") s = cosine ? swap(h, new IndexHNSWPQCosine(), storage.release()) : swap(h, new IndexHNSWPQ(), storage.release());
            else s = cosine ? swap(h, new IndexHNSWProductResidualQuantizerCosine(), storage.release())
                            : swap(h, new IndexHNSWProductResidualQuantizer(), storage.release());
            delete h;
            if (r) r->base_index = s; else all = s;
        }
        return all;
    } catch (std::exception& e) { err = e.what(); return nullptr; }
}
int g_save(void* ix, const char* path) {
    try { write_index((Index*)ix, path); return 0; } catch (std::exception& e) { err = e.what(); return 1; }
}
void* g_load(const char* path) {
    try { return read_index(path); } catch (std::exception& e) { err = e.what(); return nullptr; }
}
void g_free(void* ix) { delete (Index*)ix; }
// g_search is Search of faiss_hnsw.cc for one query; radius not null: RangeSearch, whose hits are as many as returned, room at most.
int64_t g_search(void* ix_, const float* q, int k, int ef, float refine_k, int cosine, const uint8_t* bits, int64_t nbits, const float* radius,
                 const float* range_filter, int64_t room, int64_t* ids, float* dist) {
    try {
        Index* ix = (Index*)ix_;
        knowhere::FaissHnswConfig cfg;
        cfg.k = k;
        cfg.ef = ef;
        cfg.metric_type = cosine ? "COSINE" : ix->metric_type == METRIC_L2 ? "L2" : "IP";
        size_t out = 0;
        for (int64_t i = 0; i < nbits; i++) out += bits[i >> 3] >> (i & 7) & 1;
        knowhere::BitsetView bitset(bits, nbits, out);
        knowhere::SearchParametersHNSWWrapper sp;
        sp.efSearch = ef;
        sp.hnsw_stats = nullptr;
        sp.feder = nullptr;
        sp.kAlpha = bitset.filter_ratio() * 0.7f;
        knowhere::BitsetViewIDSelector sel(bitset);
        sp.sel = bitset.empty() ? nullptr : &sel;
        IndexRefineSearchParameters rp;
        rp.k_factor = refine_k;
        rp.sel = nullptr;
        rp.base_index_params = &sp;
        if (radius) {
            auto bf = knowhere::WhetherPerformBruteForceRangeSearch(ix, cfg, bitset).value();
            auto [w, refined] = knowhere::create_conditional_hnsw_wrapper(ix, cfg, bf, true);
            RangeSearchResult res(1);
            w->range_search(1, q, *radius, &res, refined ? (SearchParameters*)&rp : &sp);
            std::vector<float> d(res.distances, res.distances + res.lims[1]);
            std::vector<int64_t> l(res.labels, res.labels + res.lims[1]);
            if (range_filter) {
                size_t n = 0;
                bool ip = ix->metric_type == METRIC_INNER_PRODUCT;
                for (size_t i = 0; i < d.size(); i++)
                    if (knowhere::distance_in_range(d[i], *radius, *range_filter, ip)) { d[n] = d[i]; l[n++] = l[i]; }
                d.resize(n); l.resize(n);
            }
            for (size_t i = 0; i < d.size() && (int64_t)i < room; i++) { ids[i] = l[i]; dist[i] = d[i]; }
            return d.size();
        }
        bool bf = knowhere::WhetherPerformBruteForceSearch(ix, cfg, bitset).value();
        auto [w, refined] = knowhere::create_conditional_hnsw_wrapper(ix, cfg, bf, refine_k >= 0);
        std::unique_ptr<Index> all;
        if (!bf) all = std::move(std::get<0>(knowhere::create_conditional_hnsw_wrapper(ix, cfg, true, refine_k >= 0)));
        SearchParameters* p = refined ? (SearchParameters*)&rp : &sp;
        w->search(1, q, k, dist, ids, p);
        size_t real = 0;
        for (int j = 0; j < k; j++) real += ids[j] >= 0;
        if (real < (size_t)k && real < bitset.size() - bitset.count() && all) all->search(1, q, k, dist, ids, p);
        return k;
    } catch (std::exception& e) { err = e.what(); return -1; }
}
// The functions of the hook, as they are linked.
void g_l2_ny(float* dis, const float* x, const float* y, size_t d, size_t ny) { fvec_L2sqr_ny(dis, x, y, d, ny); }
void g_ip_ny(float* dis, const float* x, const float* y, size_t d, size_t ny) { fvec_inner_products_ny(dis, x, y, d, ny); }
float g_norm(const float* x, size_t d) { return fvec_norm_L2sqr(x, d); }
float g_l2(const float* x, const float* y, size_t d) { return fvec_L2sqr(x, y, d); }
float g_ip(const float* x, const float* y, size_t d) { return fvec_inner_product(x, y, d); }
}
