#pragma once
#include <map>
#include <string>
#include <vector>
namespace prometheus { struct Gauge { void Set(double) {} }; struct Histogram { void Observe(double) {} };
template <class T> struct Fam { T t; template <class... A> T& Add(A&&...) { return t; } T& Add(std::map<std::string,std::string>) { return t; } T& Add(std::map<std::string,std::string>, int) { return t; } void Remove(T*) {} }; }
inline int defaultBuckets; inline prometheus::Fam<prometheus::Gauge> sparse_inverted_index_size_family; inline prometheus::Fam<prometheus::Histogram> sparse_dataset_nnz_len_family, sparse_inverted_index_posting_list_len_family;
