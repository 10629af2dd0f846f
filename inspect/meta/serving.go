package meta

import (
	"cmp"
	"maps"
	"slices"

	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"
	"github.com/milvus-io/milvus-proto/go-api/v3/rgpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/querypb"

	"kitescope/inspect/model"
	"kitescope/internal/redact"
)

// loadStates returns the load state of each collection that should be in memory.
func (s *state) loadStates() []*model.LoadState {
	if s.legacy {
		return s.loadStates21()
	}
	known := make(map[model.CollectionID]*model.LoadState)
	s.each(kindCollectionLoad, func(f *fact) {
		m := f.value.(*querypb.CollectionLoadInfo)
		x := &model.LoadState{
			Collection: model.CollectionID(f.ids[0]), Status: m.GetStatus().String(), Replicas: m.GetReplicaNumber(),
			LoadType: loadType(m.GetLoadType()), Released: ids[model.PartitionID](m.GetReleasedPartitions()),
			Fields: ids[model.FieldID](m.GetLoadFields()), Recovered: m.GetRecoverTimes(),
			UserReplicas: m.GetUserSpecifiedReplicaMode(), Key: f.key,
		}
		if len(m.GetFieldIndexID()) > 0 {
			x.Indexes = make(map[model.FieldID]model.IndexID)
			for field, index := range m.GetFieldIndexID() {
				x.Indexes[model.FieldID(field)] = model.IndexID(index)
			}
		}
		known[x.Collection] = x
	})
	partitions := make(map[model.CollectionID][]*fact)
	s.each(kindPartitionLoad, func(f *fact) {
		id := model.CollectionID(f.ids[0])
		partitions[id] = append(partitions[id], f)
	})
	for id, list := range partitions {
		slices.SortFunc(list, func(a, b *fact) int { return cmp.Compare(a.ids[1], b.ids[1]) })
		if known[id] == nil {
			known[id] = partitionsOnly(list)
		}
		for _, f := range list {
			m := f.value.(*querypb.PartitionLoadInfo)
			known[id].Partitions = append(known[id].Partitions, model.PartitionLoad{
				Partition: model.PartitionID(f.ids[1]), Status: m.GetStatus().String(),
			})
			known[id].Recovered = max(known[id].Recovered, m.GetRecoverTimes())
		}
	}
	return values(known)
}

// partitionsOnly assembles the load state of a collection of which only single partitions were loaded. 2.2
// then writes no record of the collection. The collection is loaded if all listed partitions are.
func partitionsOnly(list []*fact) *model.LoadState {
	first := list[0].value.(*querypb.PartitionLoadInfo)
	x := &model.LoadState{
		Collection: model.CollectionID(list[0].ids[0]), Status: querypb.LoadStatus_Loaded.String(),
		Replicas: first.GetReplicaNumber(),
		LoadType: querypb.LoadType_LoadPartition.String(), Key: list[0].key,
	}
	for _, f := range list {
		if status := f.value.(*querypb.PartitionLoadInfo).GetStatus(); status != querypb.LoadStatus_Loaded {
			x.Status = status.String()
		}
	}
	return x
}

// loadType returns the type's name. Before 2.3 the type was not recorded, and a collection's record meant the
// whole collection.
func loadType(t querypb.LoadType) string {
	if t == querypb.LoadType_UnKnownType {
		t = querypb.LoadType_LoadCollection
	}
	return t.String()
}

func (s *state) loadStates21() []*model.LoadState {
	var list []*model.LoadState
	s.each(kindCollectionLoad21, func(f *fact) {
		m := f.value.(*querypb.CollectionInfo)
		x := &model.LoadState{
			Collection: model.CollectionID(f.ids[0]), Status: status21(m.GetInMemoryPercentage()),
			Percent:  new(int32(m.GetInMemoryPercentage())),
			Replicas: m.GetReplicaNumber(), LoadType: loadType(m.GetLoadType()),
			Released: ids[model.PartitionID](m.GetReleasedPartitionIDs()), Key: f.key,
		}
		for _, p := range m.GetPartitionStates() {
			x.Partitions = append(x.Partitions, model.PartitionLoad{
				Partition: model.PartitionID(p.GetPartitionID()), Status: status21(p.GetInMemoryPercentage()),
				Percent: new(int32(p.GetInMemoryPercentage())),
			})
		}
		slices.SortFunc(x.Partitions, func(a, b model.PartitionLoad) int {
			return cmp.Compare(a.Partition, b.Partition)
		})
		list = append(list, x)
	})
	return list
}

func status21(percent int64) string {
	if percent >= 100 {
		return querypb.LoadStatus_Loaded.String()
	}
	return querypb.LoadStatus_Loading.String()
}

