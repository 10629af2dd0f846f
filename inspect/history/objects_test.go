package history_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/msgpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/schemapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/etcdpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/indexpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/querypb"
	"github.com/milvus-io/milvus/pkg/v3/proto/streamingpb"

	"kitescope/inspect/model"
)

func segment(id int64, state commonpb.SegmentState, rows int64, from ...int64) *datapb.SegmentInfo {
	return &datapb.SegmentInfo{
		ID: id, CollectionID: 7, PartitionID: 70, State: state, NumOfRows: rows, CompactionFrom: from,
		InsertChannel: channel,
	}
}

func TestSegments(t *testing.T) {
	const growing, sealed, flushing, flushed, dropped = commonpb.SegmentState_Growing, commonpb.SegmentState_Sealed,
		commonpb.SegmentState_Flushing, commonpb.SegmentState_Flushed, commonpb.SegmentState_Dropped
	key := func(id int) string { return fmt.Sprintf("datacoord-meta/s/7/70/%d", id) }
	s := begin(t, key(1), segment(1, flushed, 500))
	s.write(put(t, key(2), segment(2, growing, 0)))
	s.write(put(t, key(2), segment(2, growing, 100))) // a sync is not an event
	s.write(put(t, key(2), segment(2, sealed, 100)))
	s.write(put(t, key(2), segment(2, flushing, 100)))
	s.write(put(t, key(2), segment(2, flushed, 120)))
	// The order within the transaction does not matter.
	s.write(put(t, key(1), segment(1, dropped, 500)), put(t, key(3), segment(3, flushed, 620, 1, 2)),
		put(t, key(2), segment(2, dropped, 120)))
	s.write(deleted(key(1)))
	s.write(put(t, "datacoord-meta/binlog/7/70/3/100", ""))
	got := s.events()
	expect(
		t, got,
		"segment_created segments/2: created: Growing, on "+channel,
		"segment_sealed segments/2: sealed: Growing → Sealed, 100 rows",
		"segment_flushing segments/2: is being flushed: Sealed → Flushing, 100 rows",
		"segment_flushed segments/2: flushed: Flushing → Flushed, 120 rows",
		"segment_dropped segments/1: dropped: Flushed → Dropped, compacted into 3",
		"segment_compacted segments/3: compacted: Flushed, from 1, 2, 620 rows",
		"segment_dropped segments/2: dropped: Flushed → Dropped, compacted into 3",
		"segment_removed segments/1: record removed",
	)
}

func TestIndexes(t *testing.T) {
	definition := func(deleted bool) *indexpb.FieldIndex {
		return &indexpb.FieldIndex{Deleted: deleted, IndexInfo: &indexpb.IndexInfo{
			CollectionID: 7, IndexID: 9, IndexName: "idx",
			IndexParams: []*commonpb.KeyValuePair{{Key: "index_type", Value: "HNSW"}},
		}}
	}
	build := func(state commonpb.IndexState, reason string) *indexpb.SegmentIndex {
		return &indexpb.SegmentIndex{
			CollectionID: 7, PartitionID: 70, SegmentID: 2, IndexID: 9, BuildID: 5, NodeID: 3, State: state,
			FailReason: reason,
		}
	}
	const key = "segment-index/7/70/2/5"
	s := begin(t)
	s.write(put(t, "field-index/7/9", definition(false)))
	s.write(put(t, key, build(commonpb.IndexState_Unissued, "")))
	s.write(put(t, key, build(commonpb.IndexState_InProgress, "")))
	s.write(put(t, key, build(commonpb.IndexState_Retry, "no memory, token=hunter2")))
	s.write(put(t, key, build(commonpb.IndexState_InProgress, "")))
	s.write(put(t, key, build(commonpb.IndexState_Finished, "")))
	s.write(put(t, "field-index/7/9", definition(true)))
	s.write(deleted("field-index/7/9"))
	got := s.events()
	expect(
		t, got,
		"index_created indexes/idx: created: field_id=0 type=HNSW",
		"index_failed segment-indexes/idx: failed: InProgress → Retry, no memory, token=<redacted>",
		"index_built segment-indexes/idx: built: InProgress → Finished, on segment 2 by node 3",
		"index_dropped indexes/idx: dropped: field_id=0 type=HNSW deleted=true",
	)
}

