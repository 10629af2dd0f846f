package metagen

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/msgpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/rgpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/schemapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/etcdpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/indexpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/querypb"
	"google.golang.org/protobuf/proto"
)

const (
	version       = "2.4.15"
	channelPrefix = "milvus-prod" // msgChannel.chanNamePrefix.cluster
	databaseID    = 1
	resourceGroup = "__default_resource_group"
	pchannels     = 16
	vectorField   = 102
)

// Server ids of the generated processes.
const (
	coordinator    = 1
	indexNode      = 5
	firstProxy     = 6
	firstDataNode  = 8
	firstQueryNode = 12
	dataNodes      = 4
	queryNodes     = 8
	proxies        = 2
)

// catalog yields all keys except those of segments. It reports whether to go on.
func (s Shape) catalog(yield func(KV) bool) bool {
	for _, part := range []func(func(KV) bool) bool{s.allocators, s.sessions, s.database} {
		if !part(yield) {
			return false
		}
	}
	for c := range s.Collections {
		if !s.collection(c, yield) {
			return false
		}
	}
	return true
}

func (s Shape) allocators(yield func(KV) bool) bool {
	nanos := binary.BigEndian.AppendUint64(nil, uint64(s.Start.UnixNano()))
	for _, key := range []string{"gid/idTimestamp", "gid/timestamp", "querycoord-id-allocator/idTimestamp"} {
		if !yield(KV{s.Root + "/kv/" + key, nanos}) {
			return false
		}
	}
	return true
}

// session holds the fields of Milvus's internal/util/sessionutil.SessionRaw that matter here.
type session struct {
	ServerID           int64
	ServerName         string
	Address            string
	Exclusive          bool `json:",omitempty"`
	Stopping           bool
	TriggerKill        bool
	Version            string
	IndexEngineVersion struct{ MinimalIndexVersion, CurrentIndexVersion int32 }
	LeaseID            int64
	HostName           string
}

func (s Shape) sessions(yield func(KV) bool) bool {
	register := func(key, role string, id int64, exclusive bool) bool {
		r := session{
			ServerID: id, ServerName: role, Address: fmt.Sprintf("10.0.3.%d:%d", id, 21100+id),
			Exclusive: exclusive, TriggerKill: true, Version: version, HostName: fmt.Sprintf("milvus-%s-%d", role, id),
		}
		if role == "querynode" {
			r.IndexEngineVersion.CurrentIndexVersion = 5
		}
		value, err := json.Marshal(r)
		if err != nil {
			panic(err) // a struct of plain values always encodes
		}
		return yield(KV{s.meta("session/" + key), value})
	}
	node := func(role string, first int64, n int64) bool {
		for id := first; id < first+n; id++ {
			if !register(fmt.Sprintf("%s-%d", role, id), role, id, false) {
				return false
			}
		}
		return true
	}
	for i, role := range []string{"rootcoord", "datacoord", "querycoord", "indexcoord"} {
		if !register(role, role, coordinator+int64(i), true) {
			return false
		}
	}
	return node("indexnode", indexNode, 1) && node("proxy", firstProxy, proxies) &&
		node("datanode", firstDataNode, dataNodes) &&
		node("querynode", firstQueryNode, queryNodes) &&
		yield(KV{s.meta("session/id"), []byte(strconv.Itoa(firstQueryNode + queryNodes))})
}

func (s Shape) database(yield func(KV) bool) bool {
	group := &querypb.ResourceGroup{Name: resourceGroup, Config: &rgpb.ResourceGroupConfig{
		Requests: &rgpb.ResourceGroupLimit{}, Limits: &rgpb.ResourceGroupLimit{NodeNum: 1_000_000},
	}}
	group.Capacity = 1_000_000 //nolint:staticcheck // 2.4 fills the deprecated field
	for id := range int64(queryNodes) {
		group.Nodes = append(group.Nodes, firstQueryNode+id)
	}
	return yield(s.message("root-coord/database/db-info/1", &etcdpb.DatabaseInfo{
		Name: "default", Id: databaseID, State: etcdpb.DatabaseState_DatabaseCreated,
		CreatedTime: uint64(s.Start.UnixNano()),
	})) && yield(s.message("queryCoord-ResourceGroup/"+resourceGroup, group))
}

