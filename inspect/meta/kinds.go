package meta

import (
	"slices"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"
	"github.com/milvus-io/milvus-proto/go-api/v3/msgpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/schemapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/etcdpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/indexpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/querypb"
	"github.com/milvus-io/milvus/pkg/v3/proto/streamingpb"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/meta/legacypb"
	"kitescope/inspect/model"
)

// encoding is the encoding of a value.
type encoding uint8

const (
	encProto encoding = iota
	encZstdProto
	encJSON
	encText
	encNumber // decimal text
	encTime   // 8 bytes, big-endian nanoseconds since the Unix epoch
	encEmpty  // all information is in the key
)

func (e encoding) String() string {
	return [...]string{"protobuf", "zstd protobuf", "json", "text", "number", "time", "empty"}[e]
}

// kindID is the number of a kind in the table.
type kindID uint8

// Kinds of keys. kindUnknown is 0.
const (
	kindUnknown kindID = iota
	kindSessionID
	kindSession
	kindDatabase
	kindCollection
	kindCollection22
	kindPartition
	kindField
	kindFunction
	kindStructField
	kindAlias
	kindAlias22
	kindAlias21
	kindIndex21
	kindSegmentIndex21
	kindDDOperation
	kindDDMsgSend
	kindUser
	kindRole
	kindUserRole
	kindGrantee
	kindGrant
	kindPrivilegeGroup
	kindSegment
	kindBinlog
	kindDeltalog
	kindStatslog
	kindBM25Log
	kindPredicateDeltalog
	kindChannelCheckpoint
	kindChannelRemoval
	kindChannelWatch
	kindImportJob
	kindPreImportTask
	kindImportTask
	kindImportTask23
	kindCompactionTask
	kindAnalyzeTask
	kindStatsTask
	kindPartitionStats
	kindPartitionStatsVersion
	kindSnapshot
	kindCopySegmentJob
	kindCopySegmentTask
	kindExportSnapshotJob
	kindRefreshJob
	kindRefreshTask
	kindFieldIndex
	kindSegmentIndex
	kindIndexMeta21
	kindCollectionLoad
	kindPartitionLoad
	kindReplica
	kindResourceGroup
	kindTarget
	kindCollectionLoad21
	kindReplica21
	kindLoadedSegment21
	kindDMChannel21
	kindDeltaChannel21
	kindQueryNode21
	kindSegmentChange21
	kindTaskState21
	kindUnsubscribe21
	kindStreamingVersion
	kindControlChannel
	kindPChannel
	kindBroadcastTask
	kindReplicateConfig
	kindReplicatePChannel
	kindWALCheckpoint
	kindWALVChannel
	kindWALSchema
	kindWALSegment
	kindWALSalvage
	kindWALQueryView
	kindQueryView
	kindConfig
	kindAllocator
	kindWoodpeckerLog
	kindWoodpeckerLock
	kindWoodpeckerSegment
	kindWoodpeckerReader
	kindWoodpeckerCleaning
	kindWoodpeckerLogIDs
	kindWoodpeckerQuorum
	kindWoodpeckerQuorumIDs
	kindWoodpeckerInstance
	kindWoodpeckerVersion
	kindWoodpeckerConditionWrite
	kindWoodpeckerLogStore
	kindCount
)

// kind is one row of the table of key kinds.
type kind struct {
	id      kindID
	name    string
	pattern string // relative to the metadata prefix; to the root with a leading slash; absolute with two
	enc     encoding
	message func() proto.Message
	part    model.Part
	since   string
	until   string
	secret  secrecy
}

// secrecy is how likely it is that a value holds a secret.
type secrecy uint8

const (
	secretMaybe  secrecy = iota // redacted if a name suggests a secret
	secretNever                 // numbers, ids and paths only; not searched for secrets
	secretAlways                // redacted by a rule of its own
)

func message[T any, P interface {
	*T
	proto.Message
}]() func() proto.Message {
	return func() proto.Message { return P(new(T)) }
}