func TestCatalog(t *testing.T) {
	const key, partition = "root-coord/database/collection-info/1/7", "root-coord/partitions/7/70"
	field := func(name string) *schemapb.FieldSchema { return &schemapb.FieldSchema{FieldID: 100, Name: name} }
	collection := func(state etcdpb.CollectionState, name string) *etcdpb.CollectionInfo {
		return &etcdpb.CollectionInfo{ID: 7, State: state, Schema: &schemapb.CollectionSchema{Name: name}, ShardsNum: 1}
	}
	load := func(status querypb.LoadStatus) *querypb.CollectionLoadInfo {
		return &querypb.CollectionLoadInfo{CollectionID: 7, Status: status, ReplicaNumber: 1}
	}
	s := begin(t)
	s.write(put(t, key, collection(etcdpb.CollectionState_CollectionCreating, "docs"))) //nolint:staticcheck // of 2.5
	s.write(
		put(t, "root-coord/fields/7/100", field("pk")),
		put(t, partition, &etcdpb.PartitionInfo{PartitionID: 70, CollectionId: 7, PartitionName: "_default"}),
	)
	s.write(put(t, key, collection(etcdpb.CollectionState_CollectionCreated, "docs")))
	s.write(put(t, "querycoord-collection-loadinfo/7", load(querypb.LoadStatus_Loading)))
	s.write(put(t, "querycoord-collection-loadinfo/7", load(querypb.LoadStatus_Loaded)))
	s.write(put(t, key, collection(etcdpb.CollectionState_CollectionCreated, "papers")))
	s.write(put(t, "root-coord/fields/7/101", &schemapb.FieldSchema{FieldID: 101, Name: "year"}))
	s.write(deleted("querycoord-collection-loadinfo/7"))
	s.write(put(t, key, collection(etcdpb.CollectionState_CollectionDropping, "papers")))
	s.write(deleted(partition), deleted("root-coord/fields/7/100"))
	s.write(put(t, key, "\xE2\x9B\xBC")) // RootCoord's tombstone
	expect(
		t, s.events(),
		"partition_created partitions/_default: created: state=Created",
		"collection_created collections/papers: created: state=Created database_id=1 shards=1 "+
			"consistency_level=Strong layout=2.2.9",
		"collection_loading collections/papers: is being loaded: Loading, state=Loading replicas=1 "+
			"load_type=LoadCollection",
		"collection_loaded collections/papers: loaded: Loading → Loaded",
		"collection_altered collections/papers: altered: name=docs → name=papers",
		"collection_altered collections/papers: altered: field year",
		"collection_released collections/papers: released",
		"collection_dropped collections/papers: dropped: Created → Dropping",
		"partition_dropped partitions/_default: dropped",
	)
}

// TestSecrets checks that secrets in values before and after a change are redacted.
func TestSecrets(t *testing.T) {
	s := begin(t)
	write := func(key, value string) {
		e := put(t, "", value)
		e.Key = []byte("by-dev/" + key)
		s.write(e)
	}
	for _, password := range []string{"hunter1", "hunter2", "hunter2"} {
		write("config/minio/secretAccessKey", password)
		write("config/mysql/url", "tcp://root:"+password+"@db:3306")
		write("meta/root-coord/credential/users/root", `{"username":"root","encrypted_password":"`+password+`"}`)
		write("meta/session/querynode-4",
			`{"ServerID":4,"ServerName":"querynode","Address":"u:`+password+`@h:1","ServerLabels":{"token":"`+password+
				`"}}`)
		s.write(put(t, "root-coord/database/db-info/1", &etcdpb.DatabaseInfo{
			Id: 1, Name: "default", Properties: []*commonpb.KeyValuePair{{Key: "kms.secret", Value: password}},
		}))
		s.write(put(t, "root-coord/database/collection-info/1/7", &etcdpb.CollectionInfo{
			ID: 7, Schema: &schemapb.CollectionSchema{Name: "docs"},
			Properties: []*commonpb.KeyValuePair{{Key: "api_key", Value: password}},
		}))
		s.write(put(t, "datacoord-meta/import-job/3", &datapb.ImportJob{
			JobID: 3, State: 2, Reason: "password=" + password,
		}))
		s.write(put(t, "segment-index/7/70/2/5", &indexpb.SegmentIndex{
			SegmentID: 2, BuildID: 5, State: commonpb.IndexState_Failed, FailReason: "password=" + password,
		}))
	}
	s.write(deleted("root-coord/database/db-info/1"), deleted("session/querynode-4"))
	h := s.reader.Finish()
	if h.Len() < 12 {
		t.Fatalf("only %d events", h.Len())
	}
	for i := range h.Len() {
		if text := fmt.Sprintf("%+v", h.Event(i)); strings.Contains(text, "hunter") {
			t.Errorf("an event tells a secret: %s", text)
		}
	}
}

func TestConfig(t *testing.T) {
	s := begin(t)
	write := func(name, value string, gone bool) {
		e := put(t, "", value)
		e.Key, e.Deleted = []byte("by-dev/config/"+name), gone
		s.write(e)
	}
	write("queryCoord/autoBalance", "false", false)
	write("queryCoord/autoBalance", "false", false)
	write("queryCoord/autoBalance", "true", false)
	write("queryCoord/autoBalance", "", true)
	write("minio/secretAccessKey", "a", false)
	write("minio/secretAccessKey", "b", false)
	expect(
		t, s.events(),
		"config_changed config/queryCoord/autoBalance: set to false (was unset)",
		"config_changed config/queryCoord/autoBalance: set to true (was false)",
		"config_changed config/queryCoord/autoBalance: unset (was true)",
		"config_changed config/minio/secretAccessKey: set to <redacted> (was unset)",
		"config_changed config/minio/secretAccessKey: set to <redacted> (was <redacted>)",
	)
}

