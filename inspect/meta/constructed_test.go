package meta

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kitescope/inspect/meta/metatest"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
	"kitescope/internal/redact"
)

// loadConstructed loads the constructed cluster of a version without a capture.
func loadConstructed(t *testing.T, version string) *model.Cluster {
	t.Helper()
	c, err := Load(context.Background(), newMemory(metatest.Cluster(version)),
		Want{Parts: model.PartAll, Records: true})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestConstructedVersions(t *testing.T) {
	for _, version := range metatest.Versions() {
		c := loadConstructed(t, version)
		if c.Version.Text != version+".1" || c.Version.From != "sessions" || len(c.Version.Notes) > 0 {
			t.Errorf("%s: version %+v", version, c.Version)
		}
		var want []*model.Undecoded
		if version == "3.0" {
			want = []*model.Undecoded{
				{
					Key:    "by-dev/meta/datacoord-meta/s/455000000000000200/455000000000000201/455000000000001008",
					Reason: "SegmentInfo: unknown field 99",
				},
			}
		}
		if diff := cmp.Diff(want, c.Undecoded, cmpopts.IgnoreFields(model.Undecoded{}, "Size")); diff != "" {
			t.Errorf("%s: undecoded (-want +got):\n%s", version, diff)
		}
		if c.Tombstones != 2 || len(c.Collections) != 2 {
			t.Errorf("%s: %d tombstones, %d collections", version, c.Tombstones, len(c.Collections))
		}
	}
}

// TestLayoutVersions checks the version of clusters without sessions, which only the keys can show.
func TestLayoutVersions(t *testing.T) {
	want := map[string]string{
		"2.4": "2.4 or newer", "2.5": "2.5 or newer", "2.6": "2.6 or newer", "3.0": "3.0 or newer",
	}
	for version, text := range want {
		m := newMemory(metatest.Cluster(version))
		kept := m.kvs[:0]
		for _, kv := range m.kvs {
			if !strings.Contains(string(kv.Key), "/session/") {
				kept = append(kept, kv)
			}
		}
		m.kvs = kept
		c, err := Load(context.Background(), m, Want{Parts: model.PartAll})
		if err != nil {
			t.Fatal(err)
		}
		if c.Version.Text != text || c.Version.From != "key layout" {
			t.Errorf("%s without sessions: %+v, want %s", version, c.Version, text)
		}
	}
}

func TestConstructedSegments(t *testing.T) {
	c := loadConstructed(t, "2.6")
	s := c.Segment(model.SegmentID(metatest.Flushed))
	wantLogs := []model.FieldLogs{
		{Kind: model.InsertLog, Field: 0, Files: 1, Rows: 1000, Bytes: 4000, MemoryBytes: 8000},
		{Kind: model.InsertLog, Field: 1, Files: 1, Rows: 1000, Bytes: 4000, MemoryBytes: 8000},
		{Kind: model.InsertLog, Field: 100, Files: 1, Rows: 1000, Bytes: 4000, MemoryBytes: 8000},
		{Kind: model.InsertLog, Field: 102, Files: 1, Rows: 1000, Bytes: 4000, MemoryBytes: 8000},
		{Kind: model.DeltaLog, Field: 100, Files: 1, Rows: 10, Bytes: 160, MemoryBytes: 320},
		{Kind: model.StatsLog, Field: 100, Files: 1, Bytes: 200, MemoryBytes: 400},
		{Kind: model.BM25Log, Field: 104, Files: 1, Rows: 1000, Bytes: 120, MemoryBytes: 240},
	}
	if diff := cmp.Diff(wantLogs, s.Logs); diff != "" {
		t.Errorf("logs (-want +got):\n%s", diff)
	}
	if s.Bytes != 16480 || s.DeletedRows != 10 || s.IndexBytes != 8000 || s.StorageVersion != 2 || !s.Sorted {
		t.Errorf("flushed segment %+v", s)
	}
	if got := c.IndexState(s); got != model.IndexFinished {
		t.Errorf("index state %v", got)
	}
	if x := s.Indexes[0]; x.EngineVersion != 6 || !x.FinishedAt.Equal(time.Unix(1795161305, 0)) ||
		x.State != model.IndexFinished {
		t.Errorf("segment index %+v", x)
	}
	zero := c.Segment(model.SegmentID(metatest.LevelZero))
	if zero.Level != model.LevelL0 || zero.Partition != -1 || zero.DeletedRows != 25 ||
		c.IndexState(zero) != model.IndexNotNeeded {
		t.Errorf("L0 segment %+v", zero)
	}
	want := &model.GrowingStat{
		PChannel: "by-dev-rootcoord-dml_1", State: "Growing", Level: model.LevelL1, Rows: 321, Bytes: 4567,
		MaxBytes: 1 << 20, Flushes: 2,
		CreatedAt: time.Unix(1795161280, 0).UTC(),
	}
	growing := c.Segment(model.SegmentID(metatest.Growing))
	if diff := cmp.Diff(want, growing.Details.Growing); diff != "" {
		t.Errorf("growing segment (-want +got):\n%s", diff)
	}
	text := c.Segment(model.SegmentID(metatest.Stored + 1))
	details := &model.SegmentDetails{
		PartitionStatsVersion: 7,
		TextIndexes:           []model.FieldStat{{Field: 101, Version: 2, Files: 2, Bytes: 30, MemoryBytes: 60}},
		JSONIndexes:           []model.FieldStat{{Field: 103, Version: 1, Files: 1, Bytes: 10}},
	}
	if diff := cmp.Diff(details, text.Details); diff != "" || !text.Invisible || text.Level != model.LevelL2 {
		t.Errorf("segment with text index (-want +got):\n%s", diff)
	}
}

func TestConstructed30(t *testing.T) {
	c := loadConstructed(t, "3.0")
	details := &model.SegmentDetails{
		ManifestPath: fmt.Sprintf(`{"ver":1,"base_path":"files/insert_log/%d/%d/%d"}`, metatest.Items, metatest.Items0,
			metatest.Stored+2), CommitAt: model.TSO(metatest.TSO), SchemaVersion: 2, DataVersion: 3,
		ExpiresAt: []int64{1795161280000000},
		Stats: &model.RecordedStats{
			InsertBytes: 100, Deletes: 2, InsertFiles: 1, InsertsFrom: model.TSO(metatest.TSO),
			InsertsTo: model.TSO(metatest.TSO), Formats: []string{"vortex"},
		},
	}
	if s := c.Segment(model.SegmentID(metatest.Stored + 2)); cmp.Diff(details, s.Details) != "" || !s.SortedByKey ||
		s.DeletedRows != 2 {
		t.Errorf("segment of storage version 3 %+v (-want +got):\n%s", s, cmp.Diff(details, s.Details))
	}
	if s := c.Segment(model.SegmentID(metatest.Stored + 3)); s == nil || s.Rows != 8 {
		t.Errorf("a segment with an unknown field is not used: %+v", s)
	}
	if s := c.Segment(model.SegmentID(metatest.Flushed)); s.DeletedRows != 13 {
		t.Errorf("%d deleted rows, want 10 by key and 3 by predicate", s.DeletedRows)
	}
	if s := c.Snapshots; len(s) != 1 || s[0].Name != "nightly" || s[0].State != "Committed" || s[0].Pins != 2 ||
		s[0].ProtectedUntil.Unix() != 1795161280 {
		t.Errorf("snapshots %+v", s)
	}
	var jobs []string
	for _, x := range c.Tasks {
		if x.ID > 9400 && x.ID < 9500 {
			jobs = append(jobs,
				fmt.Sprintf("%s|%s|%s|%s|%s|%d %d", x.Type, x.SubType+x.Snapshot, x.State, x.Progress, x.Reason,
					len(x.Segments), len(x.Results)))
		}
	}
	want := []string{
		"copy-segment-job|nightly|Executing|1/2 segments, 9 rows||1 1", "copy-segment||InProgress|||1 1",
		"export-snapshot-job|nightly|Failed|4/9 files|denied|0 0",
		"external-refresh-job||Failed|100%, applied|index wait|0 0", "external-refresh||Finished|100%||1 2",
	}
	slices.Sort(jobs)
	if diff := cmp.Diff(want, jobs); diff != "" {
		t.Errorf("jobs (-want +got):\n%s", diff)
	}
}

func TestConstructedSchema(t *testing.T) {
	x := loadConstructed(t, "2.6").Collection(model.CollectionID(metatest.Docs))
	var fields []string
	for _, f := range x.Fields {
		fields = append(fields, strings.TrimSpace(f.Name+" "+f.Type+" "+f.ElementType+" "+f.Struct))
	}
	want := []string{
		"RowID Int64", "Timestamp Int64", "id Int64", "text VarChar", "vec FloatVector", "$meta JSON",
		"sparse SparseFloatVector", "chunks ArrayOfStruct", "chunks[part] Array VarChar chunks",
		"chunks[vec] ArrayOfVector FloatVector chunks",
	}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	if f := x.Field(112); f.Dim != 4 {
		t.Errorf("dim %d", f.Dim)
	}
	if len(x.Functions) != 2 || x.Functions[0].Type != "BM25" || !x.DynamicField || !x.AutoID ||
		!x.Field(101).Clustering || !x.Field(104).FuncOutput {
		t.Errorf("collection %+v", x)
	}
	wantParams := []model.Pair{
		{Key: "provider", Value: "openai"},
		{Key: "api_key", Value: redact.Redacted},
		{Key: "url", Value: "https://<redacted>@host/v1"},
	}
	if diff := cmp.Diff(wantParams, x.Functions[1].Params); diff != "" {
		t.Errorf("function parameters (-want +got):\n%s", diff)
	}
	if got := pairValue(x.Field(101).Params, "analyzer_params"); got != `{"tokenizer":"standard"}` {
		t.Errorf("a tokenizer is no secret: %s", got)
	}
}

func TestConstructedChannels(t *testing.T) {
	docs0, docs1, items := metatest.VChannels()
	old := loadConstructed(t, "2.5")
	if v := old.VChannel(docs1); v.Watcher != 3 || v.WatchState != "WatchSuccess" ||
		!cmp.Equal(v.OtherWatchers, []model.NodeID{99}) || v.Shard != 1 {
		t.Errorf("2.5: %+v", v)
	}
	if v := old.VChannel(items); v.Watcher != model.UnassignedNode || v.WatchState != "ToWatch" {
		t.Errorf("2.5: %+v", v)
	}
	c := loadConstructed(t, "2.6")
	if v := c.VChannel(docs0); !v.Watched || v.Watcher != 7 || v.WatchState != "Assigned" || v.State != "Normal" ||
		v.Removal != "non-removed" {
		t.Errorf("2.6: %+v", v)
	}
	gone := c.VChannel("by-dev-rootcoord-dml_3_455000000000000099v0")
	if gone.Checkpoint.At != model.MaxTSO || gone.Shard != -1 || gone.Collection != 455000000000000099 {
		t.Errorf("dropped channel: %+v", gone)
	}
	p := c.PChannel("by-dev-rootcoord-dml_1")
	if !p.Streaming || p.State != "Assigned" || p.Node != 8 || p.Term != 2 || p.AccessMode != "ReadWrite" ||
		string(p.Checkpoint.Message) != "101" {
		t.Errorf("pchannel %+v", p)
	}
	want := &model.Streaming{
		Version: 1, ControlPChannel: "by-dev-rootcoord-dml_0",
		Clusters: []model.ReplicationCluster{
			{ID: "east", URI: "http://east:19530", PChannels: []string{"east-dml_0"}},
			{ID: "west", URI: "http://west:19530", PChannels: []string{"west-dml_0"}},
		},
		Links: []model.ReplicationLink{{Source: "east", Target: "west"}},
		Channels: []model.ReplicationChannel{
			{
				Source: "east-dml_0", Target: "west-dml_0", Cluster: "west", StartedAt: model.TSO(metatest.TSO),
				Start: "100",
			},
		},
	}
	if diff := cmp.Diff(want, c.Streaming); diff != "" {
		t.Errorf("streaming (-want +got):\n%s", diff)
	}
}

func TestConstructedServing(t *testing.T) {
	c := loadConstructed(t, "2.6")
	var sessions []string
	for _, s := range c.Sessions {
		sessions = append(sessions, s.Role+" "+s.Node.String()+" "+s.State())
	}
	want := []string{
		"datanode 3 registered", "mixcoord 1 registered", "mixcoord 9 standby", "proxy 2 registered",
		"querynode 4 registered", "querynode 5 stopping", "querynode 7 registered", "querynode 8 registered",
		"streamingnode 7 registered", "streamingnode 8 registered",
	}
	if diff := cmp.Diff(want, sessions); diff != "" {
		t.Errorf("sessions (-want +got):\n%s", diff)
	}
	if s := c.SessionIn(7, "querynode"); !cmp.Equal(s.Labels,
		[]model.Pair{{Key: "QUERYNODE_STREAMING-EMBEDDED", Value: "1"}}) {
		t.Errorf("labels %+v", s.Labels)
	}
	if s := c.SessionIn(4, "querynode"); s.IndexEngine != (model.EngineRange{Minimal: 1, Current: 6}) ||
		s.Lease != 7004 {
		t.Errorf("session %+v", s)
	}
	r := c.Replicas[0]
	if !cmp.Equal(r.Nodes, []model.NodeID{4, 5}) || !cmp.Equal(r.StreamingNodes, []model.NodeID{7}) ||
		!cmp.Equal(r.ROStreamingNodes, []model.NodeID{8}) || len(r.ChannelNodes) != 2 {
		t.Errorf("replica %+v", r)
	}
	g := c.ResourceGroups[0]
	if g.Limits != 1000000 || g.Requests != 0 || !cmp.Equal(g.TransferFrom, []string{"spare"}) {
		t.Errorf("resource group %+v", g)
	}
	if v := c.Targets[0].VChannels[0]; v.Rows != 1000 ||
		!cmp.Equal(v.Segments, []model.SegmentID{model.SegmentID(metatest.Flushed)}) {
		t.Errorf("target %+v", v)
	}
}

func TestConstructedTasks(t *testing.T) {
	var got []string
	for _, x := range loadConstructed(t, "2.6").Tasks {
		if x.Type == "broadcast" && x.StartedAt.IsZero() {
			t.Error("a broadcast has no time, and one channel has acknowledged it")
		}
		got = append(got, strings.Join([]string{x.Type, x.SubType, x.State, x.Progress, x.Reason}, "|"))
	}
	want := []string{
		"analyze|text|Finished||",
		"broadcast|AlterUser|Pending|1/2 acknowledged|",
		"compaction|MixCompaction|completed|1010 rows|",
		"import|Request|InProgress||",
		"import-job||Importing||read https://<redacted>@bucket/a.json: not found",
		"preimport||Completed|2 files, 100 rows|",
		"stats|Sort|InProgress||",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
	c := loadConstructed(t, "2.5")
	if s := c.PartitionStats; len(s) != 1 || !s[0].Current || s[0].Version != 7 {
		t.Errorf("partition stats %+v", s)
	}
	if g := c.PrivilegeGroups; len(g) != 1 || !cmp.Equal(g[0].Privileges, []string{"Query", "Search"}) {
		t.Errorf("privilege groups %+v", g)
	}
	want1 := []*model.Grant{
		{
			Role: "reader", ObjectType: "Collection", Database: "shop", Object: "items", Privilege: "Search",
			Grantor: "root",
		},
	}
	if diff := cmp.Diff(want1, c.Grants); diff != "" {
		t.Errorf("grants (-want +got):\n%s", diff)
	}
	if len(c.History) != 2 || c.History[0].Name != "gone" || !c.History[1].Tombstone {
		t.Errorf("history %+v", c.History)
	}
}

// importTask235 is the record of a failed import, as written by Milvus 2.3.5.
const importTask235 = "CNCAwLK2iqnEBhgBIMmAwLK2iqnEBijKgMCytoqpxAYyK2J5LWRldi1yb290Y29vcmQtZG1sXzBfNDcwODA2ODM5MTY1OTc2NjQ5djBKDGluL25vbmUuanNv" +
	"blCnobLYBlp4CAEqdGZhaWxlZCB0byBnZXQgZmlsZSBzaXplIG9mICdpbi9ub25lLmpzb24nLCBlcnJvcjpzdGF0IGluL25vbmUuanNvbjogbm8gc3VjaCBmaWxlIG9yIGRp" +
	"cmVjdG9yeTogaW1wb3J0aW5nIGRhdGEgZmFpbGVkYgNpbXBqCF9kZWZhdWx0chUKEHByb2dyZXNzX3BlcmNlbnQSATB4p6Gy2AY="

func TestImportTask23(t *testing.T) {
	value, err := base64.StdEncoding.DecodeString(importTask235)
	if err != nil {
		t.Fatal(err)
	}
	kv := source.KV{Key: []byte("by-dev/meta/importtask/470806839165976656"), Value: value}
	c, err := Load(context.Background(), newMemory([]source.KV{kv}), Want{Parts: model.PartTasks})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 29, 20, 52, 55, 0, time.UTC)
	want := []*model.Task{{
		ID: 470806839165976656, Type: "import-job", Collection: 470806839165976649, Partition: 470806839165976650,
		State: "Failed", Node: 1,
		Progress: "1 files, 0 rows",
		Reason: "failed to get file size of 'in/none.json', error:stat in/none.json: no such file or directory: " +
			"importing data failed",
		Trigger:  470806839165976656,
		Details:  []string{"files=in/none.json", "sent_at=2026-11-29T20:52:55Z", "progress_percent=0"},
		VChannel: "by-dev-rootcoord-dml_0_470806839165976649v0", StartedAt: at, Key: string(kv.Key),
	}}
	if diff := cmp.Diff(want, c.Tasks); diff != "" || len(c.Undecoded) > 0 {
		t.Errorf("tasks (-want +got):\n%s\nundecoded %v", diff, c.Undecoded)
	}
}