// kinds returns every kind of key that Milvus 2.1 to 3.0 writes. Patterns and messages follow Milvus's
// internal/metastore/kv/*/constant.go and kv_catalog.go, and internal/{rootcoord,querycoord,indexcoord} for
// 2.1. Each was checked against captured servers of its version, if a capture exists.
//
// In a pattern {x} is an int64, {x:name} one path component, {x:rest} the rest of the key.
func kinds() []kind {
	return slices.Concat(rootCoordKinds(), dataCoordKinds(), servingKinds(), woodpeckerKinds())
}

func rootCoordKinds() []kind { //nolint:funlen // a table
	const objects, users, rest = model.PartObjects, model.PartUsers, model.PartRest
	return []kind{
		{
			id: kindSessionID, name: "session-id", pattern: "session/id", enc: encNumber, part: model.PartSessions,
			secret: secretNever,
		},
		{id: kindSession, name: "session", pattern: "session/{session:rest}", enc: encJSON, part: model.PartSessions},
		{
			id: kindDatabase, name: "database", pattern: "root-coord/database/db-info/{database}",
			message: message[etcdpb.DatabaseInfo](), part: objects, since: "2.2.9",
		},
		{
			id: kindCollection, name: "collection",
			pattern: "root-coord/database/collection-info/{database}/{collection}",
			message: message[etcdpb.CollectionInfo](), part: objects, since: "2.2.9",
		},
		{
			id: kindCollection22, name: "collection", pattern: "root-coord/collection/{collection}",
			message: message[etcdpb.CollectionInfo](), part: objects, until: "2.2.8",
		},
		{
			id: kindPartition, name: "partition", pattern: "root-coord/partitions/{collection}/{partition}",
			message: message[etcdpb.PartitionInfo](), part: objects, since: "2.2",
		},
		{
			id: kindField, name: "field", pattern: "root-coord/fields/{collection}/{field}",
			message: message[schemapb.FieldSchema](), part: objects, since: "2.2",
		},
		{
			id: kindFunction, name: "function", pattern: "root-coord/functions/{collection}/{function}",
			message: message[schemapb.FunctionSchema](), part: objects, since: "2.5",
		},
		{
			id: kindStructField, name: "struct-array-field",
			pattern: "root-coord/struct-array-fields/{collection}/{field}",
			message: message[schemapb.StructArrayFieldSchema](), part: objects, since: "2.6",
		},
		{
			id: kindAlias, name: "alias", pattern: "root-coord/database/aliases/{database}/{alias:rest}",
			message: message[etcdpb.AliasInfo](), part: objects, since: "2.2.9",
		},
		{
			id: kindAlias22, name: "alias", pattern: "root-coord/aliases/{alias:rest}",
			message: message[etcdpb.AliasInfo](), part: objects, since: "2.2", until: "2.2.8",
		},
		{
			id: kindAlias21, name: "alias", pattern: "root-coord/collection-alias/{alias:rest}",
			message: message[etcdpb.CollectionInfo](), part: objects, until: "2.1",
		},
		{
			id: kindIndex21, name: "index-2.1", pattern: "root-coord/index/{collection}/{index}",
			message: message[etcdpb.IndexInfo](), part: model.PartIndexes, until: "2.1",
		},
		{
			id: kindSegmentIndex21, name: "segment-index-2.1",
			pattern: "root-coord/segment-index/{collection}/{index}/{partition}/{segment}",
			message: message[etcdpb.SegmentIndexInfo](), part: model.PartSegmentIndexes, until: "2.1",
			secret: secretNever,
		},
		{
			id: kindDDOperation, name: "dd-operation", pattern: "root-coord/dd-operation", enc: encJSON, part: rest,
			until: "2.1", secret: secretNever,
		},
		{
			id: kindDDMsgSend, name: "dd-msg-send", pattern: "root-coord/dd-msg-send", enc: encText, part: rest,
			until: "2.1", secret: secretNever,
		},
		{
			id: kindUser, name: "user", pattern: "root-coord/credential/users/{user:rest}", enc: encJSON, part: users,
			secret: secretAlways,
		},
		{
			id: kindRole, name: "role", pattern: "root-coord/credential/roles/{role:rest}", enc: encEmpty, part: users,
			since: "2.2", secret: secretNever,
		},
		{
			id: kindUserRole, name: "user-role",
			pattern: "root-coord/credential/user-role-mapping/{user:name}/{role:rest}", enc: encEmpty, part: users,
			since: "2.2", secret: secretNever,
		},
		{
			id: kindGrantee, name: "grantee",
			pattern: "root-coord/credential/grantee-privileges/{role:name}/{object_type:name}/{object:rest}",
			enc:     encText, part: users, since: "2.2", secret: secretNever,
		},
		{
			id: kindGrant, name: "grant", pattern: "root-coord/credential/grantee-id/{grantee:name}/{privilege:rest}",
			enc: encText, part: users, since: "2.2", secret: secretNever,
		},
		{
			id: kindImportTask23, name: "import-task-2.3", pattern: "importtask/{task}",
			message: message[legacypb.ImportTaskInfo](), part: model.PartTasks, until: "2.3",
		},
		{
			id: kindPrivilegeGroup, name: "privilege-group", pattern: "root-coord/privilege-group/{group:rest}",
			message: message[milvuspb.PrivilegeGroupInfo](), part: users, since: "2.5", secret: secretNever,
		},
		{
			id: kindConfig, name: "config", pattern: "/config/{name:rest}", enc: encText, part: model.PartConfig,
			since: "2.2", secret: secretAlways,
		},
		{
			id: kindAllocator, name: "allocator", pattern: "/kv/{name:rest}", enc: encTime, part: rest,
			secret: secretNever,
		},
	}
}