func (s Shape) collection(c int, yield func(KV) bool) bool {
	id, created := s.CollectionID(c), s.tso(0)
	info := &etcdpb.CollectionInfo{
		ID: id, Schema: &schemapb.CollectionSchema{Name: s.CollectionName(c), Description: "generated"},
		CreateTime: created, ShardsNum: int32(s.Shards), ConsistencyLevel: commonpb.ConsistencyLevel_Bounded,
		DbId: databaseID,
	}
	for shard := range s.Shards {
		info.VirtualChannelNames = append(info.VirtualChannelNames, s.vchannel(c, shard))
		info.PhysicalChannelNames = append(info.PhysicalChannelNames, s.pchannel(c, shard))
		info.StartPositions = append(info.StartPositions, &commonpb.KeyDataPair{
			Key: s.pchannel(c, shard), Data: messageID(1, 0),
		})
	}
	if !yield(s.message(fmt.Sprintf("root-coord/database/collection-info/%d/%d", databaseID, id), info)) {
		return false
	}
	for _, f := range fields() {
		if !yield(s.message(fmt.Sprintf("root-coord/fields/%d/%d", id, f.FieldID), f)) {
			return false
		}
	}
	return s.partitions(c, yield) && s.channels(c, yield) && s.serving(c, yield) &&
		yield(s.message(fmt.Sprintf("root-coord/database/aliases/%d/%s", databaseID, name("docs_current", c)),
			&etcdpb.AliasInfo{
				AliasName: name("docs_current", c), CollectionId: id, CreatedTime: created, DbId: databaseID,
			}))
}

// fields returns the schema of every collection: the two system fields and three user fields.
func fields() []*schemapb.FieldSchema {
	return []*schemapb.FieldSchema{
		{FieldID: 0, Name: "RowID", Description: "row id", DataType: schemapb.DataType_Int64},
		{FieldID: 1, Name: "Timestamp", Description: "time stamp", DataType: schemapb.DataType_Int64},
		{FieldID: 100, Name: "id", IsPrimaryKey: true, DataType: schemapb.DataType_Int64},
		{
			FieldID: 101, Name: "tag", DataType: schemapb.DataType_VarChar,
			TypeParams: []*commonpb.KeyValuePair{{Key: "max_length", Value: "64"}},
		},
		{
			FieldID: vectorField, Name: "embedding", DataType: schemapb.DataType_FloatVector,
			TypeParams: []*commonpb.KeyValuePair{{Key: "dim", Value: "768"}},
		},
	}
}

func (s Shape) partitions(c int, yield func(KV) bool) bool {
	for p := range s.Partitions {
		title := "_default"
		if p > 0 {
			title = name("day", p)
		}
		if !yield(s.message(fmt.Sprintf("root-coord/partitions/%d/%d", s.CollectionID(c), s.partitionID(c, p)),
			&etcdpb.PartitionInfo{
				PartitionID: s.partitionID(c, p), PartitionName: title, PartitionCreatedTimestamp: s.tso(0),
				CollectionId: s.CollectionID(c),
			})) {
			return false
		}
	}
	return true
}

func (s Shape) channels(c int, yield func(KV) bool) bool {
	for shard := range s.Shards {
		channel, node := s.vchannel(c, shard), int64(firstDataNode+(c*s.Shards+shard)%dataNodes)
		position := s.position(channel, node, s.Segments)
		watch := &datapb.ChannelWatchInfo{
			Vchan: &datapb.VchannelInfo{CollectionID: s.CollectionID(c), ChannelName: channel, SeekPosition: position},
			State: datapb.ChannelWatchState_WatchSuccess, StartTs: s.Start.Unix(),
			Schema: &schemapb.CollectionSchema{Name: s.CollectionName(c), Fields: fields()},
		}
		if !yield(s.message("datacoord-meta/channel-cp/"+channel, position)) ||
			!yield(s.message(fmt.Sprintf("channelwatch/%d/%s", node, channel), watch)) {
			return false
		}
	}
	return true
}

