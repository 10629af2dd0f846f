package live

import (
	"slices"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"

	"kitescope/inspect/model"
)

// takeRecovery stores the channels and segments that DataCoord wants served for a collection.
func (d *Decoder) takeRecovery(q *pendingRecord, m *datapb.GetRecoveryInfoResponseV2) error {
	list := []*model.Recovery{}
	for _, c := range m.GetChannels() {
		r := &model.Recovery{
			Collection: model.CollectionID(c.GetCollectionID()), Channel: d.text(c.GetChannelName()),
			Flushed: segmentIDs(c.GetFlushedSegmentIds(), c.GetFlushedSegments(), c.GetIndexedSegmentIds(),
				c.GetIndexedSegments()),
			Unflushed: segmentIDs(c.GetUnflushedSegmentIds(), c.GetUnflushedSegments(), nil, nil),
			Dropped:   segmentIDs(c.GetDroppedSegmentIds(), c.GetDroppedSegments(), nil, nil),
			LevelZero: segmentIDs(c.GetLevelZeroSegmentIds(), nil, nil, nil),
		}
		if at := c.GetSeekPosition(); at != nil {
			r.SeekAt = model.TSO(at.GetTimestamp())
			r.Seek = model.Checkpoint{
				At: r.SeekAt, Message: slices.Clone(at.GetMsgID()), PChannel: d.text(at.GetChannelName()),
			}
		}
		list = append(list, r)
	}
	d.keep(q, "recovery", appendTo(recoveryOf, list...))
	return nil
}

// segmentIDs merges the ids of newer versions with the whole segments of older ones. 2.1 and 2.2 list indexed
// segments apart from the other flushed ones.
func segmentIDs(
	ids []int64, whole []*datapb.SegmentInfo, more []int64, moreWhole []*datapb.SegmentInfo,
) []model.SegmentID {
	list := make([]model.SegmentID, 0, len(ids)+len(whole)+len(more)+len(moreWhole))
	for _, id := range ids {
		list = append(list, model.SegmentID(id))
	}
	for _, id := range more {
		list = append(list, model.SegmentID(id))
	}
	for _, s := range whole {
		list = append(list, model.SegmentID(s.GetID()))
	}
	for _, s := range moreWhole {
		list = append(list, model.SegmentID(s.GetID()))
	}
	if len(list) == 0 {
		return nil
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// takeDataSegments stores segments as DataCoord has them in memory.
func (d *Decoder) takeDataSegments(q *pendingRecord, m *datapb.GetSegmentInfoResponse) error {
	d.responses.keep(responseKey{kind: "segments"}, datedResponse{q.At, q.key(), appendTo(dataSegmentsOf)})
	for _, s := range m.GetInfos() {
		segment := model.DataSegment{
			ID: model.SegmentID(s.GetID()), State: segmentState(s.GetState()), Rows: max(0, s.GetNumOfRows()),
			ExpireAt: model.TSO(s.GetLastExpireTime()),
		}
		d.responses.keep(responseKey{kind: "segment", segment: segment.ID}, datedResponse{
			q.At, q.key(), appendTo(dataSegmentsOf, segment),
		})
	}
	return nil
}

// segmentState converts a state. States of newer versions become 255, so that they match no known one.
func segmentState(state commonpb.SegmentState) model.SegmentState {
	if state < 0 || int(state) >= model.SegmentStates {
		return model.SegmentState(255)
	}
	return model.SegmentState(state)
}
