package live_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"runtime"
	"testing"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/querypb"

	"kitescope/inspect/live"
)

// largeAnswer is what a query node with many segments answers.
func largeAnswer(node, segments int) *querypb.GetDataDistributionResponse {
	m := &querypb.GetDataDistributionResponse{Status: ok, NodeID: int64(node)}
	view := &querypb.LeaderView{
		Collection: 470590569932652633, Channel: fmt.Sprintf("by-dev-rootcoord-dml_%d_470590569932652633v0", node), SegmentDist: map[int64]*querypb.SegmentDist{},
	}
	for s := range segments {
		id := int64(470590569932852862 + node*segments + s)
		m.Segments = append(m.Segments, &querypb.SegmentVersionInfo{
			ID: id, Collection: 470590569932652633, Partition: 470590569932652659, Channel: view.Channel, Version: 1795160652853112133,
			IndexInfo: map[int64]*querypb.FieldIndexInfo{102: {
				FieldID: 102, IndexID: 470590569933052722, BuildID: id + 1, IndexSize: 1 << 30, NumRows: 1 << 20, IndexName: "idx_items_hnsw_l2",
				IndexParams:    []*commonpb.KeyValuePair{{Key: "index_type", Value: "HNSW"}, {Key: "metric_type", Value: "L2"}, {Key: "M", Value: "16"}},
				IndexFilePaths: []string{fmt.Sprintf("files/index_files/%d/1/470590569932652659/%d/HNSW_0", id+1, id)},
			}},
		})
		view.SegmentDist[id] = &querypb.SegmentDist{NodeID: int64(node), Version: 1795160652853112133}
	}
	m.LeaderViews = []*querypb.LeaderView{view}
	return m
}

// BenchmarkReadRecording decodes a recording of 200 query nodes with 200,000 segments, and
// tells what is held at the end.
func BenchmarkReadRecording(b *testing.B) {
	const nodes, segments = 200, 1000
	var file bytes.Buffer
	z := gzip.NewWriter(&file)
	for n := 1; n <= nodes; n++ {
		if err := live.WriteRecord(z, answered(b, fmt.Sprintf("querynode-%d", n), inQueryNode+"GetDataDistribution", nil, largeAnswer(n, segments))); err != nil {
			b.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		b.Fatal(err)
	}
	heap := func() float64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc) / (1 << 20)
	}
	before := heap()
	b.ReportAllocs()
	for b.Loop() {
		d := live.NewDecoder()
		if err := live.ReadRecords(bytes.NewReader(file.Bytes()), func(r live.Record) error { d.Add(r); return nil }); err != nil {
			b.Fatal(err)
		}
		r := d.Runtime("recording", "")
		b.ReportMetric(heap()-before, "MiB-held")
		if len(r.QueryNodes()) != nodes || len(r.LiveNode("querynode", 7).Distribution.Sealed) != segments {
			b.Fatal("not what was recorded")
		}
	}
}

// BenchmarkRedact redacts the answer of a query node with 1,000 segments.
func BenchmarkRedact(b *testing.B) {
	r := answered(b, "querynode-7", inQueryNode+"GetDataDistribution", nil, largeAnswer(7, 1000))
	b.SetBytes(int64(len(r.Response)))
	for b.Loop() {
		if kept := live.Redact(r); len(kept.Response) != len(r.Response) {
			b.Fatal("an answer without secrets was changed")
		}
	}
}
