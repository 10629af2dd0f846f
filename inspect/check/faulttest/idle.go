package faulttest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"
	"github.com/milvus-io/milvus-proto/go-api/v3/msgpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/querypb"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/model"
)

// Periods of Milvus. A growing segment that is not full is synced after dataNode.segment.syncPeriod. Then its
// channel's checkpoint follows the time ticks, once a minute.
const (
	syncPeriod       = 10 * time.Minute
	checkpointPeriod = time.Minute
)

// idle implements "idle DURATION": DURATION passes without inserts. Background work continues: checkpoints
// move, timestamps are reserved, targets are updated, and after 10 minutes growing segments are synced, which
// records their rows in etcd. Everything else, e.g. the time at which a segment was written, gets older.
func (w *World) idle(args []word) error {
	d, err := time.ParseDuration(strings.TrimPrefix(args[0].text, "+"))
	if err != nil || d <= 0 {
		return errors.New("idle wants a duration")
	}
	w.now = w.now.Add(d)
	w.store.header.Taken = w.store.header.Taken.Add(d)
	for _, key := range w.store.below("datacoord-meta/channel-cp/") {
		if err := w.moveCheckpoint(key, d); err != nil {
			return err
		}
	}
	if d >= syncPeriod {
		if err := w.syncGrowing(); err != nil {
			return err
		}
	}
	for _, key := range w.store.below("/kv/") {
		if value := w.store.keys[key].Value; len(value) == 8 {
			at := binary.BigEndian.Uint64(value) + uint64(d)
			w.store.put(key, binary.BigEndian.AppendUint64(nil, at))
		}
	}
	for i := range w.records {
		r := &w.records[i]
		if !r.At.IsZero() {
			r.At = r.At.Add(d)
		}
		if _, ok := methods()[methodOf(r)]; !ok || r.Error != "" || len(r.Response) == 0 {
			continue
		}
		if err := rewriteOptional(r, func(m proto.Message) error { return shiftTimes(m, d) }); err != nil {
			return err
		}
	}
	return nil
}

// moveCheckpoint moves the checkpoint of a channel with a consumer.
func (w *World) moveCheckpoint(key string, d time.Duration) error {
	v := w.base.Cluster.VChannel(key[strings.LastIndexByte(key, '/')+1:])
	if v == nil || !v.Watched {
		return nil
	}
	m := new(msgpb.MsgPosition)
	if err := proto.Unmarshal(w.store.keys[key].Value, m); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	m.Timestamp = addToTSO(m.GetTimestamp(), d)
	if d >= syncPeriod {
		m.Timestamp = max(m.GetTimestamp(), uint64(model.TSOFromTime(w.now.Add(-checkpointPeriod))))
	}
	value, err := proto.Marshal(m)
	if err == nil {
		w.store.put(key, value)
	}
	return err
}

// syncGrowing records the rows of growing segments whose number a leader reports. A sync writes the whole
// record from DataCoord's memory: positions and the last allocation. In the base, the channel's checkpoint is
// at the start of the unsynced rows.
func (w *World) syncGrowing() error {
	for _, s := range w.base.Cluster.Segments {
		if s.State != model.SegmentGrowing || s.Rows > 0 {
			continue
		}
		began := w.base.Cluster.VChannel(s.VChannel).Checkpoint.At
		for _, v := range w.base.Cluster.Runtime.ShardViews(s.VChannel) {
			if len(v.Growing) != 1 || v.GrowingRows == 0 {
				continue
			}
			err := w.edit(w.store.below("datacoord-meta/s/"+segmentPath(s)), []word{
				{text: fmt.Sprintf("num_of_rows=%d", v.GrowingRows)},
				{text: fmt.Sprintf("start_position.timestamp=%d", began)},
				{text: fmt.Sprintf("dml_position.timestamp=%d", began)},
				{text: fmt.Sprintf("last_expire_time=%d", addToTSO(uint64(began), 2*time.Second))},
			})
			if err != nil {
				return err
			}
			break
		}
	}
	return nil
}

// addToTSO adds d to a Milvus timestamp. It keeps 0 and the maximum.
func addToTSO(tso uint64, d time.Duration) uint64 {
	if tso == 0 || tso == math.MaxUint64 {
		return tso
	}
	return tso + uint64(model.TSOFromTime(time.UnixMilli(d.Milliseconds())))
}

var slowestChannel = regexp.MustCompile(`"MinFlowGraphTt":(\d+)`)

// shiftTimes shifts the times in a response that comes d later.
func shiftTimes(m proto.Message, d time.Duration) error {
	switch x := m.(type) {
	case *querypb.GetDataDistributionResponse:
		for _, view := range x.GetLeaderViews() {
			if view.GetTargetVersion() != 0 {
				view.TargetVersion += int64(d)
			}
		}
	case *datapb.GetRecoveryInfoResponseV2:
		for _, c := range x.GetChannels() {
			if c.GetSeekPosition() != nil {
				c.SeekPosition.Timestamp = addToTSO(c.GetSeekPosition().GetTimestamp(), d)
			}
		}
	case *milvuspb.GetMetricsResponse:
		x.Response = slowestChannel.ReplaceAllStringFunc(x.GetResponse(), func(s string) string {
			at, _ := strconv.ParseUint(slowestChannel.FindStringSubmatch(s)[1], 10, 64)
			return `"MinFlowGraphTt":` + strconv.FormatUint(addToTSO(at, d), 10)
		})
	}
	return nil
}
