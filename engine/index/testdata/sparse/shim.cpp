// A C face over knowhere's exported C++ symbols.
#include <cstring>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>
#include <nlohmann/json.hpp>
#include "knowhere/binaryset.h"
#include "knowhere/bitsetview.h"
#include "knowhere/dataset.h"
#include "knowhere/expected.h"
#include "knowhere/object.h"
#include "knowhere/sparse_utils.h"
namespace knowhere {
using Json = nlohmann::json;
class IndexNode;
template <typename T1> class Index {
 public:
  Index(Index<T1>&&); Index(const Index<T1>&); ~Index();
  Status Build(const DataSetPtr dataset, const Json& json, bool pool = true);
  expected<DataSetPtr> Search(const DataSetPtr dataset, const Json& json, const BitsetView& bitset) const;
  expected<DataSetPtr> RangeSearch(const DataSetPtr dataset, const Json& json, const BitsetView& bitset) const;
  Status Serialize(BinarySet& binset) const;
  Status Deserialize(const BinarySet& binset, const Json& json);
  int64_t Dim() const; int64_t Count() const; std::string Type() const;
 private:
  T1* node;
};
class IndexFactory {
 public:
  template <typename DataType> expected<Index<IndexNode>> Create(const std::string& name, const int32_t& version, const Object& object);
  static IndexFactory& Instance();
};
class BruteForce {
 public:
  static expected<DataSetPtr> SearchSparse(const DataSetPtr base, const DataSetPtr query, const Json& config, const BitsetView& bitset);
};
class KnowhereConfig { public:
 enum ClusteringType { A };
 enum SimdType { AUTO = 0, AVX512, AVX2, SSE4_2, GENERIC };
 static std::string SetSimdType(const SimdType simd_type);
 static void SetBuildThreadPoolSize(size_t); static void SetSearchThreadPoolSize(size_t); };
}
using namespace knowhere;
typedef Index<IndexNode> Ix;
static std::string err;
static DataSetPtr sparseSet(int64_t rows, int64_t dim, const int64_t* ptr, const uint32_t* idx, const float* val) {
  auto* r = new sparse::SparseRow<float>[rows];
  for (int64_t i = 0; i < rows; i++) {
    sparse::SparseRow<float> row(ptr[i+1]-ptr[i]);
    for (int64_t j = ptr[i]; j < ptr[i+1]; j++) row.set_at(j-ptr[i], idx[j], val[j]);
    r[i] = std::move(row);
  }
  auto ds = std::make_shared<DataSet>();
  ds->SetRows(rows); ds->SetDim(dim); ds->SetTensor(r); ds->SetIsOwner(false); ds->SetIsSparse(true);
  return ds;
}
static DataSetPtr denseSet(int64_t rows, int64_t dim, const void* x) {
  auto ds = std::make_shared<DataSet>();
  ds->SetRows(rows); ds->SetDim(dim); ds->SetTensor(x); ds->SetIsOwner(false);
  return ds;
}
extern "C" {
const char* kw_error() { return err.c_str(); }
void kw_threads(int n, int simd) { KnowhereConfig::SetBuildThreadPoolSize(n); KnowhereConfig::SetSearchThreadPoolSize(n);
  KnowhereConfig::SetSimdType((KnowhereConfig::SimdType)simd); }
void* kw_create(const char* name, int version) {
  auto e = IndexFactory::Instance().Create<float>(name, version, Object(nullptr));
  if (!e.has_value()) { err = e.what(); return nullptr; }
  return new Ix(e.value());
}
void kw_free(void* h) { delete (Ix*)h; }
int kw_build_sparse(void* h, int64_t rows, int64_t dim, const int64_t* ptr, const uint32_t* idx, const float* val, const char* json) {
  return (int)((Ix*)h)->Build(sparseSet(rows, dim, ptr, idx, val), Json::parse(json));
}
int kw_build(void* h, int64_t rows, int64_t dim, const float* x, const char* json) {
  return (int)((Ix*)h)->Build(denseSet(rows, dim, x), Json::parse(json));
}
int kw_save(void* h, const char* path) {
  BinarySet b; auto s = ((Ix*)h)->Serialize(b); if (s != Status::success) return (int)s;
  for (auto& [name, bin] : b.binary_map_) { std::ofstream f(std::string(path) + "." + name, std::ios::binary); f.write((char*)bin->data.get(), bin->size); }
  return 0;
}
int kw_load(void* h, const char* name, const char* path, const char* json) {
  std::ifstream f(path, std::ios::binary); std::stringstream ss; ss << f.rdbuf(); std::string s = ss.str();
  auto data = std::shared_ptr<uint8_t[]>(new uint8_t[s.size()]); memcpy(data.get(), s.data(), s.size());
  BinarySet b; b.Append(name, data, s.size());
  return (int)((Ix*)h)->Deserialize(b, Json::parse(json));
}
static int take(expected<DataSetPtr>& r, int64_t n, int64_t* ids, float* dist) {
  if (!r.has_value()) { err = r.what(); return (int)r.error(); }
  auto d = r.value(); memcpy(ids, d->GetIds(), n*8); memcpy(dist, d->GetDistance(), n*4); return 0;
}
int kw_search_sparse(void* h, int64_t nq, const int64_t* ptr, const uint32_t* idx, const float* val, const char* json, const uint8_t* bits, int64_t nbits, int64_t* ids, float* dist) {
  auto j = Json::parse(json); BitsetView bv(bits, nbits);
  auto r = ((Ix*)h)->Search(sparseSet(nq, 0, ptr, idx, val), j, bv);
  return take(r, nq * j["k"].get<int64_t>(), ids, dist);
}
int kw_search(void* h, int64_t nq, int64_t dim, const float* x, const char* json, const uint8_t* bits, int64_t nbits, int64_t* ids, float* dist) {
  auto j = Json::parse(json); BitsetView bv(bits, nbits);
  auto r = ((Ix*)h)->Search(denseSet(nq, dim, x), j, bv);
  return take(r, nq * j["k"].get<int64_t>(), ids, dist);
}
// of one query; it returns how many there are, room of them written, or less than 0
int64_t kw_range(void* h, int64_t dim, const float* x, const char* json, const uint8_t* bits, int64_t nbits, int64_t room, int64_t* ids, float* dist) {
  BitsetView bv(bits, nbits);
  auto r = ((Ix*)h)->RangeSearch(denseSet(1, dim, x), Json::parse(json), bv);
  if (!r.has_value()) { err = r.what(); return -(int64_t)r.error(); }
  auto d = r.value(); int64_t n = d->GetLims()[1], m = n < room ? n : room;
  memcpy(ids, d->GetIds(), m*8); memcpy(dist, d->GetDistance(), m*4); return n;
}
int kw_brute_sparse(int64_t rows, const int64_t* bptr, const uint32_t* bidx, const float* bval, int64_t nq, const int64_t* ptr, const uint32_t* idx, const float* val, const char* json, const uint8_t* bits, int64_t nbits, int64_t* ids, float* dist) {
  auto j = Json::parse(json); BitsetView bv(bits, nbits);
  auto r = BruteForce::SearchSparse(sparseSet(rows, 0, bptr, bidx, bval), sparseSet(nq, 0, ptr, idx, val), j, bv);
  return take(r, nq * j["k"].get<int64_t>(), ids, dist);
}
}
