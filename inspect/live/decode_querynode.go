package live

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"
	"github.com/milvus-io/milvus/pkg/v3/proto/querypb"

	"kitescope/inspect/model"
)

// takeState stores the state that a process reports for itself.
func (d *Decoder) takeState(q *pendingRecord, m *milvuspb.ComponentStates) error {
	state := m.GetState()
	if state == nil {
		return errors.New("the answer has no state")
	}
	if q.otherNode(state.GetNodeID()) {
		return nil
	}
	if q.newer("state") {
		q.node.State = d.text(state.GetStateCode().String())
	}
	return nil
}

// otherNode marks a response from another process, because a call without a target is served by any process
// that now has the address. Ids below 1 mean that the process has none yet.
func (q *pendingRecord) otherNode(id int64) bool {
	if id <= 0 || model.NodeID(id) == q.Node {
		return false
	}
	q.set(model.Stale,
		fmt.Sprintf("%s responds at the address of %s", model.NodeID(id).Name(q.Role), q.Node.Name(q.Role)))
	return true
}

// takeDistribution stores the segments and channels that a query node serves.
func (d *Decoder) takeDistribution(q *pendingRecord, m *querypb.GetDataDistributionResponse) error {
	r := m
	if q.otherNode(r.GetNodeID()) {
		return nil
	}
	if r.GetStatus() == nil && r.GetNodeID() == 0 {
		return errors.New("the answer has no status and no node id: not an answer to this call")
	}
	if r.GetIsDelta() {
		return errors.New("the answer has only the changes since another request")
	}
	if !q.newer("distribution") {
		return nil
	}
	dist := &model.Distribution{
		MemoryCapacity: figure(r.GetMemCapacityInMB() * (1 << 20)), CPUs: max(0, r.GetCpuNum()),
		Sealed: make([]model.ServedSegment, 0, len(r.GetSegments())),
	}
	if ns := r.GetLastModifyTs(); ns > 0 { // time.UnixNano (internal/querynodev2: updateDistributionModifyTS)
		dist.ModifiedAt = time.Unix(0, ns).UTC()
	}
	for _, s := range r.GetSegments() {
		dist.Sealed = append(dist.Sealed, model.ServedSegment{
			ID: model.SegmentID(s.GetID()), Collection: model.CollectionID(s.GetCollection()),
			Partition: model.PartitionID(s.GetPartition()),
			Channel:   d.text(s.GetChannel()), Version: s.GetVersion(), Level: segmentLevel(int32(s.GetLevel())),
			Sorted:  s.GetIsSorted(),
			Indexes: servedIndexes(s.GetIndexInfo()), JSONFields: servedJSON(s),
		})
	}
	slices.SortFunc(dist.Sealed, func(a, b model.ServedSegment) int { return cmp.Compare(a.ID, b.ID) })
	for _, c := range r.GetChannels() {
		dist.Channels = append(dist.Channels, model.ServedChannel{
			Name: d.text(c.GetChannel()), Collection: model.CollectionID(c.GetCollection()), Version: c.GetVersion(),
		})
	}
	slices.SortFunc(dist.Channels, func(a, b model.ServedChannel) int { return cmp.Compare(a.Name, b.Name) })
	for _, v := range r.GetLeaderViews() {
		dist.Leaders = append(dist.Leaders, d.leaderView(v))
	}
	slices.SortFunc(dist.Leaders, func(a, b model.LeaderView) int { return cmp.Compare(a.Channel, b.Channel) })
	q.node.Distribution = dist
	return nil
}

// segmentLevel converts a level. A level outside of 0 to 255 becomes 255, so that it matches no known one.
func segmentLevel(level int32) model.SegmentLevel {
	if level < 0 || level > 255 {
		return model.SegmentLevel(255)
	}
	return model.SegmentLevel(level)
}

// servedIndexes returns the index files in use, by field and index. The map's key is the field up to 2.4 and
// the index after it; the fields inside hold both. An index without files exists in name only: FLAT, or on too
// few rows to be built.
func servedIndexes(infos map[int64]*querypb.FieldIndexInfo) []model.ServedIndex {
	var list []model.ServedIndex
	for _, x := range infos {
		if len(x.GetIndexFilePaths()) == 0 && x.GetIndexSize() == 0 {
			continue
		}
		list = append(list, model.ServedIndex{
			Field: model.FieldID(x.GetFieldID()), Index: model.IndexID(x.GetIndexID()),
			Build: model.BuildID(x.GetBuildID()),
			Bytes: max(0, x.GetIndexSize()), Rows: max(0, x.GetNumRows()),
		})
	}
	slices.SortFunc(list, func(a, b model.ServedIndex) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Index, b.Index))
	})
	return list
}

// servedJSON returns the JSON fields whose statistics are loaded: json_stats_info, or in older versions the id
// list field_json_index_stats (pkg/v3/proto/query_coord.proto: SegmentVersionInfo).
func servedJSON(s *querypb.SegmentVersionInfo) []model.FieldID {
	var list []model.FieldID
	for id := range s.GetJsonStatsInfo() {
		list = append(list, model.FieldID(id))
	}
	for _, id := range s.GetFieldJsonIndexStats() {
		list = append(list, model.FieldID(id))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (d *Decoder) leaderView(v *querypb.LeaderView) model.LeaderView {
	view := model.LeaderView{
		Channel: d.text(v.GetChannel()), Collection: model.CollectionID(v.GetCollection()),
		GrowingRows: max(0, v.GetNumOfGrowingRows()), TargetVersion: v.GetTargetVersion(),
		Sealed: make([]model.LeaderSegment, 0, len(v.GetSegmentDist())),
	}
	for id, at := range v.GetGrowingSegments() {
		view.Growing = append(view.Growing,
			model.GrowingView{ID: model.SegmentID(id), At: model.TSO(at.GetTimestamp())})
	}
	for _, id := range v.GetGrowingSegmentIDs() { // before 2.3, and never both
		if _, known := v.GetGrowingSegments()[id]; !known {
			view.Growing = append(view.Growing, model.GrowingView{ID: model.SegmentID(id)})
		}
	}
	slices.SortFunc(view.Growing, func(a, b model.GrowingView) int { return cmp.Compare(a.ID, b.ID) })
	for id, at := range v.GetSegmentDist() {
		view.Sealed = append(view.Sealed, model.LeaderSegment{
			ID: model.SegmentID(id), Node: model.NodeID(at.GetNodeID()), Version: at.GetVersion(),
		})
	}
	slices.SortFunc(view.Sealed, func(a, b model.LeaderSegment) int { return cmp.Compare(a.ID, b.ID) })
	if s := v.GetStatus(); s != nil {
		view.Serviceable = new(s.GetServiceable())
		if s.GetCatchingUpStreamingData() {
			view.CatchingUp = new(true)
		}
	}
	return view
}

// catchUp sets CatchingUp to false if a version that sends it left it out, because protobuf omits false. Milvus
// sends it since 2.6.8 (milvus pull request 46552).
func (n *liveNode) catchUp() {
	if n.Distribution == nil || n.System == nil || !model.VersionAtLeast(n.System.Version, 2, 6, 8) {
		return
	}
	for i := range n.Distribution.Leaders {
		if v := &n.Distribution.Leaders[i]; v.Serviceable != nil && v.CatchingUp == nil {
			v.CatchingUp = new(false)
		}
	}
}
