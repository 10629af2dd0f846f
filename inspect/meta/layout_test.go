package meta

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/schemapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/etcdpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/streamingpb"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// store builds a small store from relative keys and messages or texts.
func store(t *testing.T, keys map[string]any) *memory {
	t.Helper()
	var kvs []source.KV
	for key, value := range keys {
		kv := source.KV{Key: []byte("by-dev/meta/" + key), ModRevision: 5, Version: 1}
		switch value := value.(type) {
		case proto.Message:
			raw, err := proto.Marshal(value)
			if err != nil {
				t.Fatal(err)
			}
			kv.Value = raw
		case string:
			kv.Value = []byte(value)
		}
		kvs = append(kvs, kv)
	}
	return newMemory(kvs)
}

func loadStore(t *testing.T, keys map[string]any) *model.Cluster {
	t.Helper()
	c, err := Load(t.Context(), store(t, keys), Want{Parts: model.PartAll})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func fieldLogs(field, files, rows, size int64) *datapb.FieldBinlog {
	m := &datapb.FieldBinlog{FieldID: field}
	for range files {
		m.Binlogs = append(m.Binlogs, &datapb.Binlog{EntriesNum: rows, LogSize: size})
	}
	return m
}

// TestTwoLayoutsCountOnce checks that, for a segment with logs both inline and under their own keys, only the
// inline logs of each kind count.
func TestTwoLayoutsCountOnce(t *testing.T) {
	c := loadStore(t, map[string]any{
		"datacoord-meta/s/1/2/3": &datapb.SegmentInfo{
			ID: 3, CollectionID: 1, PartitionID: 2, State: commonpb.SegmentState_Flushed, NumOfRows: 10,
			Binlogs: []*datapb.FieldBinlog{
				fieldLogs(101, 1, 10, 500), fieldLogs(100, 2, 5, 100), fieldLogs(100, 1, 3, 1),
			},
		},
		"datacoord-meta/binlog/1/2/3/100":   fieldLogs(100, 2, 5, 100),
		"datacoord-meta/deltalog/1/2/3/0":   fieldLogs(0, 1, 4, 30),
		"datacoord-meta/deltalog/1/2/3/7":   "",
		"datacoord-meta/statslog/1/2/3/100": fieldLogs(99, 1, 0, 8),
	})
	s := c.Segment(3)
	want := []model.FieldLogs{
		{Kind: model.InsertLog, Field: 100, Files: 3, Rows: 13, Bytes: 201},
		{Kind: model.InsertLog, Field: 101, Files: 1, Rows: 10, Bytes: 500},
		{Kind: model.DeltaLog, Field: 0, Files: 1, Rows: 4, Bytes: 30},
		{Kind: model.StatsLog, Field: 100, Files: 1, Bytes: 8},
	}
	if diff := cmp.Diff(want, s.Logs); diff != "" {
		t.Errorf("logs (-want +got):\n%s", diff)
	}
	if !s.TwoLayouts || s.Bytes != 739 || s.DeletedRows != 4 {
		t.Errorf("segment %+v", s)
	}
	if len(c.Version.Notes) != 1 || !strings.Contains(c.Version.Notes[0], "1 segments have logs both") {
		t.Errorf("notes %q", c.Version.Notes)
	}
	if len(c.Undecoded) != 1 || c.Undecoded[0].Reason != "FieldBinlog: fieldID is 99, in its key 100" {
		t.Errorf("undecoded %+v", c.Undecoded)
	}
}

// TestCollectionLayouts checks that the newer layout of a collection in both the layouts of 2.1 and 2.2.9 is
// shown, and that a collection in the layout of 2.2 reads its fields from keys.
func TestCollectionLayouts(t *testing.T) {
	inline := func(id int64, name string) *etcdpb.CollectionInfo {
		return &etcdpb.CollectionInfo{
			ID: id,
			Schema: &schemapb.CollectionSchema{
				Name:   name,
				Fields: []*schemapb.FieldSchema{{FieldID: 100, Name: "pk", AutoID: true, IsPrimaryKey: true}},
			},
			PartitionIDs: []int64{7, 8}, PartitionNames: []string{"_default"},
			VirtualChannelNames: []string{"p_1v0", "p_1v1"},
		}
	}
	c := loadStore(t, map[string]any{
		"root-coord/collection/1": inline(1, "old name"),
		"root-coord/database/collection-info/1/1": &etcdpb.CollectionInfo{
			ID: 1, Schema: &schemapb.CollectionSchema{Name: "new name"}, ShardsNum: 1,
		},
		"root-coord/fields/1/100": &schemapb.FieldSchema{FieldID: 100, Name: "id"},
		"root-coord/collection/2": inline(2, "two"),
		"root-coord/collection/3": &etcdpb.CollectionInfo{
			ID: 3, Schema: &schemapb.CollectionSchema{Name: "three"}, State: etcdpb.CollectionState_CollectionDropping,
		},
		"root-coord/fields/3/100":         &schemapb.FieldSchema{FieldID: 100, Name: "id3"},
		"root-coord/partitions/3/30":      &etcdpb.PartitionInfo{PartitionID: 30, CollectionId: 3, PartitionName: "p"},
		"root-coord/collection/4":         "\xE2\x9B\xBC",
		"root-coord/fields/5/100":         &schemapb.FieldSchema{FieldID: 100, Name: "leftover"},
		"root-coord/collection-alias/a":   &etcdpb.CollectionInfo{ID: 2, Schema: &schemapb.CollectionSchema{Name: "a"}},
		"root-coord/aliases/a":            &etcdpb.AliasInfo{AliasName: "a", CollectionId: 3},
		"root-coord/database/aliases/1/a": &etcdpb.AliasInfo{AliasName: "a", CollectionId: 1},
	})
	var got []string
	for _, x := range c.Collections {
		var fields []string
		for _, f := range x.Fields {
			fields = append(fields, f.Name)
		}
		got = append(got,
			fmt.Sprint(x.ID, x.Name, " ", x.Layout, " ", x.State, " db", x.Database, " ", fields, " shards", x.Shards,
				" parts", len(c.PartitionsOf(x.ID))))
	}
	want := []string{
		"1new name 2.2.9 Created db1 [id] shards1 parts0",
		"2two 2.1  db0 [pk] shards2 parts2",
		"3three 2.2 Dropping db0 [id3] shards0 parts1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("collections (-want +got):\n%s", diff)
	}
	if len(c.Aliases) != 1 || c.Aliases[0].Collection != 1 {
		t.Errorf("aliases %+v", c.Aliases)
	}
	if c.Tombstones != 1 || c.Version.Text != "2.2.9 to 2.3" ||
		!strings.Contains(strings.Join(c.Version.Notes, ";"), "1 collections are recorded in two layouts") {
		t.Errorf("tombstones %d, version %+v", c.Tombstones, c.Version)
	}
}

func TestContradictions(t *testing.T) {
	c := loadStore(t, map[string]any{
		"datacoord-meta/s/1/2/3":               &datapb.SegmentInfo{ID: 3, CollectionID: 9, PartitionID: 2},
		"root-coord/partitions/1/2":            &etcdpb.PartitionInfo{PartitionID: 5, PartitionName: "p"},
		"root-coord/database/db-info/7":        &etcdpb.DatabaseInfo{Id: 8, Name: "db"},
		"session/querynode-4":                  `{"ServerID":4,"ServerName":"querynode","Stopping":"yes","Version":"2.4.1"}`,
		"session/querynode-5":                  `[1]`,
		"datacoord-meta/predicate-deltalog/1":  "",
		"root-coord/database/db-info/default":  "",
		"root-coord/credential/users/no-json":  "{",
		"streamingcoord-meta/version":          "\x08\x01\x10\x01",
		"datacoord-meta/channel-removal/p_1v0": "removed",
	})
	var got []string
	for _, u := range c.Undecoded {
		got = append(got, strings.TrimPrefix(u.Key, "by-dev/meta/")+": "+u.Reason)
	}
	want := []string{
		"datacoord-meta/predicate-deltalog/1: unknown key",
		"datacoord-meta/s/1/2/3: SegmentInfo: collectionID is 9, in its key 1",
		"root-coord/credential/users/no-json: user: not valid JSON",
		`root-coord/database/db-info/default: database key with "default" where the database id belongs`,
		"root-coord/database/db-info/7: DatabaseInfo: id is 8, in its key 7",
		"root-coord/partitions/1/2: PartitionInfo: id is 5, in its key 2",
		"session/querynode-4: session: Stopping is a JSON string",
		"session/querynode-5: session: JSON, but not an object",
		"streamingcoord-meta/version: StreamingVersion: unknown field 2",
	}
	if diff := cmp.Diff(want, got, cmp.Transformer("sort", func(x []string) map[string]bool {
		m := make(map[string]bool)
		for _, s := range x {
			m[s] = true
		}
		return m
	})); diff != "" {
		t.Errorf("undecoded (-want +got):\n%s", diff)
	}
	if c.Segment(3).Collection != 1 || c.SessionIn(4, "querynode") == nil || c.Version.Text != "2.4.1" {
		t.Error("records with a flaw are not used")
	}
	if v := c.VChannel("p_1v0"); v.Removal != "removed" || v.Collection != 1 {
		t.Errorf("channel %+v", v)
	}
}

// TestMixedLogs checks segments with a column group that holds a field with logs of its own, in one layout or in
// two.
func TestMixedLogs(t *testing.T) {
	group := func(id int64, fields ...int64) *datapb.FieldBinlog {
		m := fieldLogs(id, 1, 5, 10)
		m.ChildFields = fields
		return m
	}
	const prefix = "datacoord-meta/binlog/1/2/"
	for _, x := range []struct {
		name          string
		inline, keyed []*datapb.FieldBinlog
		want          bool
	}{
		{"fields", nil, []*datapb.FieldBinlog{fieldLogs(0, 1, 5, 10), fieldLogs(100, 1, 5, 10)}, false},
		{"groups", nil, []*datapb.FieldBinlog{group(0, 0, 1, 100), group(101, 101)}, false},
		{
			"a group of another field", nil,
			[]*datapb.FieldBinlog{fieldLogs(0, 1, 5, 10), fieldLogs(100, 1, 5, 10), group(153, 153)},
			false,
		},
		{"both", nil, []*datapb.FieldBinlog{fieldLogs(100, 1, 5, 10), group(0, 0, 1, 100)}, true},
		{"both, without files", nil, []*datapb.FieldBinlog{fieldLogs(100, 0, 0, 0), group(0, 0, 1, 100)}, false},
		{"both in the record", []*datapb.FieldBinlog{fieldLogs(100, 1, 5, 10), group(100, 0, 1, 100)}, nil, true},
		{
			"one each: keys do not count then",
			[]*datapb.FieldBinlog{fieldLogs(100, 1, 5, 10)},
			[]*datapb.FieldBinlog{group(0, 0, 100)},
			false,
		},
	} {
		t.Run(x.name, func(t *testing.T) {
			keys := map[string]any{
				"datacoord-meta/s/1/2/3": &datapb.SegmentInfo{
					ID: 3, CollectionID: 1, PartitionID: 2, State: commonpb.SegmentState_Flushed, Binlogs: x.inline,
				},
			}
			for _, logs := range x.keyed {
				keys[fmt.Sprintf("%s3/%d", prefix, logs.GetFieldID())] = logs
			}
			s := loadStore(t, keys).Segment(3)
			if s.MixedLogs != x.want {
				t.Errorf("mixed: %v of %+v", s.MixedLogs, s.Logs)
			}
		})
	}
}

// TestReplicationTarget checks that the progress of a replication target is decoded, and that no token is.
func TestReplicationTarget(t *testing.T) {
	cluster := func(id string) *commonpb.MilvusCluster {
		return &commonpb.MilvusCluster{
			ClusterId:       id,
			ConnectionParam: &commonpb.ConnectionParam{Uri: "http://ann:planted@" + id, Token: "planted"},
			Pchannels:       []string{id + "-dml_0"},
		}
	}
	position := func(at uint64) *commonpb.ReplicateCheckpoint {
		return &commonpb.ReplicateCheckpoint{
			ClusterId: "east", Pchannel: "east-dml_0", MessageId: &commonpb.MessageID{Id: "CAMQBQ=="}, TimeTick: at,
		}
	}
	c, err := Load(t.Context(), store(t, map[string]any{
		"streamingcoord-meta/replicate-configuration": &streamingpb.ReplicateConfigurationMeta{
			ForcePromoted: true,
			ReplicateConfiguration: &commonpb.ReplicateConfiguration{
				Clusters: []*commonpb.MilvusCluster{cluster("east"), cluster("west")},
				CrossClusterTopology: []*commonpb.CrossClusterTopology{
					{SourceClusterId: "east", TargetClusterId: "west"},
				},
			},
		},
		"streamingnode-meta/wal/west-dml_0/consume-checkpoint": &streamingpb.WALCheckpoint{
			TimeTick: 9, ReplicateCheckpoint: position(7),
		},
		"streamingnode-meta/wal/west-dml_0/salvage-checkpoint/east": position(5),
	}), Want{Parts: model.PartAll, Records: true})
	if err != nil {
		t.Fatal(err)
	}
	at := func(tick model.TSO) model.ReplicatePosition {
		return model.ReplicatePosition{Cluster: "east", PChannel: "east-dml_0", Message: "CAMQBQ==", At: tick}
	}
	taken := at(7)
	want := &model.PChannel{
		Name: "west-dml_0", Checkpoint: model.Checkpoint{At: 9, Message: []byte{}, PChannel: "west-dml_0"},
		Replicated: &taken, Salvaged: []model.ReplicatePosition{at(5)},
	}
	if diff := cmp.Diff(want, c.PChannel("west-dml_0")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !c.Streaming.ForcePromoted || strings.Contains(fmt.Sprintf("%+v", *c.Streaming), "planted") {
		t.Errorf("%+v", *c.Streaming)
	}
	if keys := c.Keyspace.ObjectKeys("replication", "east-dml_0/west-dml_0"); len(keys) != 3 {
		t.Errorf("records %v", keys)
	}
}

// TestDynamicUndeclared checks that the flag in a collection's record is distinguished from the flags of its fields.
func TestDynamicUndeclared(t *testing.T) {
	for _, said := range []bool{false, true} {
		c := loadStore(t, map[string]any{
			"root-coord/database/collection-info/1/9": &etcdpb.CollectionInfo{
				ID: 9, Schema: &schemapb.CollectionSchema{Name: "x", EnableDynamicField: said},
			},
			"root-coord/fields/9/101": &schemapb.FieldSchema{
				FieldID: 101, Name: "$meta", DataType: schemapb.DataType_JSON, IsDynamic: true,
			},
		})
		if x := c.Collection(9); !x.DynamicField || x.DynamicUndeclared == said {
			t.Errorf("said %v: %+v", said, x)
		}
	}
}
