package faulttest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/milvus-io/milvus-proto/go-api/v3/msgpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/querypb"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

// distributions holds the responses of all query nodes to GetDataDistribution. Edits of the served segments
// must change several responses consistently.
type distributions map[string]*querypb.GetDataDistributionResponse

// redistribute calls f to edit the distributions. It returns errNoChange if f changes nothing.
func (w *World) redistribute(f func(distributions) error) error {
	all := make(distributions)
	var records []*live.Record
	for i := range w.records {
		r := &w.records[i]
		if methodOf(r) != "GetDataDistribution" || r.Error != "" {
			continue
		}
		m, err := response(r)
		if err != nil {
			return err
		}
		all[sessionName(r)] = m.(*querypb.GetDataDistributionResponse)
		records = append(records, r)
	}
	if err := f(all); err != nil {
		return err
	}
	changed := false
	for _, r := range records {
		b, err := proto.MarshalOptions{Deterministic: true}.Marshal(all[sessionName(r)])
		if err != nil {
			return err
		}
		old, err := response(r)
		if err != nil {
			return err
		}
		changed = changed || !proto.Equal(old, all[sessionName(r)])
		r.Response = b
	}
	if !changed {
		return errNoChange
	}
	return nil
}

func (d distributions) node(name string) (*querypb.GetDataDistributionResponse, error) {
	if x := d[name]; x != nil {
		return x, nil
	}
	return nil, fmt.Errorf("%s did not say what it serves", name)
}

// take removes a sealed segment from a node's response and returns it, nil if it is not there.
func take(x *querypb.GetDataDistributionResponse, id int64) *querypb.SegmentVersionInfo {
	i := slices.IndexFunc(x.GetSegments(), func(s *querypb.SegmentVersionInfo) bool { return s.GetID() == id })
	if i < 0 {
		return nil
	}
	taken := x.GetSegments()[i]
	x.Segments = slices.Delete(x.GetSegments(), i, i+1)
	return taken
}

// setNode changes the node of a segment in the views of all leaders that have it. Node 0 removes it.
func (d distributions) setNode(id, node int64) {
	for _, x := range d {
		for _, view := range x.GetLeaderViews() {
			switch dist := view.GetSegmentDist()[id]; {
			case dist == nil:
			case node == 0:
				delete(view.GetSegmentDist(), id)
			default:
				dist.NodeID = node
			}
		}
	}
}

// segmentOf returns a segment of the base by its id.
func (w *World) segmentOf(text string) (*model.Segment, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%q is no segment id", text)
	}
	s := w.base.Cluster.Segment(model.SegmentID(id))
	if s == nil {
		return nil, fmt.Errorf("the base has no segment %d", id)
	}
	return s, nil
}

// loadedAt sets the load time of a segment, if given. QueryCoord uses the time in nanoseconds as its version.
func (w *World) loadedAt(s *querypb.SegmentVersionInfo, args []word) error {
	if len(args) == 0 {
		return nil
	}
	at, err := w.at(args[0].text)
	s.Version = at.UnixNano()
	return err
}

// moveSegment implements "move SEGMENT to NODE [TIME]": another node has it in memory, loaded at TIME, and
// the leader's view is updated.
func (w *World) moveSegment(args []word) error {
	s, err := w.segmentOf(args[0].text)
	if err != nil {
		return err
	}
	id := int64(s.ID)
	return w.redistribute(func(d distributions) error {
		to, err := d.node(args[2].text)
		if err != nil {
			return err
		}
		var moved *querypb.SegmentVersionInfo
		for _, x := range d {
			taken := take(x, id)
			if taken != nil && x == to && len(args) < 4 {
				return fmt.Errorf("%s has segment %d already", args[2].text, id)
			}
			if taken != nil {
				moved = taken
			}
		}
		if moved == nil {
			return fmt.Errorf("no node serves segment %d", id)
		}
		if err := w.loadedAt(moved, args[3:]); err != nil {
			return err
		}
		to.Segments = append(to.GetSegments(), moved)
		d.setNode(id, to.GetNodeID())
		return nil
	})
}

