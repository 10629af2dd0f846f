package layout_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/meta"
	"kitescope/inspect/meta/metatest"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
	"kitescope/replay"
	"kitescope/replay/layout"
)

// memory is a store of typed records, for versions without a capture.
type memory []source.KV

func (m memory) Header() source.Header {
	return source.Header{Root: "by-dev", MetaPath: "meta", Revision: 1}
}
func (m memory) Seekable() bool     { return true }
func (m memory) Gaps() []source.Gap { return nil }
func (m memory) Close() error       { return nil }

func (m memory) Scan(_ context.Context, ranges []source.Range, yield func(source.KV) error) error {
	for _, kv := range m {
		if slices.ContainsFunc(ranges, func(r source.Range) bool {
			return string(kv.Key) >= r.From && string(kv.Key) < r.To
		}) {
			if err := yield(kv); err != nil {
				return err
			}
		}
	}
	return nil
}

func constructed(t testing.TB, version string) *model.Cluster {
	t.Helper()
	kvs := metatest.Cluster(version)
	slices.SortFunc(kvs, func(a, b source.KV) int { return bytes.Compare(a.Key, b.Key) })
	c, err := meta.Load(t.Context(), memory(kvs), meta.Want{Parts: layout.Parts, Records: true})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestLaterVersions checks logs by id, L0 segments, column groups (which look like fields) and growing segments of
// streaming nodes.
func TestLaterVersions(t *testing.T) {
	for _, version := range metatest.Versions() {
		l, err := layout.New(constructed(t, version), layout.Options{Collection: "docs", Field: "vec"})
		if err != nil {
			t.Fatal(err)
		}
		if len(l.L0) != 1 || l.L0[0].Partition != -1 || len(l.L0[0].Files) != 1 ||
			l.L0[0].Segment != metatest.LevelZero {
			t.Errorf("%s: L0 %+v", version, l.L0)
		}
		for _, s := range l.Segments {
			switch s.ID {
			case metatest.LevelZero:
				t.Errorf("%s: the L0 segment is searched", version)
			case metatest.Growing:
				if s.State != replay.Growing || s.On[0] == 0 || version >= "2.6" && s.Rows != 321 {
					t.Errorf("%s: growing %+v", version, s)
				}
			case metatest.Flushed:
				prefix := "insert_log/455000000000000100/"
				if s.State != replay.Indexed || s.Rows != 1000 || !strings.HasPrefix(s.Files.Insert[102][0], prefix) ||
					len(s.Files.Delta) != 1 || len(s.Files.Indexes) != 1 {
					t.Errorf("%s: flushed %+v, files %+v", version, s, s.Files)
				}
			}
		}
	}
}

const channel = "by-dev-rootcoord-dml_0_1v0"

// newCluster returns a cluster with one collection of 2.3 whose query nodes 7, 8 and 9 reported something unusual.
func newCluster(replicas []*model.Replica, records []*model.Segment, nodes ...*model.LiveNode) *model.Cluster {
	c := model.Build(model.Parts{
		Loaded: model.PartAll, Version: model.Version{Text: "2.3.5"},
		Collections: []*model.Collection{{ID: 1, Name: "c", VChannels: []string{channel}, Fields: []*model.Field{
			{ID: 100, Name: "id", Type: "Int64", PrimaryKey: true}, {ID: 101, Name: "vec", Type: "FloatVector", Dim: 4},
		}}},
		Indexes: []*model.Index{
			{
				ID: 5, Collection: 1, Field: 101, Name: "x", Type: "HNSW", Metric: "IP",
				Params: []model.Pair{{Key: "M", Value: "8"}},
			},
		},
		LoadStates: []*model.LoadState{{Collection: 1, Status: "Loaded"}}, Replicas: replicas, Segments: records,
		Sessions: []*model.Session{
			{Node: 7, Role: "querynode"}, {Node: 8, Role: "querynode"}, {Node: 9, Role: "querynode"},
		},
	})
	return c.WithRuntime(model.BuildRuntime(model.RuntimeParts{Nodes: nodes}))
}

func flushed(id model.SegmentID, rows int64, builds ...model.BuildID) *model.Segment {
	s := &model.Segment{ID: id, Collection: 1, Partition: 2, VChannel: channel, State: model.SegmentFlushed, Rows: rows}
	for _, b := range builds {
		s.Indexes = append(s.Indexes, model.SegmentIndex{
			Segment: id, Index: 5, Build: b, Version: 1, State: model.IndexFinished, Files: 1,
		})
	}
	return s
}

func node(id model.NodeID, views []model.LeaderView, sealed ...model.ServedSegment) *model.LiveNode {
	for i := range sealed {
		sealed[i].Collection, sealed[i].Partition, sealed[i].Channel = 1, 2, channel
	}
	for i := range views {
		views[i].Collection, views[i].Channel = 1, channel
	}
	return &model.LiveNode{
		Role: "querynode", Node: id, Outcome: model.Answered,
		Distribution: &model.Distribution{Sealed: sealed, Leaders: views},
	}
}

func withIndex(build model.BuildID) []model.ServedIndex {
	return []model.ServedIndex{{Field: 101, Index: 5, Build: build}}
}

// line is a segment in a form for comparison.
type line struct {
	ID    int64
	State string
	Index string
	Rows  int64
	On    []int64
}

func lines(l *replay.Layout) (list []line) {
	for _, s := range l.Segments {
		list = append(list, line{s.ID, s.State.String(), s.Index.Type, s.Rows, s.On})
	}
	return list
}

// TestFilesOf30 checks an index path below its collection, and the timestamp of an import's commit.
func TestFilesOf30(t *testing.T) {
	s := flushed(11, 10, 110, 111)
	s.Indexes[1].ByCollection, s.Indexes[1].Collection = true, 1
	s.Details = &model.SegmentDetails{CommitAt: 77}
	c := newCluster([]*model.Replica{{ID: 3, Collection: 1, Nodes: []model.NodeID{7}}}, []*model.Segment{s},
		node(7, nil, model.ServedSegment{ID: 11}))
	files := layoutOf(t, c, "c").Segments[0].Files
	if diff := cmp.Diff([]string{"index_v1/1/2/11/111/1", "index_files/110/1/2/11"}, files.Indexes); diff != "" {
		t.Errorf("folders of indexes (-want +got):\n%s", diff)
	}
	if files.CommitAt != 77 {
		t.Errorf("committed at %d", files.CommitAt)
	}
}

// TestNodesTakePrecedence checks that reports of nodes take precedence over the metadata.
func TestNodesTakePrecedence(t *testing.T) {
	one := []*model.Replica{{ID: 3, Collection: 1, Nodes: []model.NodeID{7, 8}}}
	records := func() []*model.Segment {
		dropped := flushed(16, 60, 160)
		dropped.State = model.SegmentDropped
		return []*model.Segment{
			flushed(11, 10, 110), flushed(12, 20, 120), flushed(13, 30), flushed(14, 40, 140, 141), flushed(15, 50),
			dropped,
		}
	}
	c := newCluster(one, records(),
		node(7, []model.LeaderView{{
			Growing: []model.GrowingView{{ID: 13}, {ID: 14}, {ID: 17}}, GrowingRows: 75,
			Sealed: []model.LeaderSegment{{ID: 11, Node: 8}, {ID: 14, Node: 7}},
		}},
			model.ServedSegment{ID: 11, Indexes: withIndex(110)}, model.ServedSegment{ID: 12},
			model.ServedSegment{ID: 14, Indexes: withIndex(140)}),
		node(8, nil, model.ServedSegment{ID: 11, Indexes: withIndex(110)}, model.ServedSegment{
			ID: 16, Indexes: withIndex(160),
		}))
	l := layoutOf(t, c, "c")
	want := []line{
		{11, "indexed", "HNSW", 10, []int64{8}},        // on two nodes: the leader queries 8
		{12, "sealed, row by row", "", 20, []int64{7}}, // its index is built but not loaded
		{13, "growing", "", 30, []int64{7}},            // flushed but served as growing
		{14, "indexed", "HNSW", 40, []int64{7}},        // both: the sealed one is searched
		{16, "indexed", "HNSW", 60, []int64{8}},        // dropped but still served
		{17, "growing", "", 5, []int64{7}},             // no record: gets the remainder of 75 rows
	}
	if diff := cmp.Diff(want, lines(l)); diff != "" {
		t.Errorf("segments (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"index_files/140/1/2/14", "index_files/141/1/2/14"},
		l.Segments[3].Files.Indexes); diff != "" {
		t.Errorf("the loaded index comes first (-want +got):\n%s", diff)
	}
	for _, text := range []string{
		"skipped: 1 flushed segment, 50 rows, not served by any node",
		"still served but dropped in the metadata, probably compacted: 16", "on two nodes of a replica",
		"served both sealed and growing", "read without its segment records",
	} {
		if !hasNote(l, text) {
			t.Errorf("no note %q in %q", text, l.Notes)
		}
	}
	if l.Assumed || len(l.Nodes) != 3 || l.Nodes[2].Name != "querynode-9" {
		t.Errorf("assumed %v, nodes %+v: the idle one is missing", l.Assumed, l.Nodes)
	}
}

// TestUnresponsiveNodes checks that a segment has a node in each replica, and that an unresponsive node gets
// the segments that no other node reports.
func TestUnresponsiveNodes(t *testing.T) {
	two := []*model.Replica{
		{ID: 3, Collection: 1, Nodes: []model.NodeID{7}}, {ID: 4, Collection: 1, Nodes: []model.NodeID{8, 9}},
	}
	silent := &model.LiveNode{Role: "querynode", Node: 9, Outcome: model.TimedOut}
	c := newCluster(two, []*model.Segment{flushed(11, 10, 110), flushed(12, 20, 120)},
		node(7, []model.LeaderView{{}}, model.ServedSegment{ID: 11, Indexes: withIndex(110)}, model.ServedSegment{
			ID: 12, Indexes: withIndex(120),
		}),
		node(8, []model.LeaderView{{}}, model.ServedSegment{ID: 11, Indexes: withIndex(110)}), silent)
	l := layoutOf(t, c, "c")
	want := []line{{11, "indexed", "HNSW", 10, []int64{7, 8}}, {12, "indexed", "HNSW", 20, []int64{7, 9}}}
	if diff := cmp.Diff(want, lines(l)); diff != "" {
		t.Errorf("segments (-want +got):\n%s", diff)
	}
	if l.Replicas[0].Leaders[channel] != 7 || l.Replicas[1].Leaders[channel] != 8 ||
		!hasNote(l, "querynode-9 (timed out)") {
		t.Errorf("replicas %+v, notes %q", l.Replicas, l.Notes)
	}
	// No node responded: segments are placed by the rule, the largest first to the node with the fewest rows.
	c = newCluster(two[1:], []*model.Segment{flushed(11, 10), flushed(12, 30, 120), flushed(13, 15)}, silent)
	l = layoutOf(t, c, "c")
	want = []line{
		{11, "sealed, row by row", "", 10, []int64{9}},
		{12, "indexed", "HNSW", 30, []int64{8}},
		{13, "sealed, row by row", "", 15, []int64{9}},
	}
	if diff := cmp.Diff(want, lines(l)); diff != "" || !l.Assumed {
		t.Errorf("assumed %v, segments (-want +got):\n%s", l.Assumed, diff)
	}
}

// TestSkippedSegments checks that segments no search uses are skipped and counted.
func TestSkippedSegments(t *testing.T) {
	change := func(id model.SegmentID, f func(*model.Segment)) *model.Segment {
		s := flushed(id, 10)
		f(s)
		return s
	}
	c := newCluster(nil, []*model.Segment{
		flushed(11, 10),
		change(12, func(s *model.Segment) { s.State = model.SegmentDropped }),
		change(13, func(s *model.Segment) { s.Compacted = true }),
		change(14, func(s *model.Segment) { s.Invisible = true }),
		change(15, func(s *model.Segment) { s.State = model.SegmentImporting }),
		change(16, func(s *model.Segment) { s.State, s.Rows = model.SegmentGrowing, 0 }),
	})
	l := layoutOf(t, c, "c")
	want := []line{{11, "sealed, row by row", "", 10, []int64{7}}, {16, "growing", "", -1, []int64{7}}}
	if diff := cmp.Diff(want, lines(l)); diff != "" {
		t.Errorf("segments (-want +got):\n%s", diff)
	}
	for _, text := range []string{
		"skipped: 1 segment dropped", "skipped: 1 segment compacted", "skipped: 1 segment being imported",
		"skipped: 1 segment not visible", "row count unknown for 1 segment",
	} {
		if !hasNote(l, text) {
			t.Errorf("no note %q in %q", text, l.Notes)
		}
	}
}

// TestStorage checks that the location of the files is read from the configuration, without secrets.
func TestStorage(t *testing.T) {
	values := map[string]string{
		"common.storageType": "remote", "minio.address": "https://reader:hunter2@minio.example/x",
		"minio.port": "9000", "minio.bucketName": "b", "minio.useSSL": "true",
		"minio.region": "eu-1", "minio.rootPath": "/some/where/", "minio.secretAccessKey": "hunter2",
		"localStorage.path": "/data",
	}
	folded := map[string]string{}
	for k, v := range values {
		folded[model.FoldConfigKey(k)] = v
	}
	n := node(7, nil)
	n.Config = &model.Config{Values: folded}
	l := layoutOf(t, newCluster([]*model.Replica{{ID: 3, Collection: 1, Nodes: []model.NodeID{7}}}, nil, n), "c")
	want := replay.Storage{Kind: "remote", Endpoint: "minio.example:9000", Bucket: "b", TLS: true, Region: "eu-1"}
	if diff := cmp.Diff(want, l.Storage); diff != "" || l.Root != "some/where" {
		t.Errorf("root %q, storage (-want +got):\n%s", l.Root, diff)
	}
}
