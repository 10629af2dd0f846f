package metatest

import (
	"time"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/msgpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/rgpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/schemapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/etcdpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/indexpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/querypb"
)

func pair(key, value string) *commonpb.KeyValuePair {
	return &commonpb.KeyValuePair{Key: key, Value: value}
}

// catalog adds the records that are the same in all versions since 2.4.
func (b *builder) catalog() {
	docs0, docs1, items := VChannels()
	b.put(&etcdpb.DatabaseInfo{
		Name: "default", Id: 1, State: etcdpb.DatabaseState_DatabaseCreated, CreatedTime: 1795161287794529830,
	}, "root-coord/database/db-info/1")
	b.put(&etcdpb.DatabaseInfo{
		Name: "shop", Id: Shop, State: etcdpb.DatabaseState_DatabaseCreated, CreatedTime: 1795161287794529830,
		Properties: []*commonpb.KeyValuePair{
			pair("cipher.key", "s3cr3t-cipher"), pair("database.max.collections", "5"),
		},
	}, "root-coord/database/db-info/%d", Shop)
	b.put(&etcdpb.CollectionInfo{
		ID: Docs,
		Schema: &schemapb.CollectionSchema{
			Name: "docs", Description: "news articles", EnableDynamicField: true,
		},
		CreateTime:           TSO,
		VirtualChannelNames:  []string{docs0, docs1},
		PhysicalChannelNames: []string{"by-dev-rootcoord-dml_0", "by-dev-rootcoord-dml_1"}, ShardsNum: 2,
		ConsistencyLevel: commonpb.ConsistencyLevel_Bounded, DbId: 1,
		Properties: []*commonpb.KeyValuePair{
			pair("collection.ttl.seconds", "86400"), pair("cipher.ezID", "s3cr3t-cipher"),
		},
	}, "root-coord/database/collection-info/1/%d", Docs)
	b.put(&etcdpb.CollectionInfo{
		ID: Items, Schema: &schemapb.CollectionSchema{Name: "items"}, CreateTime: TSO,
		VirtualChannelNames: []string{items}, PhysicalChannelNames: []string{"by-dev-rootcoord-dml_2"}, ShardsNum: 1,
		DbId: Shop,
	}, "root-coord/database/collection-info/%d/%d", Shop, Items)
	for _, p := range []struct {
		id, collection int64
		name           string
	}{{Docs0, Docs, "_default"}, {DocsNews, Docs, "news"}, {Items0, Items, "_default"}} {
		b.put(&etcdpb.PartitionInfo{
			PartitionID: p.id, PartitionName: p.name, CollectionId: p.collection, PartitionCreatedTimestamp: TSO,
		},
			"root-coord/partitions/%d/%d", p.collection, p.id)
	}
	b.fields()
	b.put(&etcdpb.AliasInfo{AliasName: "latest", CollectionId: Docs, CreatedTime: TSO, DbId: 1},
		"root-coord/database/aliases/1/latest")
	b.put(&indexpb.FieldIndex{
		IndexInfo: &indexpb.IndexInfo{
			CollectionID: Docs, FieldID: 102, IndexName: "vec", IndexID: Index,
			TypeParams: []*commonpb.KeyValuePair{pair("dim", "8")},
			IndexParams: []*commonpb.KeyValuePair{
				pair("index_type", "HNSW"), pair("metric_type", "COSINE"), pair("M", "16"),
				pair("efConstruction", "200"),
			},
			UserIndexParams: []*commonpb.KeyValuePair{
				pair("index_type", "HNSW"), pair("metric_type", "COSINE"),
				pair("params", `{"M":16,"efConstruction":200}`),
			},
			MinIndexVersion: 5, MaxIndexVersion: 6,
		}, CreateTime: TSO,
	}, "field-index/%d/%d", Docs, Index)
	b.serving()
	b.time("kv/gid/timestamp", time.Unix(1795161290, 5).UTC())
	b.time("kv/gid/idTimestamp", time.Unix(1795161291, 0).UTC())
	b.raw("config/minio/secretAccessKey", []byte("s3cr3t-minio"))
	b.raw("config/queryCoord/autoBalance", []byte("false"))
	b.text("session/id", "42")
	b.text("snapshots/root-coord/database/collection-info/1/455000000000000099_ts455000000000000001",
		string(marshal(&etcdpb.CollectionInfo{
			ID: 455000000000000099, Schema: &schemapb.CollectionSchema{Name: "gone"}, DbId: 1,
		})))
	b.text("snapshots/root-coord/database/collection-info/1/455000000000000099_ts455000000000000002", "\xE2\x9B\xBC")
	b.text("root-coord/database/collection-info/1/455000000000000099", "\xE2\x9B\xBC")
}

