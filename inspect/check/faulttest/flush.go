package faulttest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/model"
)

// Measured on an idle 2.3.5 with small segments. After a flush, the sealed copy was on a query node within 3
// s, and the growing one was gone after 13.5 s.
const (
	sealedAfter   = 3 * time.Second
	releasedAfter = 13500 * time.Millisecond
)

// flushSegment implements "flush SEGMENT ROWS TIME": DataCoord flushed a growing segment at TIME, and the
// handoff is as far as it would be by now.
func (w *World) flushSegment(args []word) error {
	s, err := w.segmentOf(args[0].text)
	if err != nil {
		return err
	}
	at, err := w.at(args[2].text)
	if err != nil {
		return err
	}
	rows, err := strconv.ParseInt(args[1].text, 10, 64)
	if err != nil || rows <= 0 {
		return errors.New("flush SEGMENT ROWS TIME wants a number of rows")
	}
	tso := strconv.FormatUint(uint64(model.TSOFromTime(at)), 10)
	err = w.edit(w.store.below("datacoord-meta/s/"+segmentPath(s)), []word{
		{text: "state=Flushed"},
		{text: "num_of_rows=" + args[1].text},
		{text: "dml_position.timestamp=" + tso},
		{text: "last_expire_time=" + tso},
	})
	if err == nil {
		err = w.writeLogs(s, args[1].text)
	}
	if err != nil || w.noRuntime {
		return err
	}
	if err := w.addToRecovery(s); err != nil {
		return err
	}
	age := w.now.Sub(at)
	if age >= sealedAfter {
		leader, err := w.leaderOf(s.VChannel)
		if err != nil {
			return err
		}
		if err := w.serveSegment([]word{
			args[0], {text: "on"}, {text: leader}, {text: fmt.Sprintf("now-%s", age-sealedAfter)},
		}); err != nil {
			return err
		}
	}
	if age < releasedAfter {
		return nil
	}
	return w.ungrowSegment(args[:1])
}

// writeLogs adds an insert log to a flushed segment that has none.
func (w *World) writeLogs(s *model.Segment, rows string) error {
	prefix := "datacoord-meta/binlog/" + segmentPath(s) + "/"
	if len(w.store.below(prefix)) > 0 {
		return nil
	}
	return w.putKey([]word{
		{text: prefix + "100"}, {text: "fieldID: 100 binlogs: {entries_num: " + rows + " log_size: " + rows + "}"},
	})
}

// leaderOf returns the query node that leads a shard after the edits so far.
func (w *World) leaderOf(channel string) (name string, err error) {
	err = w.redistribute(func(d distributions) error {
		for n, x := range d {
			for _, view := range x.GetLeaderViews() {
				if view.GetChannel() == channel {
					name = n
				}
			}
		}
		return nil
	})
	if name == "" {
		return "", fmt.Errorf("no node leads %s", channel)
	}
	if errors.Is(err, errNoChange) {
		err = nil
	}
	return name, err
}

// addToRecovery adds a segment to those that DataCoord wants loaded as sealed.
func (w *World) addToRecovery(s *model.Segment) error {
	list, err := w.calls("datacoord", "GetRecoveryInfoV2")
	if err != nil {
		return err
	}
	for _, r := range list {
		err := rewriteOptional(r, func(m proto.Message) error {
			for _, c := range m.(*datapb.GetRecoveryInfoResponseV2).GetChannels() {
				if c.GetChannelName() != s.VChannel {
					continue
				}
				c.UnflushedSegmentIds = slices.DeleteFunc(c.GetUnflushedSegmentIds(), func(id int64) bool {
					return id == int64(s.ID)
				})
				if !slices.Contains(c.GetFlushedSegmentIds(), int64(s.ID)) {
					c.FlushedSegmentIds = append(c.GetFlushedSegmentIds(), int64(s.ID))
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