func dataCoordKinds() []kind { //nolint:funlen // a table
	const segments, logs, channels, tasks = model.PartSegments, model.PartLogs, model.PartChannels, model.PartTasks
	fieldLog := message[datapb.FieldBinlog]()
	return []kind{
		{
			id: kindSegment, name: "segment", pattern: "datacoord-meta/s/{collection}/{partition}/{segment}",
			message: message[datapb.SegmentInfo](), part: segments, secret: secretNever,
		},
		{
			id: kindBinlog, name: "binlog", pattern: "datacoord-meta/binlog/{collection}/{partition}/{segment}/{field}",
			message: fieldLog, part: logs, since: "2.2", secret: secretNever,
		},
		{
			id: kindDeltalog, name: "deltalog",
			pattern: "datacoord-meta/deltalog/{collection}/{partition}/{segment}/{field}", message: fieldLog,
			part: logs, since: "2.2", secret: secretNever,
		},
		{
			id: kindStatslog, name: "statslog",
			pattern: "datacoord-meta/statslog/{collection}/{partition}/{segment}/{field}", message: fieldLog,
			part: logs, since: "2.2", secret: secretNever,
		},
		{
			id: kindBM25Log, name: "bm25log",
			pattern: "datacoord-meta/bm25log/{collection}/{partition}/{segment}/{field}", message: fieldLog, part: logs,
			since: "2.5", secret: secretNever,
		},
		{
			id: kindPredicateDeltalog, name: "predicate-deltalog",
			pattern: "datacoord-meta/predicate-deltalog/{collection}/{partition}/{segment}/predicate",
			message: fieldLog, part: logs, since: "3.0", secret: secretNever,
		},
		{
			id: kindChannelCheckpoint, name: "channel-checkpoint", pattern: "datacoord-meta/channel-cp/{vchannel:rest}",
			message: message[msgpb.MsgPosition](), part: channels, since: "2.2", secret: secretNever,
		},
		{
			id: kindChannelRemoval, name: "channel-removal", pattern: "datacoord-meta/channel-removal/{vchannel:rest}",
			enc: encText, part: channels, secret: secretNever,
		},
		{
			id: kindChannelWatch, name: "channel-watch", pattern: "channelwatch/{node}/{vchannel:rest}",
			message: message[datapb.ChannelWatchInfo](), part: channels, until: "2.5",
		},
		{
			id: kindImportJob, name: "import-job", pattern: "datacoord-meta/import-job/{job}",
			message: message[datapb.ImportJob](), part: tasks, since: "2.4",
		},
		{
			id: kindPreImportTask, name: "preimport-task", pattern: "datacoord-meta/preimport-task/{task}",
			message: message[datapb.PreImportTask](), part: tasks, since: "2.4",
		},
		{
			id: kindImportTask, name: "import-task", pattern: "datacoord-meta/import-task/{task}",
			message: message[datapb.ImportTaskV2](), part: tasks, since: "2.4",
		},
		{
			id: kindCompactionTask, name: "compaction-task",
			pattern: "datacoord-meta/compaction-task/{type:name}/{trigger}/{plan}",
			message: message[datapb.CompactionTask](), part: tasks, since: "2.4",
		},
		{
			id: kindAnalyzeTask, name: "analyze-task", pattern: "datacoord-meta/analyze-task/{task}",
			message: message[indexpb.AnalyzeTask](), part: tasks, since: "2.4", secret: secretNever,
		},
		{
			id: kindStatsTask, name: "stats-task", pattern: "datacoord-meta/stats-task/{task}",
			message: message[indexpb.StatsTask](), part: tasks, since: "2.5", secret: secretNever,
		},
		{
			id: kindPartitionStats, name: "partition-stats",
			pattern: "datacoord-meta/partition-stats/{collection}/{partition}/{vchannel:name}/{version}",
			message: message[datapb.PartitionStatsInfo](), part: tasks, since: "2.4", secret: secretNever,
		},
		{
			id: kindPartitionStatsVersion, name: "partition-stats-version",
			pattern: "datacoord-meta/current-partition-stats-version/{collection}/{partition}/{vchannel:rest}",
			enc:     encNumber, part: tasks, since: "2.4", secret: secretNever,
		},
		{
			id: kindSnapshot, name: "snapshot", pattern: "datacoord-meta/snapshot/{collection}/{snapshot}",
			message: message[datapb.SnapshotInfo](), part: tasks, since: "3.0",
		},
		// The prefixes of these jobs come from a key listing of 3.0; no server of that version was captured. Keys
		// with another prefix are listed as undecoded.
		{
			id: kindCopySegmentJob, name: "copy-segment-job", pattern: "datacoord-meta/copy-segment-job/{job}",
			message: message[datapb.CopySegmentJob](), part: tasks, since: "3.0",
		},
		{
			id: kindCopySegmentTask, name: "copy-segment-task", pattern: "datacoord-meta/copy-segment-task/{task}",
			message: message[datapb.CopySegmentTask](), part: tasks, since: "3.0",
		},
		{
			id: kindExportSnapshotJob, name: "export-snapshot-job", pattern: "datacoord-meta/export-snapshot-job/{job}",
			message: message[datapb.ExportSnapshotJob](), part: tasks, since: "3.0",
		},
		{
			id: kindRefreshJob, name: "external-collection-refresh-job",
			pattern: "datacoord-meta/external-collection-refresh-job/{job}",
			message: message[datapb.ExternalCollectionRefreshJob](), part: tasks, since: "3.0",
		},
		{
			id: kindRefreshTask, name: "external-collection-refresh-task",
			pattern: "datacoord-meta/external-collection-refresh-task/{task}",
			message: message[datapb.ExternalCollectionRefreshTask](), part: tasks, since: "3.0",
		},
		{
			id: kindFieldIndex, name: "index", pattern: "field-index/{collection}/{index}",
			message: message[indexpb.FieldIndex](), part: model.PartIndexes, since: "2.2",
		},
		{
			id: kindSegmentIndex, name: "segment-index",
			pattern: "segment-index/{collection}/{partition}/{segment}/{build}",
			message: message[indexpb.SegmentIndex](), part: model.PartSegmentIndexes, since: "2.2", secret: secretNever,
		},
		{
			id: kindIndexMeta21, name: "index-meta-2.1", pattern: "indexes/{build}",
			message: message[legacypb.IndexMeta](), part: model.PartSegmentIndexes, until: "2.1", secret: secretNever,
		},
	}
}