func (b *builder) fields() {
	field := func(collection int64, f *schemapb.FieldSchema) {
		b.put(f, "root-coord/fields/%d/%d", collection, f.GetFieldID())
	}
	for _, collection := range []int64{Docs, Items} {
		field(collection, &schemapb.FieldSchema{FieldID: 0, Name: "RowID", DataType: schemapb.DataType_Int64})
		field(collection, &schemapb.FieldSchema{FieldID: 1, Name: "Timestamp", DataType: schemapb.DataType_Int64})
		field(collection, &schemapb.FieldSchema{
			FieldID: 100, Name: "id", DataType: schemapb.DataType_Int64, IsPrimaryKey: true, AutoID: true,
		})
		field(collection, &schemapb.FieldSchema{
			FieldID: 102, Name: "vec", DataType: schemapb.DataType_FloatVector,
			TypeParams: []*commonpb.KeyValuePair{pair("dim", "8")},
		})
	}
	field(Docs, &schemapb.FieldSchema{
		FieldID: 101, Name: "text", DataType: schemapb.DataType_VarChar, IsClusteringKey: true,
		TypeParams: []*commonpb.KeyValuePair{
			pair("max_length", "1000"), pair("analyzer_params", `{"tokenizer":"standard"}`),
		},
	})
	field(Docs, &schemapb.FieldSchema{FieldID: 103, Name: "$meta", DataType: schemapb.DataType_JSON, IsDynamic: true})
	field(Docs, &schemapb.FieldSchema{
		FieldID: 104, Name: "sparse", DataType: schemapb.DataType_SparseFloatVector, IsFunctionOutput: b.atLeast("2.5"),
	})
}

// serving adds QueryCoord's records: docs is loaded on query nodes 4 and 5.
func (b *builder) serving() {
	b.put(&querypb.CollectionLoadInfo{
		CollectionID: Docs, ReplicaNumber: 1, Status: querypb.LoadStatus_Loaded,
		LoadType:     querypb.LoadType_LoadCollection,
		FieldIndexID: map[int64]int64{102: Index}, DbID: 1,
	}, "querycoord-collection-loadinfo/%d", Docs)
	for _, p := range []int64{Docs0, DocsNews} {
		b.put(&querypb.PartitionLoadInfo{CollectionID: Docs, PartitionID: p, Status: querypb.LoadStatus_Loaded},
			"querycoord-partition-loadinfo/%d/%d", Docs, p)
	}
	docs0, docs1, _ := VChannels()
	replica := &querypb.Replica{
		ID: Docs + 50, CollectionID: Docs, Nodes: []int64{5, 4}, ResourceGroup: "__default_resource_group",
		ChannelNodeInfos: map[string]*querypb.ChannelNodeInfo{
			docs0: {RwNodes: []int64{4}}, docs1: {RwNodes: []int64{5}},
		},
	}
	if b.atLeast("2.6") {
		replica.RwSqNodes, replica.RoSqNodes = []int64{7}, []int64{8}
	}
	b.put(replica, "querycoord-replica/%d/%d", Docs, Docs+50)
	b.put(&querypb.ResourceGroup{
		Name: "__default_resource_group", Capacity: 1000000, Nodes: []int64{4, 5}, //nolint:staticcheck // still written
		Config: &rgpb.ResourceGroupConfig{
			Requests: &rgpb.ResourceGroupLimit{NodeNum: 0}, Limits: &rgpb.ResourceGroupLimit{NodeNum: 1000000},
			TransferFrom: []*rgpb.ResourceGroupTransfer{{ResourceGroup: "spare"}},
			TransferTo:   []*rgpb.ResourceGroupTransfer{{ResourceGroup: "spare"}},
		},
	}, "queryCoord-ResourceGroup/__default_resource_group")
	b.zstd(&querypb.CollectionTarget{
		CollectionID: Docs, Version: 1795161299,
		ChannelTargets: []*querypb.ChannelTarget{{
			ChannelName: docs0, GrowingSegmentIDs: []int64{Growing}, DroppedSegmentIDs: []int64{Compacted},
			SeekPosition: &msgpb.MsgPosition{Timestamp: TSO},
			PartitionTargets: []*querypb.PartitionTarget{
				{
					PartitionID: Docs0,
					Segments: []*querypb.SegmentTarget{
						{ID: Flushed, Level: datapb.SegmentLevel_L1, NumOfRows: 1000},
					},
				},
			},
		}},
	}, "queryCoord-Collection-Target/%d", Docs)
}

// access adds users and roles.
func (b *builder) access() {
	b.json(map[string]any{"username": "root", "encrypted_password": "$2a$10$s3cr3thashs3cr3thashs3"},
		"root-coord/credential/users/root")
	b.json(map[string]any{"encrypted_password": "$2a$10$s3cr3thashs3cr3thashs3"}, "root-coord/credential/users/ann")
	b.text("root-coord/credential/roles/admin", "")
	b.text("root-coord/credential/roles/reader", "")
	b.text("root-coord/credential/user-role-mapping/ann/reader", "")
	b.text("root-coord/credential/grantee-privileges/reader/Collection/shop.items", "0123456789abcdef")
	b.text("root-coord/credential/grantee-id/0123456789abcdef/PrivilegeSearch", "root")
}
