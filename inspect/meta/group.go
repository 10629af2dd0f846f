package meta

import (
	"reflect"

	"github.com/milvus-io/milvus-proto/go-api/v3/schemapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/etcdpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/indexpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/querypb"

	"kitescope/inspect/model"
)

// groupSet is a set of groups. A group is the parts of a Cluster that are assembled together if one of their keys
// changed. A group that is not dirty keeps its slices: consumers of clusters treat the same slice as unchanged and
// skip it (model.SharesSchemas). So every kind of key that contributes to a group must mark it.
// TestFollowRandomChanges compares followed clusters with loaded ones.
type groupSet uint32

const (
	groupDatabases groupSet = 1 << iota
	groupCollections
	groupAliases
	groupIndexes
	groupChannels
	groupLoads
	groupReplicas
	groupResourceGroups
	groupSessions
	groupAccess
	groupConfig
	groupTasks
	groupTargets
	groupPartitionStats
	groupSnapshots
	groupAllocators
	groupStreaming
	groupWoodpecker
	groupLegacySegments // index records of 2.1, and other data attached to segments
	groupHistory
	groupUndecoded
	allGroups = 1<<iota - 1
)

// groupOf returns the groups that a kind of key contributes to.
func groupOf(k kindID) groupSet {
	switch k {
	case kindDatabase:
		return groupDatabases
	case kindCollection, kindCollection22, kindField, kindFunction, kindStructField, kindPartition, kindIndex21:
		return groupCollections
	case kindAlias, kindAlias22, kindAlias21:
		return groupAliases
	case kindFieldIndex:
		return groupIndexes
	case kindChannelCheckpoint, kindChannelRemoval, kindChannelWatch, kindWALCheckpoint, kindWALVChannel, kindWALSchema,
		kindWALSalvage:
		return groupChannels
	case kindPChannel:
		return groupChannels | groupStreaming
	case kindCollectionLoad, kindPartitionLoad, kindCollectionLoad21:
		return groupLoads
	case kindReplica, kindReplica21:
		return groupReplicas
	case kindResourceGroup:
		return groupResourceGroups
	case kindSession:
		return groupSessions
	case kindUser, kindRole, kindUserRole, kindGrantee, kindGrant, kindPrivilegeGroup:
		return groupAccess
	case kindConfig:
		return groupConfig
	case kindImportJob, kindPreImportTask, kindImportTask, kindImportTask23, kindCompactionTask, kindAnalyzeTask,
		kindStatsTask, kindBroadcastTask, kindCopySegmentJob, kindCopySegmentTask, kindExportSnapshotJob,
		kindRefreshJob, kindRefreshTask:
		return groupTasks
	case kindTarget:
		return groupTargets
	case kindPartitionStats, kindPartitionStatsVersion:
		return groupPartitionStats
	case kindSnapshot:
		return groupSnapshots
	case kindAllocator:
		return groupAllocators
	case kindStreamingVersion, kindControlChannel, kindReplicateConfig, kindReplicatePChannel:
		return groupStreaming
	case kindWoodpeckerLog, kindWoodpeckerLock, kindWoodpeckerSegment, kindWoodpeckerReader, kindWoodpeckerCleaning,
		kindWoodpeckerInstance, kindWoodpeckerVersion:
		return groupWoodpecker
	case kindSegmentIndex21, kindIndexMeta21, kindWALSegment:
		return groupLegacySegments
	}
	return 0
}

// contradiction describes a difference between an id in a record and the id in its key, "" if there is none.
func contradiction(f *fact) string {
	var id int64
	at := 0
	switch m := f.value.(type) {
	case *etcdpb.DatabaseInfo:
		id = m.GetId()
	case *etcdpb.CollectionInfo:
		if f.kind == kindAlias21 {
			return ""
		}
		id = m.GetID()
		if f.kind == kindCollection {
			at = 1
		}
	case *etcdpb.PartitionInfo:
		id, at = m.GetPartitionID(), 1
	case *schemapb.FieldSchema:
		id, at = m.GetFieldID(), 1
	case *indexpb.FieldIndex:
		id, at = m.GetIndexInfo().GetIndexID(), 1
	case *querypb.CollectionLoadInfo:
		id = m.GetCollectionID()
	case *querypb.Replica:
		id, at = m.GetID(), 1
	case *datapb.CompactionTask:
		id, at = m.GetPlanID(), 1
	case *datapb.ImportJob:
		id = m.GetJobID()
	case *datapb.ImportTaskV2:
		id = m.GetTaskID()
	default:
		return ""
	}
	if id == f.ids[at] {
		return ""
	}
	return formatMismatch(messageNameOf(f.value), "id", id, f.ids[at])
}

// share replaces objects of next by equal objects of prev, so that successive clusters hold the same pointers to
// unchanged objects. If all are equal, it returns prev itself: many keys are rewritten with the same value, and an
// identical slice saves consumers a comparison.
func share[T any, K comparable](prev, next []*T, key func(*T) K) []*T {
	if len(prev) == 0 {
		return next
	}
	known := make(map[K]*T, len(prev))
	for _, x := range prev {
		known[key(x)] = x
	}
	kept := 0
	for i, x := range next {
		if old := known[key(x)]; old != nil && reflect.DeepEqual(old, x) {
			next[i] = old
			kept++
		}
	}
	// A duplicate key in either list would make equal counts insufficient.
	if len(known) == len(prev) && len(next) == len(prev) && kept == len(prev) {
		return prev
	}
	return next
}