func TestCheckpoints(t *testing.T) {
	key := "datacoord-meta/channel-cp/" + channel
	s := begin(t, "root-coord/database/collection-info/1/7", &etcdpb.CollectionInfo{
		ID: 7, Schema: &schemapb.CollectionSchema{Name: "docs"},
	})
	move := func() {
		s.write(put(t, key, &msgpb.MsgPosition{ChannelName: channel, Timestamp: uint64(model.TSOFromTime(s.now))}))
	}
	for range 5 {
		move()
		s.advance(time.Minute)
	}
	s.advance(5 * time.Minute)
	move()
	s.advance(time.Minute)
	s.write(put(t, "datacoord-meta/s/7/70/2", segment(2, commonpb.SegmentState_Growing, 0)))
	s.advance(6 * time.Minute) // rows that are not in storage hold it
	move()
	s.advance(20 * time.Minute)
	is := " vchannels/" + channel + ": "
	expect(
		t, s.events(),
		"checkpoint_stopped"+is+"checkpoint stopped: 2026-11-20T09:04:00Z, no update for 6 min",
		"checkpoint_resumed"+is+"checkpoint resumes, after 6 min",
		"segment_created segments/2: created: Growing, on "+channel,
		"checkpoint_stopped"+is+"checkpoint stopped: 2026-11-20T09:17:00Z, no update for 20 min",
	)
}

func TestStreaming(t *testing.T) {
	p := func(node int64, state streamingpb.PChannelMetaState) *streamingpb.PChannelMeta {
		return &streamingpb.PChannelMeta{
			Channel: &streamingpb.PChannelInfo{Name: "by-dev-rootcoord-dml_0"}, State: state,
			Node: &streamingpb.StreamingNodeInfo{ServerId: node},
		}
	}
	const key = "streamingcoord-meta/pchannel/by-dev-rootcoord-dml_0"
	const assigned = streamingpb.PChannelMetaState_PCHANNEL_META_STATE_ASSIGNED
	s := begin(t, key, p(4, assigned))
	s.write(put(t, key, p(6, streamingpb.PChannelMetaState_PCHANNEL_META_STATE_ASSIGNING)))
	s.write(put(t, key, p(6, assigned)))
	is := " pchannels/by-dev-rootcoord-dml_0: "
	expect(
		t, s.events(),
		"channel_reassigned"+is+"reassigned: streamingnode-4 → streamingnode-6, Assigning",
		"channel_rewritten"+is+"rewritten: Assigning → Assigned, by streamingnode-6",
	)
}

func TestUsers(t *testing.T) {
	s := begin(t)
	const users, grants = "root-coord/credential/", "root-coord/credential/grantee-"
	s.write(put(t, users+"users/ann", `{"username":"ann","encrypted_password":"x"}`))
	s.write(put(t, users+"roles/reader", ""))
	s.write(put(t, users+"user-role-mapping/ann/reader", ""))
	s.write(put(t, grants+"privileges/reader/Collection/default.docs", "a1"),
		put(t, grants+"id/a1/PrivilegeSearch", "root"))
	s.write(put(t, users+"users/ann", `{"username":"ann","encrypted_password":"y"}`))
	s.write(deleted(grants + "id/a1/PrivilegeSearch"))
	s.write(deleted(users + "user-role-mapping/ann/reader"))
	s.write(deleted(users+"users/ann"), deleted(users+"roles/reader"))
	expect(
		t, s.events(),
		"user_created users/ann: created",
		"role_created roles/reader: created",
		"role_granted roles/reader: granted: ann",
		"privilege_granted grants/reader Search: granted: Collection docs",
		"user_changed users/ann: credential written again",
		"privilege_revoked grants/reader Search: revoked",
		"role_revoked roles/reader: revoked",
		"user_dropped users/ann: dropped",
		"role_dropped roles/reader: dropped",
	)
}

// TestNonEvents checks that changes that are not events are counted.
func TestNonEvents(t *testing.T) {
	s := begin(t, "no/such/key", "1")
	s.write(put(t, "no/such/key", "2"), put(t, "session/id", "4"))
	s.write(put(t, "datacoord-meta/s/7/70/2", "\xff\xff"), put(t, "snapshots/root-coord/fields/7/100_ts42", ""))
	s.write(put(t, "session/querynode-4", "{"))
	h := s.reader.Finish()
	if h.Len() != 0 || h.Undecoded != 2 || h.NonEvents[""] != 1 || h.NonEvents["session-id"] != 1 ||
		h.NonEvents["history"] != 1 {
		t.Errorf("%d events, %d undecoded, counted are %v", h.Len(), h.Undecoded, h.NonEvents)
	}
	if h.Revisions != 3 || h.Changes != 5 || h.From != 100 || h.To != 103 {
		t.Errorf("%d revisions and %d changes, from %d to %d", h.Revisions, h.Changes, h.From, h.To)
	}
}
