package model

import "strings"

// StorageOps is what a process did with the storage in one way, as it counts itself.
type StorageOps struct {
	// Op is "get", "put", "list", "remove", "stat" or "walk".
	Op string
	// Failed and Done count operations that failed, and that did not.
	Failed, Done float64
}

// Share is how much of it failed, 0 to 1.
func (o StorageOps) Share() float64 {
	if o.Failed <= 0 {
		return 0
	}
	return o.Failed / (o.Failed + o.Done)
}

// The counters of operations on remote storage; neither counts what is done with local storage.
const (
	// goStorage is of the part in Go: pkg/metrics, persistent_store_metrics.go.
	goStorage = "milvus_storage_op_count"
	// coreStorage is of the part in C++: internal/core/src/monitor, prometheus_client.cpp.
	coreStorage = "internal_storage_op_count"
)

// storageOps are all Ops, those first that say most.
var storageOps = [...]string{"put", "get", "list", "remove", "walk", "stat"}

// StorageOps adds up what a scrape says of operations on the storage, by kind. What counts nothing is left out.
//
// Two things that look like failures are none, or the other way round: asking in Go whether a file is there (stat) fails where it
// is not (internal/storage, remote_chunk_manager.go, Exist), and is left out; and in C++ the count of gets that failed has
// no status at all (getFailMap, up to 2.6).
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

// StorageOpsSince is what has come to a scrape's StorageOps since an earlier one of the same process; a count that fell is no difference.
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

// StorageCounters is the part of a scrape that StorageOps reads, and no more: what is remembered of earlier rounds.
func (m *Metrics) StorageCounters() *Metrics {
	return m.only(func(name string) bool { return strings.HasSuffix(name, "_storage_op_count") })
}