// build assembles the dirty groups. prev is the cluster of the last build, nil for the first.
func (s *state) build(prev *model.Cluster, h snapshotInfo) *model.Cluster {
	p := &s.parts
	p.Origin = model.Origin{
		Kind: s.header.Origin.Kind, Location: s.header.Origin.Location, Detail: s.header.Origin.Detail,
		Root: s.header.Root, MetaPath: s.header.MetaPath, Revision: h.revision, Taken: h.taken,
		FileDate: s.header.FileDate, ByClock: s.header.ByClock,
	}
	p.Recent = h.recent
	p.Loaded = knownParts(s.header, s.want.Parts, h.denied)
	p.Gaps = h.gaps
	if s.dirty&groupSessions != 0 {
		p.Sessions = share(p.Sessions, s.sessions(), func(x *model.Session) string { return x.Key })
	}
	if legacy := s.legacyLive(); legacy != s.legacy || prev == nil {
		s.legacy = legacy
		s.dirty |= groupIndexes | groupCollections | groupLoads | groupReplicas | groupLegacySegments
	}
	s.buildCatalog(p)
	s.buildServing(p)
	s.buildRest(p)
	s.buildSegments(p)
	p.Version = s.version()
	p.Keys, p.Tombstones, p.KeysByKind = s.keyCounts()
	if s.records != nil {
		p.Keyspace = s.records.keyspace(*p)
	}
	s.dirty = 0
	checkFileDate(p)
	if prev == nil {
		return model.Build(*p)
	}
	return prev.Update(*p)
}

func (s *state) buildCatalog(p *model.Parts) {
	if s.dirty&groupDatabases != 0 {
		p.Databases = share(p.Databases, s.databases(), func(x *model.Database) model.DatabaseID { return x.ID })
	}
	if s.dirty&(groupCollections|groupIndexes) != 0 {
		collections, partitions, indexes := s.assembleCollections()
		p.Remains = share(p.Remains, s.remains(), func(x *model.Remains) model.CollectionID { return x.Collection })
		p.Collections = share(p.Collections, collections, func(x *model.Collection) model.CollectionID { return x.ID })
		p.Partitions = share(p.Partitions, partitions, func(x *model.Partition) model.PartitionID { return x.ID })
		indexes = append(indexes, s.indexes()...)
		p.Indexes = share(p.Indexes, indexes, func(x *model.Index) string { return x.Key })
	}
	if s.dirty&groupAliases != 0 {
		p.Aliases = share(p.Aliases, s.aliases(), func(x *model.Alias) string {
			return x.Database.String() + "/" + x.Name
		})
	}
	if s.dirty&(groupCollections|groupChannels) != 0 {
		vchannels, pchannels := s.channels(p.Collections)
		p.VChannels = share(p.VChannels, vchannels, func(x *model.VChannel) string { return x.Name })
		p.PChannels = share(p.PChannels, pchannels, func(x *model.PChannel) string { return x.Name })
	}
	if s.dirty&groupStreaming != 0 {
		p.Streaming = s.streaming()
	}
	if s.dirty&groupWoodpecker != 0 {
		p.Woodpecker = s.woodpecker()
	}
}

func (s *state) buildServing(p *model.Parts) {
	if s.dirty&groupLoads != 0 {
		p.LoadStates = share(p.LoadStates, s.loadStates(), func(x *model.LoadState) model.CollectionID {
			return x.Collection
		})
	}
	if s.dirty&groupReplicas != 0 {
		p.Replicas = share(p.Replicas, s.replicas(), func(x *model.Replica) model.ReplicaID { return x.ID })
	}
	if s.dirty&groupResourceGroups != 0 {
		p.ResourceGroups = share(p.ResourceGroups, s.resourceGroups(), func(x *model.ResourceGroup) string {
			return x.Name
		})
	}
	if s.dirty&groupTargets != 0 {
		p.Targets = share(p.Targets, s.targets(), func(x *model.Target) model.CollectionID { return x.Collection })
	}
}

func (s *state) buildRest(p *model.Parts) {
	if s.dirty&groupAccess != 0 {
		p.Users, p.Roles, p.Grants, p.PrivilegeGroups = s.access()
	}
	if s.dirty&groupConfig != 0 {
		p.Config = share(p.Config, s.config(), func(x *model.ConfigEntry) string { return x.Name })
	}
	if s.dirty&groupTasks != 0 {
		p.Tasks = share(p.Tasks, s.tasks(), func(x *model.Task) string { return x.Key })
	}
	if s.dirty&groupPartitionStats != 0 {
		p.PartitionStats = share(p.PartitionStats, s.partitionStats(), func(x *model.PartitionStats) string {
			return x.Key
		})
	}
	if s.dirty&groupSnapshots != 0 {
		p.Snapshots = share(p.Snapshots, s.snapshots(), func(x *model.Snapshot) string { return x.Key })
	}
	if s.dirty&groupAllocators != 0 {
		p.Allocators = share(p.Allocators, s.allocators(), func(x *model.Allocator) string { return x.Key })
	}
	if s.dirty&groupHistory != 0 {
		p.History = values(s.history)
	}
	if s.dirty&groupUndecoded != 0 {
		p.Undecoded = nil
		for _, list := range s.undecoded {
			p.Undecoded = append(p.Undecoded, list...)
		}
	}
}
