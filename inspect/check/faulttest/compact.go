package faulttest

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/querypb"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/model"
)

// compactSegment implements "compact SEGMENT into ID on NODE TIME": DataCoord has compacted a flushed segment
// into a new one, which NODE loaded with its indexes at TIME. Nodes keep the old segment in memory, because
// leaders release it only with their next target, some 10 s later.
func (w *World) compactSegment(args []word) error {
	s, err := w.segmentOf(args[0].text)
	if err != nil {
		return err
	}
	id, err := strconv.ParseInt(args[2].text, 10, 64)
	if err != nil {
		return fmt.Errorf("%q is no segment id", args[2].text)
	}
	at, err := w.at(args[5].text)
	if err != nil {
		return err
	}
	result := *s
	result.ID = model.SegmentID(id)
	if err := w.replaceRecord(s, &result, at.UnixNano()); err != nil || w.noRuntime {
		return err
	}
	if err := w.recoverInstead(s, id); err != nil {
		return err
	}
	return w.redistribute(func(d distributions) error {
		on, err := d.node(args[4].text)
		if err != nil {
			return err
		}
		x := w.served(&result)
		x.Version, x.IndexInfo = at.UnixNano(), d.indexInfo(int64(s.Collection), id)
		on.Segments = append(on.GetSegments(), x)
		for _, answer := range d {
			for _, view := range answer.GetLeaderViews() {
				if view.GetChannel() == s.VChannel && view.GetSegmentDist() != nil {
					view.SegmentDist[id] = &querypb.SegmentDist{NodeID: on.GetNodeID(), Version: x.GetVersion()}
				}
			}
		}
		return nil
	})
}

// replaceRecord writes the record of a compaction's result, and marks the record of its source as dropped.
func (w *World) replaceRecord(s, result *model.Segment, nanos int64) error {
	id := result.ID.String()
	err := w.copyKeys([]word{
		{text: "datacoord-meta/s/" + segmentPath(s)},
		{text: "datacoord-meta/s/" + segmentPath(result)},
		{text: "ID=" + id},
		{text: "compactionFrom=[" + s.ID.String() + "]"},
		{text: "createdByCompaction=true"},
	})
	if err == nil {
		err = w.writeLogs(result, strconv.FormatInt(s.Rows, 10))
	}
	if err != nil {
		return err
	}
	for i := range s.Indexes {
		build := strconv.FormatInt(int64(s.Indexes[i].Build)+int64(result.ID-s.ID), 10)
		err := w.copyKeys([]word{
			{text: "segment-index/" + segmentPath(s) + "/" + s.Indexes[i].Build.String()},
			{text: "segment-index/" + segmentPath(result) + "/" + build},
			{text: "segmentID=" + id},
			{text: "buildID=" + build},
		})
		if err != nil {
			return err
		}
	}
	return w.edit(w.store.below("datacoord-meta/s/"+segmentPath(s)), []word{
		{text: "state=Dropped"}, {text: "compacted=true"}, {text: "dropped_at=" + strconv.FormatInt(nanos, 10)},
	})
}

// recoverInstead replaces the source of a compaction with its result in the segments that DataCoord wants
// loaded as sealed.
func (w *World) recoverInstead(s *model.Segment, id int64) error {
	list, err := w.calls("datacoord", "GetRecoveryInfoV2")
	if err != nil {
		return err
	}
	for _, r := range list {
		err := rewriteOptional(r, func(m proto.Message) error {
			for _, c := range m.(*datapb.GetRecoveryInfoResponseV2).GetChannels() {
				if c.GetChannelName() == s.VChannel {
					c.FlushedSegmentIds = append(slices.DeleteFunc(c.GetFlushedSegmentIds(), func(x int64) bool {
						return x == int64(s.ID)
					}), id)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// indexInfo returns a node's report of the indexes of a segment, copied from other segments of its
// collection.
func (d distributions) indexInfo(collection, segment int64) map[int64]*querypb.FieldIndexInfo {
	info := make(map[int64]*querypb.FieldIndexInfo)
	for _, x := range d {
		for _, s := range x.GetSegments() {
			if s.GetCollection() != collection {
				continue
			}
			for index, like := range s.GetIndexInfo() {
				copied := proto.Clone(like).(*querypb.FieldIndexInfo)
				copied.BuildID = segment + 1
				info[index] = copied
			}
		}
	}
	return info
}
