package livetest

import (
	"github.com/milvus-io/milvus-proto/go-api/v3/msgpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/querypb"

	"kitescope/inspect/model"
)

// holder returns the node that serves the i-th segment of the metadata.
func (a *responseBuilder) holder(i int) *model.Session { return a.nodes[i%len(a.nodes)] }

// distribution returns the segments that a query node serves: its share of the flushed segments of loaded
// collections, and the growing ones of the shards that it leads.
func (a *responseBuilder) distribution(s *model.Session, is26 bool) *querypb.GetDataDistributionResponse {
	r := &querypb.GetDataDistributionResponse{Status: ok(), NodeID: int64(s.Node)}
	if is26 {
		r.MemCapacityInMB, r.CpuNum = 32<<10, 8
	}
	views := a.views(s, r, is26)
	for i, x := range a.c.Segments {
		if len(a.nodes) == 0 || !a.loaded[x.Collection] {
			continue
		}
		view := views[x.VChannel]
		switch {
		case x.State == model.SegmentGrowing && view != nil:
			view.GrowingSegments[int64(x.ID)] = &msgpb.MsgPosition{
				ChannelName: x.VChannel, Timestamp: uint64(x.StartAt),
			}
			view.NumOfGrowingRows += a.opts.GrowingRows
		case x.State == model.SegmentFlushed && x.Level != model.LevelL0:
			if view != nil {
				view.SegmentDist[int64(x.ID)] = &querypb.SegmentDist{NodeID: int64(a.holder(i).Node), Version: 1}
			}
			if a.holder(i) == s {
				r.Segments = append(r.Segments, servedSegment(x))
			}
		}
	}
	return r
}

// views returns the shards that a node leads, by channel.
func (a *responseBuilder) views(
	s *model.Session, r *querypb.GetDataDistributionResponse, is26 bool,
) map[string]*querypb.LeaderView {
	views := map[string]*querypb.LeaderView{}
	for i, v := range a.c.VChannels {
		if len(a.leaders) == 0 || a.leaders[i%len(a.leaders)] != s || !a.loaded[v.Collection] {
			continue
		}
		view := &querypb.LeaderView{
			Collection: int64(v.Collection), Channel: v.Name, TargetVersion: 1,
			SegmentDist: map[int64]*querypb.SegmentDist{}, GrowingSegments: map[int64]*msgpb.MsgPosition{},
		}
		if is26 {
			view.Status = &querypb.LeaderViewStatus{Serviceable: true}
		}
		views[v.Name] = view
		r.LeaderViews = append(r.LeaderViews, view)
		r.Channels = append(r.Channels, &querypb.ChannelVersionInfo{
			Channel: v.Name, Collection: int64(v.Collection), Version: 1,
		})
	}
	return views
}

func servedSegment(x *model.Segment) *querypb.SegmentVersionInfo {
	const bytesPerRow = 600
	return &querypb.SegmentVersionInfo{
		ID: int64(x.ID), Collection: int64(x.Collection), Partition: int64(x.Partition), Channel: x.VChannel,
		Version: 1, Level: datapb.SegmentLevel_L1,
		IndexInfo: map[int64]*querypb.FieldIndexInfo{101: {
			FieldID: 101, EnableIndex: true, IndexID: int64(x.Collection) + 2, BuildID: int64(x.ID) + 1,
			NumRows: x.Rows, IndexSize: x.Rows * bytesPerRow,
			IndexName: "vec",
		}},
	}
}