// serveSegment implements "serve SEGMENT on NODE [TIME]": one more node has it in memory, loaded at TIME.
// Leaders without a copy in their view use this one.
func (w *World) serveSegment(args []word) error {
	s, err := w.segmentOf(args[0].text)
	if err != nil {
		return err
	}
	return w.redistribute(func(d distributions) error {
		on, err := d.node(args[2].text)
		if err != nil {
			return err
		}
		copied := w.served(s)
		for _, x := range d {
			for _, have := range x.GetSegments() {
				if have.GetID() == int64(s.ID) {
					copied = proto.Clone(have).(*querypb.SegmentVersionInfo)
				}
			}
		}
		if take(on, copied.GetID()) != nil {
			return fmt.Errorf("%s has segment %d already", args[2].text, s.ID)
		}
		if err := w.loadedAt(copied, args[3:]); err != nil {
			return err
		}
		on.Segments = append(on.GetSegments(), copied)
		for _, x := range d {
			for _, view := range x.GetLeaderViews() {
				if view.GetChannel() == s.VChannel && view.GetSegmentDist()[copied.GetID()] == nil &&
					view.GetSegmentDist() != nil {
					view.SegmentDist[copied.GetID()] = &querypb.SegmentDist{
						NodeID: on.GetNodeID(), Version: copied.GetVersion(),
					}
				}
			}
		}
		return nil
	})
}

// served returns a node's report of a segment that it loaded at the time of the base, with its finished
// indexes.
func (w *World) served(s *model.Segment) *querypb.SegmentVersionInfo {
	x := &querypb.SegmentVersionInfo{
		ID: int64(s.ID), Collection: int64(s.Collection), Partition: int64(s.Partition), Channel: s.VChannel,
		Version:   w.base.Now.UnixNano(),
		IndexInfo: make(map[int64]*querypb.FieldIndexInfo),
	}
	for i := range s.Indexes {
		if b := &s.Indexes[i]; b.State == model.IndexFinished {
			x.IndexInfo[int64(b.Index)] = &querypb.FieldIndexInfo{
				IndexID: int64(b.Index), BuildID: int64(b.Build), EnableIndex: true, IndexSize: b.Bytes,
				NumRows: b.Rows,
			}
		}
	}
	return x
}

// unserveSegment implements "unserve SEGMENT": no node has it in memory any more.
func (w *World) unserveSegment(args []word) error {
	s, err := w.segmentOf(args[0].text)
	if err != nil {
		return err
	}
	return w.redistribute(func(d distributions) error {
		hits := 0
		for _, x := range d {
			if take(x, int64(s.ID)) != nil {
				hits++
			}
		}
		if hits == 0 {
			return fmt.Errorf("no node serves segment %d", s.ID)
		}
		d.setNode(int64(s.ID), 0)
		return nil
	})
}

// growSegment implements "grow SEGMENT ROWS": the leader of its shard has it in memory as growing.
func (w *World) growSegment(args []word) error {
	s, err := w.segmentOf(args[0].text)
	if err != nil {
		return err
	}
	rows, err := strconv.ParseInt(args[1].text, 10, 64)
	if err != nil || rows <= 0 {
		return errors.New("grow SEGMENT ROWS wants a number of rows")
	}
	return w.redistribute(func(d distributions) error {
		for _, x := range d {
			for _, view := range x.GetLeaderViews() {
				if view.GetChannel() != s.VChannel {
					continue
				}
				if view.GrowingSegments == nil {
					view.GrowingSegments = make(map[int64]*msgpb.MsgPosition)
				}
				if view.GrowingSegments[int64(s.ID)] != nil {
					return fmt.Errorf("segment %d is growing already", s.ID)
				}
				view.GrowingSegments[int64(s.ID)] = &msgpb.MsgPosition{
					ChannelName: s.VChannel, Timestamp: uint64(s.StartAt),
				}
				view.NumOfGrowingRows += rows
				return nil
			}
		}
		return fmt.Errorf("no node leads %s", s.VChannel)
	})
}

// ungrowSegment implements "ungrow SEGMENT": its shard's leader releases the growing segment. The number of
// growing rows stays the same unless it was the last one.
func (w *World) ungrowSegment(args []word) error {
	s, err := w.segmentOf(args[0].text)
	if err != nil {
		return err
	}
	return w.redistribute(func(d distributions) error {
		for _, x := range d {
			for _, view := range x.GetLeaderViews() {
				if view.GetGrowingSegments()[int64(s.ID)] == nil {
					continue
				}
				if delete(view.GetGrowingSegments(), int64(s.ID)); len(view.GetGrowingSegments()) == 0 {
					view.NumOfGrowingRows = 0
				}
				return nil
			}
		}
		return fmt.Errorf("no leader has segment %d growing", s.ID)
	})
}
