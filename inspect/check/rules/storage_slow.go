package rules

import (
	"cmp"
	"fmt"
	"slices"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	budget "kitescope/inspect/latency"
	"kitescope/inspect/metrics"
	"kitescope/inspect/model"
)

// storageSlow finds object storage that responds slowly to the reads and writes of processes.
var storageSlow = &check.Check{
	ID:       "storage-slow",
	Title:    "Object storage is slow",
	Severity: check.Warning,
	Symptoms: []string{check.LoadsHang, check.WritesFail},
	Starts:   "task_created | collection_loading segment_compacted",
	Parts:    model.PartObjects,
	Needs:    check.NeedProcesses,
	Doc: `Loads, flushes, index builds and compactions take longer because storage is slow. Query nodes read segments
and indexes from object storage, data nodes write flushes and compactions. ` + "`milvus_storage_request_latency`" + `
(2.2 and later, the Go part) and ` + "`internal_storage_request_latency`" + ` (2.3 and later, the C++ part) measure
reads (get) and writes (put). Files are a few MiB, up to the 16 MiB of an index slice: MinIO on the same network needs
10 to 150 ms, S3 up to 300 ms.

Warning: a mean of one second or more for reads or writes of a process, of at least ten in the window; info from half
a second. Searches of loaded data do not read from storage (except with tiered storage, where searches load segments).
Milvus does not measure storage in a local folder.`,
	Remedy: `Check the storage's own metrics: throttling (503 SlowDown), its disks, the network in between; and
whether only processes of one machine are slow. Bursts come from loads of many collections and from compaction.`,
	Run:         runStorageSlow,
	FollowsFrom: check.CausedBy(nil, "storage-failing"),
}

const (
	storageWarn, storageInfo = 1000, 500 // ms
	fewOperations            = 10
)

// operation is a kind of storage operation of a process, with its mean latency in ms and its count.
type operation struct {
	node      *model.LiveNode
	name      string
	ms, count float64
}

func runStorageSlow(p *check.Pass) {
	if p.Runtime == nil {
		p.Skip(facts.NotAsked)
		return
	}
	noteUnseenMetrics(p, "querynode", "datanode", "indexnode", "streamingnode")
	var slow []operation
	counted := 0
	for _, x := range processes(p) {
		for _, name := range []metrics.Name{metrics.StorageRequest, metrics.CoreStorageRequest} {
			for _, op := range []string{"get", "put"} {
				o := operation{node: x.node, name: op}
				o.ms, o.count = x.mean(name, label("persistent_data_op_type", op))
				if o.count >= fewOperations {
					counted++
				}
				if o.count >= fewOperations && o.ms >= storageInfo {
					slow = append(slow, o)
				}
			}
		}
	}
	switch {
	case len(slow) > 0:
		reportStorage(p, slow)
	case counted == 0:
		p.Skip("no process read or wrote ten files in the window")
	}
}

func reportStorage(p *check.Pass, slow []operation) {
	slices.SortStableFunc(slow, func(a, b operation) int { return cmp.Compare(b.ms, a.ms) })
	worst := &slow[0]
	f := check.Finding{
		Severity: check.Info,
		Message: fmt.Sprintf("object storage takes %s per %s of %s", budget.Milliseconds(worst.ms),
			operationVerb(worst.name), worst.node.Name()),
		Impact: "Loads, flushes, index builds and compactions take longer; searches of loaded data do not.",
		Fix:    check.Fix(check.Do("check the storage's own metrics: throttling, its disks, the network to it")),
	}
	if worst.ms >= storageWarn {
		f.Severity = check.Warning
	}
	for i := range slow {
		o := &slow[i]
		if ref := o.node.Ref(); !slices.Contains(f.Objects, ref) {
			f.Objects = append(f.Objects, ref)
		}
		f.Evidence = append(f.Evidence,
			check.Factf(fmt.Sprintf("one %s of %s", operationVerb(o.name), o.node.Name()), o.node.Name()+" /metrics",
				"%s, of %s", millis(o.ms), check.N(int64(o.count))))
	}
	for _, x := range processes(p, "querynode", "datanode", "streamingnode", "standalone") {
		if ms, n := x.mean(metrics.LoadSegment); n > 0 {
			f.Evidence = append(f.Evidence,
				check.Factf("segment load on "+x.node.Name(), x.node.Name()+" /metrics", "%s", millis(ms)))
		}
		if ms, n := x.mean(metrics.FlushSave); n > 0 {
			f.Evidence = append(f.Evidence,
				check.Factf("flush write on "+x.node.Name(), x.node.Name()+" /metrics", "%s", millis(ms)))
		}
	}
	p.Report(f)
}

func operationVerb(operation string) string {
	if operation == "put" {
		return "write"
	}
	return "read"
}