func servingKinds() []kind { //nolint:funlen // a table
	const serving, channels, rest = model.PartServing, model.PartChannels, model.PartRest
	return []kind{
		{
			id: kindCollectionLoad, name: "collection-load", pattern: "querycoord-collection-loadinfo/{collection}",
			message: message[querypb.CollectionLoadInfo](), part: serving, since: "2.2", secret: secretNever,
		},
		{
			id: kindPartitionLoad, name: "partition-load",
			pattern: "querycoord-partition-loadinfo/{collection}/{partition}",
			message: message[querypb.PartitionLoadInfo](), part: serving, since: "2.2", secret: secretNever,
		},
		{
			id: kindReplica, name: "replica", pattern: "querycoord-replica/{collection}/{replica}",
			message: message[querypb.Replica](), part: serving, since: "2.2", secret: secretNever,
		},
		{
			id: kindResourceGroup, name: "resource-group", pattern: "queryCoord-ResourceGroup/{name:rest}",
			message: message[querypb.ResourceGroup](), part: serving, since: "2.2", secret: secretNever,
		},
		{
			id: kindTarget, name: "target", pattern: "queryCoord-Collection-Target/{collection}", enc: encZstdProto,
			message: message[querypb.CollectionTarget](), part: channels, since: "2.3.13", secret: secretNever,
		},
		{
			id: kindCollectionLoad21, name: "collection-load-2.1", pattern: "queryCoord-collectionMeta/{collection}",
			message: message[querypb.CollectionInfo](), part: serving, until: "2.1",
		},
		{
			id: kindReplica21, name: "replica-2.1", pattern: "queryCoord-ReplicaMeta/{replica}",
			message: message[milvuspb.ReplicaInfo](), part: serving, until: "2.1", secret: secretNever,
		},
		{
			id: kindLoadedSegment21, name: "loaded-segment-2.1",
			pattern: "queryCoord-segmentMeta/{collection}/{partition}/{segment}",
			message: message[querypb.SegmentInfo](), part: rest, until: "2.1", secret: secretNever,
		},
		{
			id: kindDMChannel21, name: "dm-channel-2.1",
			pattern: "queryCoord-dmChannelWatchInfo/{collection}/{vchannel:rest}",
			message: message[querypb.DmChannelWatchInfo](), part: rest, until: "2.1", secret: secretNever,
		},
		{
			id: kindDeltaChannel21, name: "delta-channel-2.1",
			pattern: "queryCoord-deltaChannel/{collection}/{vchannel:rest}", message: message[datapb.VchannelInfo](),
			part: rest, until: "2.1", secret: secretNever,
		},
		{
			id: kindQueryNode21, name: "query-node-2.1", pattern: "queryCoord-queryNodeInfo/{node}", enc: encJSON,
			part: rest, until: "2.1",
		},
		{
			id: kindSegmentChange21, name: "segment-change-2.1", pattern: "queryCoord-sealedSegmentChangeInfo/{task}",
			message: message[querypb.SealedSegmentsChangeInfo](), part: rest, until: "2.1", secret: secretNever,
		},
		{
			id: kindTaskState21, name: "query-task-state-2.1", pattern: "queryCoord-taskInfo/{task}", enc: encNumber,
			part: rest, until: "2.1", secret: secretNever,
		},
		{
			id: kindUnsubscribe21, name: "unsubscribe-2.1", pattern: "queryCoord-unsubscribeChannelInfo/{node}",
			message: message[querypb.UnsubscribeChannelInfo](), part: rest, until: "2.1", secret: secretNever,
		},
		{
			id: kindStreamingVersion, name: "streaming-version", pattern: "streamingcoord-meta/version",
			message: message[streamingpb.StreamingVersion](), part: serving, since: "2.6", secret: secretNever,
		},
		{
			id: kindControlChannel, name: "control-channel", pattern: "streamingcoord-meta/cchannel",
			message: message[streamingpb.CChannelMeta](), part: serving, since: "2.6", secret: secretNever,
		},
		{
			id: kindPChannel, name: "pchannel", pattern: "streamingcoord-meta/pchannel/{pchannel:rest}",
			message: message[streamingpb.PChannelMeta](), part: serving, since: "2.6", secret: secretNever,
		},
		{
			id: kindBroadcastTask, name: "broadcast-task", pattern: "streamingcoord-meta/broadcast-task/{task}",
			message: message[streamingpb.BroadcastTask](), part: model.PartTasks, since: "2.6", secret: secretAlways,
		},
		{
			id: kindReplicateConfig, name: "replicate-configuration",
			pattern: "streamingcoord-meta/replicate-configuration",
			message: message[streamingpb.ReplicateConfigurationMeta](), part: serving, since: "2.6",
			secret: secretAlways,
		},
		{
			id: kindReplicatePChannel, name: "replicating-pchannel",
			pattern: "streamingcoord-meta/replicating-pchannel/{channel:rest}",
			message: message[streamingpb.ReplicatePChannelMeta](), part: serving, since: "2.6", secret: secretAlways,
		},
		{
			id: kindWALCheckpoint, name: "wal-checkpoint",
			pattern: "streamingnode-meta/wal/{pchannel:name}/consume-checkpoint",
			message: message[streamingpb.WALCheckpoint](), part: channels, since: "2.6", secret: secretAlways,
		},
		{
			id: kindWALSchema, name: "wal-schema",
			pattern: "streamingnode-meta/wal/{pchannel:name}/vchannel/{vchannel:name}/schema/{timetick}",
			message: message[streamingpb.CollectionSchemaOfVChannel](), part: channels, since: "2.6",
		},
		{
			id: kindWALVChannel, name: "wal-vchannel",
			pattern: "streamingnode-meta/wal/{pchannel:name}/vchannel/{vchannel:name}",
			message: message[streamingpb.VChannelMeta](), part: channels, since: "2.6",
		},
		{
			id: kindWALSegment, name: "wal-segment",
			pattern: "streamingnode-meta/wal/{pchannel:name}/segment-assign/{segment}",
			message: message[streamingpb.SegmentAssignmentMeta](), part: channels, since: "2.6", secret: secretNever,
		},
		{
			id: kindWALSalvage, name: "wal-salvage-checkpoint",
			pattern: "streamingnode-meta/wal/{pchannel:name}/salvage-checkpoint/{cluster:rest}",
			message: message[commonpb.ReplicateCheckpoint](), part: channels, since: "3.0", secret: secretNever,
		},
		{
			id: kindWALQueryView, name: "wal-query-view",
			pattern: "streamingnode-meta/wal/{pchannel:name}/qv/{collection}/{replica}/{shard}/{streaming_version}/{compact_version}/{query_version}",
			message: message[legacypb.QueryViewOfShard](), part: channels, since: "3.0", secret: secretNever,
		},
		{
			id: kindQueryView, name: "query-view",
			pattern: "{role:name}/qv/{collection}/{replica}/{shard}/{streaming_version}/{compact_version}/{query_version}",
			message: message[legacypb.QueryViewOfShard](), part: rest, since: "3.0", secret: secretNever,
		},
	}
}

// KindInfo describes one kind of key for documentation and tests.
type KindInfo struct {
	Name    string // as in model.KeyInfo.Kind; several layouts of an object share it
	Pattern string // relative to the metadata prefix, or to the root with a leading slash
	Value   string // protobuf, zstd protobuf, json, text, number, time, empty
	Message string // full name of the protobuf message, "" for other values
	Part    model.Part
	Since   string // first Milvus version, "" means before 2.1
	Until   string // last version that writes it, "" means the newest
}

// Kinds returns every kind of key that is decoded.
func Kinds() []KindInfo {
	var infos []KindInfo
	for _, k := range kinds() {
		info := KindInfo{
			Name: k.name, Pattern: k.pattern, Value: k.enc.String(), Part: k.part, Since: k.since, Until: k.until,
		}
		if k.message != nil {
			info.Message = string(k.message().ProtoReflect().Descriptor().FullName())
		}
		infos = append(infos, info)
	}
	infos = append(infos, KindInfo{
		Name: "history", Pattern: "snapshots/{key:rest}_ts{tso}", Value: "as the original key, or a tombstone",
		Part: model.PartHistory,
	})
	return infos
}