// serving yields the index definition, the load records and the replica.
func (s Shape) serving(c int, yield func(KV) bool) bool {
	id, index := s.CollectionID(c), s.indexID(c)
	kinds := map[int64]int64{vectorField: index}
	params := []*commonpb.KeyValuePair{
		{Key: "index_type", Value: "HNSW"},
		{Key: "metric_type", Value: "COSINE"},
		{Key: "M", Value: "16"},
		{Key: "efConstruction", Value: "200"},
	}
	replica := &querypb.Replica{ID: id + 600, CollectionID: id, ResourceGroup: resourceGroup}
	for n := range int64(3) {
		replica.Nodes = append(replica.Nodes, firstQueryNode+(int64(c)+n)%queryNodes)
	}
	for p := range s.Partitions {
		if !yield(s.message(fmt.Sprintf("querycoord-partition-loadinfo/%d/%d", id, s.partitionID(c, p)),
			&querypb.PartitionLoadInfo{
				CollectionID: id, PartitionID: s.partitionID(c, p), ReplicaNumber: 1, Status: querypb.LoadStatus_Loaded,
				FieldIndexID: kinds,
			})) {
			return false
		}
	}
	return yield(s.message(fmt.Sprintf("field-index/%d/%d", id, index), &indexpb.FieldIndex{
		IndexInfo: &indexpb.IndexInfo{
			CollectionID: id, FieldID: vectorField, IndexName: "idx_embedding", IndexID: index,
			TypeParams: []*commonpb.KeyValuePair{{Key: "dim", Value: "768"}}, IndexParams: params,
			UserIndexParams: params[:2],
		},
		CreateTime: s.tso(0),
	})) &&
		yield(s.message(fmt.Sprintf("querycoord-collection-loadinfo/%d", id), &querypb.CollectionLoadInfo{
			CollectionID: id, ReplicaNumber: 1, Status: querypb.LoadStatus_Loaded,
			LoadType: querypb.LoadType_LoadCollection, FieldIndexID: kinds,
		})) &&
		yield(s.message(fmt.Sprintf("querycoord-replica/%d/%d", id, replica.ID), replica))
}

func (s Shape) meta(path string) string { return s.Root + "/meta/" + path }

func (s Shape) message(path string, m proto.Message) KV {
	value, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		panic(err) // a message without required fields and with valid UTF-8 always encodes
	}
	return KV{s.meta(path), value}
}

func (s Shape) pchannel(c, shard int) string {
	return fmt.Sprintf("%s-rootcoord-dml_%d", channelPrefix, (c*s.Shards+shard)%pchannels)
}

func (s Shape) vchannel(c, shard int) string {
	return fmt.Sprintf("%s_%dv%d", s.pchannel(c, shard), s.CollectionID(c), shard)
}

// position returns a position in a vchannel, consumed by the subscription of a data node.
func (s Shape) position(channel string, node int64, i int) *msgpb.MsgPosition {
	return &msgpb.MsgPosition{
		ChannelName: channel, MsgID: messageID(uint64(1000+i/5000), uint64(i)),
		MsgGroup: fmt.Sprintf("datanode-%d-%s-true", node, channel), Timestamp: s.tso(i),
	}
}

// messageID encodes the fields of Pulsar's MessageIdData (PulsarApi.proto): ledger, entry, partition -1 and
// batch index.
func messageID(ledger, entry uint64) []byte {
	b := binary.AppendUvarint([]byte{0x08}, ledger)
	b = binary.AppendUvarint(append(b, 0x10), entry)
	b = binary.AppendUvarint(append(b, 0x18), 1<<64-1)
	return append(b, 0x20, 0)
}

func name(stem string, n int) string { return fmt.Sprintf("%s_%02d", stem, n) }