func (s *state) replicas() []*model.Replica {
	var list []*model.Replica
	if s.legacy {
		s.each(kindReplica21, func(f *fact) { list = append(list, replica21(f)) })
		return list
	}
	s.each(kindReplica, func(f *fact) {
		m := f.value.(*querypb.Replica)
		x := &model.Replica{
			ID: model.ReplicaID(f.ids[1]), Collection: model.CollectionID(f.ids[0]),
			ResourceGroup: truncateName(m.GetResourceGroup()),
			Nodes:         nodes(m.GetNodes()), RONodes: nodes(m.GetRoNodes()),
			StreamingNodes: nodes(m.GetRwSqNodes()), ROStreamingNodes: nodes(m.GetRoSqNodes()),
		}
		for name, info := range m.GetChannelNodeInfos() {
			if x.ChannelNodes == nil {
				x.ChannelNodes = make(map[string][]model.NodeID)
			}
			x.ChannelNodes[name] = nodes(info.GetRwNodes())
		}
		list = append(list, x)
	})
	return list
}

// nodes converts and sorts node ids, because Milvus writes them in map order.
func nodes(list []int64) []model.NodeID {
	out := ids[model.NodeID](list)
	slices.Sort(out)
	return out
}

func replica21(f *fact) *model.Replica {
	m := f.value.(*milvuspb.ReplicaInfo)
	x := &model.Replica{
		ID: model.ReplicaID(f.ids[0]), Collection: model.CollectionID(m.GetCollectionID()),
		ResourceGroup: truncateName(m.GetResourceGroupName()), Nodes: nodes(m.GetNodeIds()),
	}
	for _, shard := range m.GetShardReplicas() {
		if x.ShardLeaders == nil {
			x.ShardLeaders = make(map[string]model.NodeID)
		}
		x.ShardLeaders[shard.GetDmChannelName()] = model.NodeID(shard.GetLeaderID())
	}
	return x
}

func (s *state) resourceGroups() []*model.ResourceGroup {
	var list []*model.ResourceGroup
	s.each(kindResourceGroup, func(f *fact) {
		m := f.value.(*querypb.ResourceGroup)
		x := &model.ResourceGroup{
			Name:     truncateName(f.names[0]),
			Capacity: m.GetCapacity(), //nolint:staticcheck // releases up to 2.3 fill the deprecated field
			Nodes:    nodes(m.GetNodes()), Requests: -1, Limits: -1,
		}
		if config := m.GetConfig(); config != nil {
			x.Requests, x.Limits = config.GetRequests().GetNodeNum(), config.GetLimits().GetNodeNum()
			x.TransferFrom, x.TransferTo = groupNames(config.GetTransferFrom()), groupNames(config.GetTransferTo())
			for _, p := range config.GetNodeFilter().GetNodeLabels() {
				x.NodeLabels = append(x.NodeLabels, model.Pair{
					Key: p.GetKey(), Value: redact.Pair(p.GetKey(), p.GetValue()),
				})
			}
		}
		list = append(list, x)
	})
	return list
}

func groupNames(list []*rgpb.ResourceGroupTransfer) []string {
	var names []string
	for _, t := range list {
		names = append(names, truncateName(t.GetResourceGroup()))
	}
	return names
}

func (s *state) targets() []*model.Target {
	var list []*model.Target
	s.each(kindTarget, func(f *fact) {
		m := f.value.(*querypb.CollectionTarget)
		x := &model.Target{Collection: model.CollectionID(f.ids[0]), Version: m.GetVersion(), Key: f.key}
		for _, c := range m.GetChannelTargets() {
			v := model.TargetVChannel{
				Name: c.GetChannelName(), Growing: ids[model.SegmentID](c.GetGrowingSegmentIDs()),
				Dropped: ids[model.SegmentID](c.GetDroppedSegmentIDs()),
				SeekAt:  model.TSO(c.GetSeekPosition().GetTimestamp()),
			}
			rows := make(map[model.SegmentID]int64)
			for _, p := range c.GetPartitionTargets() {
				for _, segment := range p.GetSegments() {
					rows[model.SegmentID(segment.GetID())] = segment.GetNumOfRows()
				}
			}
			v.Segments = slices.Sorted(maps.Keys(rows))
			for _, n := range rows {
				v.Rows += n
			}
			x.VChannels = append(x.VChannels, v)
		}
		slices.SortFunc(x.VChannels, func(a, b model.TargetVChannel) int { return cmp.Compare(a.Name, b.Name) })
		list = append(list, x)
	})
	return list
}
