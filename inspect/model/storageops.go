package model

import "strings"

// StorageOps counts the storage operations of one kind that a process ran, by its own counters.
type StorageOps struct {
	// Op is "get", "put", "list", "remove", "stat" or "walk".
	Op string
	// Failed and Done count failed and successful operations.
	Failed, Done float64
}

// Share returns the fraction of failed operations, 0 to 1.
func (o StorageOps) Share() float64 {
	if o.Failed <= 0 {
		return 0
	}
	return o.Failed / (o.Failed + o.Done)
}

// The counters of operations on remote storage. Neither counts operations on local storage.
const (
	// goStorage counts operations of the Go code: pkg/metrics, persistent_store_metrics.go.
	goStorage = "milvus_storage_op_count"
	// coreStorage counts operations of the C++ code: internal/core/src/monitor, prometheus_client.cpp.
	coreStorage = "internal_storage_op_count"
)

// storageOps lists all Ops, the most informative first.
var storageOps = [...]string{"put", "get", "list", "remove", "walk", "stat"}

// StorageOps adds up the storage operations in a scrape by kind. Kinds without operations are omitted.
//
// Two counters are corrected. In Go, a check for a file's existence (stat) fails if the file does not exist
// (internal/storage, remote_chunk_manager.go, Exist), so stat is omitted. In C++, the count of failed gets has
// no status label (getFailMap, up to 2.6).
func (m *Metrics) StorageOps() []StorageOps {
	if m == nil {
		return nil
	}
	var sums [len(storageOps)]StorageOps
	for _, family := range [...]string{goStorage, coreStorage} {
		for _, s := range m.Samples(family) {
			op, status := s.Label("persistent_data_op_type"), s.Label("status")
			if family == coreStorage && op == "get" && status == "" {
				status = "fail"
			}
			for i, name := range storageOps {
				switch {
				case name != op || !(s.Value >= 0) || family == goStorage && op == "stat":
				case status == "fail":
					sums[i].Failed += s.Value
				case status == "success":
					sums[i].Done += s.Value
				}
			}
		}
	}
	var list []StorageOps
	for i, o := range sums {
		if o.Op = storageOps[i]; o.Failed > 0 || o.Done > 0 {
			list = append(list, o)
		}
	}
	return list
}

// StorageOpsSince returns the increase of StorageOps since an earlier scrape of the same process. Counters that
// fell count as unchanged.
func (m *Metrics) StorageOpsSince(earlier *Metrics) []StorageOps {
	had := make(map[string]StorageOps)
	for _, o := range earlier.StorageOps() {
		had[o.Op] = o
	}
	var list []StorageOps
	for _, o := range m.StorageOps() {
		o.Failed, o.Done = max(0, o.Failed-had[o.Op].Failed), max(0, o.Done-had[o.Op].Done)
		if o.Failed > 0 || o.Done > 0 {
			list = append(list, o)
		}
	}
	return list
}

// StorageCounters returns only the families that StorageOps reads, to keep scrapes of earlier rounds small.
func (m *Metrics) StorageCounters() *Metrics {
	return m.filter(func(name string) bool { return strings.HasSuffix(name, "_storage_op_count") })
}
