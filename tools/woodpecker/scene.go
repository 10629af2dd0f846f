package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/milvus-io/milvus-proto/go-api/v2/commonpb"
	"github.com/milvus-io/milvus/pkg/v2/proto/streamingpb"
	"github.com/zilliztech/woodpecker/meta"
	"github.com/zilliztech/woodpecker/proto"
	"github.com/zilliztech/woodpecker/woodpecker"
	"github.com/zilliztech/woodpecker/woodpecker/log"
	clientv3 "go.etcd.io/etcd/client/v3"
	pb "google.golang.org/protobuf/proto"
)

const (
	intactLog  = "by-dev-rootcoord-dml_0"
	damagedLog = "by-dev-rootcoord-dml_1"
)

// truth holds the state of the logs according to Woodpecker's own client before the damage, and the damage.
type truth struct {
	Logs []*logTruth `json:"logs"`
}

type logTruth struct {
	Name      string          `json:"name"`
	ID        int64           `json:"id"`
	Truncated string          `json:"truncated"` // segment/entry
	Last      string          `json:"last"`
	Segments  []*segmentTruth `json:"segments"`
	Reader    string          `json:"reader,omitempty"`
	Lost      []int64         `json:"lost_segments,omitempty"`
	Garbled   []int64         `json:"garbled_segments,omitempty"`
}

type segmentTruth struct {
	ID      int64  `json:"id"`
	State   string `json:"state"`
	Written int64  `json:"written"` // entries, counted by the writer
	Bytes   int64  `json:"bytes"`
	Last    int64  `json:"last_entry"`
}

type scene struct {
	etcd        *clientv3.Client
	data        string
	truth       truth
	entryCounts map[string]map[int64]int64 // number of entries by log and segment
	last        map[string]*log.LogMessageId
}

func (s *scene) play(ctx context.Context) error {
	s.entryCounts, s.last = map[string]map[int64]int64{intactLog: {}, damagedLog: {}}, map[string]*log.LogMessageId{}
	c, err := s.client(ctx)
	if err != nil {
		return err
	}
	for _, name := range []string{intactLog, damagedLog} {
		if err := c.CreateLog(ctx, name); err != nil {
			return err
		}
		for _, entries := range []int{40, 41, 42, 25} {
			if err := s.fill(ctx, c, name, entries); err != nil {
				return err
			}
		}
		if err := s.keepWriting(ctx, c, name, 7); err != nil {
			return err
		}
	}
	if err := s.seal(ctx, c, intactLog, 1); err != nil {
		return err
	}
	if err := s.truncate(ctx, c, intactLog, &log.LogMessageId{SegmentId: 1, EntryId: 9}); err != nil {
		return err
	}
	for _, name := range []string{intactLog, damagedLog} {
		if err := s.describe(ctx, c, name); err != nil {
			return err
		}
	}
	if err := s.milvus(ctx); err != nil {
		return err
	}
	return s.damage(ctx)
}

// fill writes one segment and completes it.
func (s *scene) fill(ctx context.Context, c woodpecker.Client, name string, entries int) error {
	l, err := c.OpenLog(ctx, name)
	if err != nil {
		return err
	}
	w, err := l.OpenLogWriter(ctx)
	if err != nil {
		return err
	}
	if err := s.write(ctx, w, name, entries); err != nil {
		return err
	}
	return w.Close(ctx)
}

// seal sets the state "Sealed", as a compaction does at its end. Woodpecker does not compact data in folders
// (segment_handle.go, Compact), so seal uses the metadata provider.
func (s *scene) seal(ctx context.Context, c woodpecker.Client, name string, segment int64) error {
	m := c.GetMetadataProvider()
	x, err := m.GetSegmentMetadata(ctx, name, segment)
	if err != nil {
		return err
	}
	l, err := m.GetLogMeta(ctx, name)
	if err != nil {
		return err
	}
	before := x.Metadata.GetState()
	x.Metadata.State, x.Metadata.SealedTime = proto.SegmentState_Sealed, time.Now().UnixMilli()
	return m.UpdateSegmentMetadata(ctx, name, l.Metadata.GetLogId(), x, before)
}

func (s *scene) write(ctx context.Context, w log.LogWriter, name string, entries int) error {
	for i := range entries {
		r := w.Write(ctx, &log.WriteMessage{
			Payload: []byte(strings.Repeat("x", 200+i)), Properties: map[string]string{"n": "1"},
		})
		if r.Err != nil {
			return r.Err
		}
		s.last[name] = r.LogMessageId
		s.entryCounts[name][r.LogMessageId.SegmentId]++
	}
	return nil
}

func (s *scene) keepWriting(ctx context.Context, c woodpecker.Client, name string, entries int) error {
	l, err := c.OpenLog(ctx, name)
	if err != nil {
		return err
	}
	w, err := l.OpenLogWriter(ctx)
	if err != nil {
		return err
	}
	return s.write(ctx, w, name, entries)
}

// truncate truncates a log and lets Woodpecker mark the truncated segments.
func (s *scene) truncate(ctx context.Context, c woodpecker.Client, name string, to *log.LogMessageId) error {
	l, err := c.OpenLog(ctx, name)
	if err != nil {
		return err
	}
	if err := l.Truncate(ctx, to); err != nil {
		return err
	}
	return l.CheckAndSetSegmentTruncatedIfNeed(ctx)
}

// describe records the client's view of a log and leaves a reader of the first log open.
func (s *scene) describe(ctx context.Context, c woodpecker.Client, name string) error {
	l, err := c.OpenLog(ctx, name)
	if err != nil {
		return err
	}
	t := &logTruth{Name: name, ID: l.GetId()}
	cut, err := l.GetTruncatedRecordId(ctx)
	if err != nil {
		return err
	}
	t.Truncated, t.Last = position(cut), position(s.last[name])
	all, err := l.GetSegments(ctx)
	if err != nil {
		return err
	}
	for id := range int64(len(all)) {
		m := all[id].Metadata
		t.Segments = append(t.Segments, &segmentTruth{
			ID: id, State: m.GetState().String(), Written: s.entryCounts[name][id], Bytes: m.GetSize(),
			Last: m.GetLastEntryId(),
		})
	}
	if name == intactLog {
		r, err := l.OpenLogReader(ctx, &log.LogMessageId{SegmentId: 2, EntryId: 5}, "recovery")
		if err != nil {
			return err
		}
		for range 3 {
			if _, err := r.ReadNext(ctx); err != nil {
				return err
			}
		}
		t.Reader = r.GetName()
	}
	s.truth.Logs = append(s.truth.Logs, t)
	return nil
}

func position(id *log.LogMessageId) string { return fmt.Sprintf("%d/%d", id.SegmentId, id.EntryId) }

// milvus adds the few records that identify a Milvus, and a streaming node's checkpoints in these logs.
func (s *scene) milvus(ctx context.Context) error {
	const root = "by-dev/meta/"
	put := func(key string, m pb.Message) error {
		b, err := pb.Marshal(m)
		if err == nil {
			_, err = s.etcd.Put(ctx, root+key, string(b))
		}
		return err
	}
	if _, err := s.etcd.Put(ctx, root+"session/id", "8"); err != nil {
		return err
	}
	checkpoints := map[string]*log.LogMessageId{
		intactLog: {SegmentId: 3, EntryId: 4}, damagedLog: {SegmentId: 1, EntryId: 2},
	}
	for _, name := range []string{intactLog, damagedLog} {
		if err := put("streamingcoord-meta/pchannel/"+name, &streamingpb.PChannelMeta{
			Channel: &streamingpb.PChannelInfo{
				Name: name, Term: 2, AccessMode: streamingpb.PChannelAccessMode_PCHANNEL_ACCESS_READWRITE,
			},
			Node:  &streamingpb.StreamingNodeInfo{ServerId: 7, Address: "127.0.0.1:22222"},
			State: streamingpb.PChannelMetaState_PCHANNEL_META_STATE_ASSIGNED,
		}); err != nil {
			return err
		}
		at := checkpoints[name]
		if err := put("streamingnode-meta/wal/"+name+"/consume-checkpoint", &streamingpb.WALCheckpoint{
			MessageId: &commonpb.MessageID{
				Id: base64.StdEncoding.EncodeToString(at.Serialize()), WALName: commonpb.WALName_WoodPecker,
			},
			TimeTick: uint64(time.Now().UnixMilli()) << 18, RecoveryMagic: 1,
		}); err != nil {
			return err
		}
	}
	return nil
}

// damage deletes the record of segment 2 of the second log and overwrites that of segment 3.
func (s *scene) damage(ctx context.Context) error {
	if _, err := s.etcd.Delete(ctx, meta.BuildSegmentInstanceKey(damagedLog, "2")); err != nil {
		return err
	}
	if _, err := s.etcd.Put(ctx, meta.BuildSegmentInstanceKey(damagedLog, "3"), "\xff\xff\xffnot a record"); err !=
		nil {
		return err
	}
	s.truth.Logs[1].Lost, s.truth.Logs[1].Garbled = []int64{2}, []int64{3}
	return nil
}
