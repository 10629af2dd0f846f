package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/msgpb"
	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	"github.com/milvus-io/milvus/pkg/v3/proto/indexpb"
	"go.etcd.io/etcd/server/v3/lease"
	"go.etcd.io/etcd/server/v3/storage/backend"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"go.uber.org/zap"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/source"
)

// generatorVersion changes whenever the generated data changes.
const generatorVersion = 1

// capture is the path in the repository of the cluster that the file starts with.
const capture = "testdata/snapshots/cluster-2.3.5-healthy/etcd_snapshot.db.gz"

// ensure returns the path of a file with the given number of revisions. It creates the file unless it exists.
func ensure(ctx context.Context, repo string, revisions int) (string, error) {
	path, err := cacheFile(revisions)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	part := path + ".part"
	_ = os.Remove(part)
	if err := generate(ctx, filepath.Join(repo, capture), part, revisions); err != nil {
		return "", fmt.Errorf("make %s: %w", path, err)
	}
	return path, os.Rename(part, path)
}

// busyCluster is a cluster under load. Its writes follow those of a Milvus 2.3 under inserts.
type busyCluster struct {
	store    mvcc.WatchableKV
	random   *rand.Rand
	now      time.Time
	channels []string // keys of checkpoints
	segments []*datapb.SegmentInfo
	next     int64
	err      error
}

func generate(ctx context.Context, from, to string, revisions int) error {
	config := backend.DefaultBackendConfig(zap.NewNop())
	config.Path, config.UnsafeNoFsync = to, true
	b := backend.New(config)
	defer b.Close()
	w := &busyCluster{
		store: mvcc.New(zap.NewNop(), b, &lease.FakeLessor{}, mvcc.StoreConfig{}), random: rand.New(rand.NewPCG(5, 6)),
		next: 480_000_000_000_000_000,
	}
	defer w.store.Close()
	if err := w.fill(ctx, from); err != nil {
		return err
	}
	for int(w.store.Rev()) < revisions && w.err == nil {
		w.pass()
	}
	return w.err
}

// fill copies the keys of a capture.
func (w *busyCluster) fill(ctx context.Context, from string) error {
	src, err := source.Open(ctx, from, source.Options{})
	if err != nil {
		return err
	}
	defer src.Close()
	snap, err := src.Pin(ctx)
	if err != nil {
		return err
	}
	defer snap.Close()
	w.now = snap.Header().Taken
	return snap.Scan(ctx, []source.Range{source.Prefix("by-dev/")}, func(kv source.KV) error {
		key := string(kv.Key)
		if strings.HasPrefix(key, "by-dev/meta/datacoord-meta/channel-cp/") {
			w.channels = append(w.channels, key)
		}
		if strings.HasPrefix(key, "by-dev/meta/datacoord-meta/s/") && len(w.segments) < 60 {
			s := new(datapb.SegmentInfo)
			if err := proto.Unmarshal(kv.Value, s); err != nil {
				return err
			}
			w.segments = append(w.segments, s)
		}
		w.put(key, append([]byte{}, kv.Value...))
		return nil
	})
}

func (w *busyCluster) put(key string, value []byte) { w.store.Put([]byte(key), value, lease.NoLease) }

func (w *busyCluster) message(key string, m proto.Message) {
	value, err := proto.Marshal(m)
	if err != nil {
		w.err = err
	}
	w.put("by-dev/meta/"+key, value)
}

// pass writes three seconds of changes: reserved timestamps, some checkpoints, and in one of four passes the
// life of a segment.
func (w *busyCluster) pass() {
	w.now = w.now.Add(3 * time.Second)
	w.put("by-dev/kv/gid/timestamp", binary.BigEndian.AppendUint64(nil, uint64(w.now.Add(3*time.Second).UnixNano())))
	for range 3 {
		key := w.channels[w.random.IntN(len(w.channels))]
		name := key[strings.LastIndexByte(key, '/')+1:]
		w.message(strings.TrimPrefix(key, "by-dev/meta/"), &msgpb.MsgPosition{
			ChannelName: name, MsgID: []byte("12345678"), MsgGroup: "by-dev-dataNode-7-" + name,
			Timestamp: uint64(w.now.UnixMilli()) << 18,
		})
	}
	if w.random.IntN(4) == 0 {
		w.writeSegment()
	}
}

// writeSegment writes the life of a segment: it grows, is flushed and indexed, and is dropped after a compaction.
func (w *busyCluster) writeSegment() {
	like := w.segments[w.random.IntN(len(w.segments))]
	w.next += 10
	s := proto.Clone(like).(*datapb.SegmentInfo)
	s.ID, s.CompactionFrom = w.next, nil
	path := fmt.Sprintf("%d/%d/%d", s.CollectionID, s.PartitionID, s.ID)
	for _, state := range []commonpb.SegmentState{
		commonpb.SegmentState_Growing, commonpb.SegmentState_Sealed, commonpb.SegmentState_Flushing,
	} {
		s.State = state
		w.message("datacoord-meta/s/"+path, s)
	}
	for _, field := range []int64{0, 1, 100, 101} {
		w.message(fmt.Sprintf("datacoord-meta/binlog/%s/%d", path, field), &datapb.FieldBinlog{
			FieldID: field,
			Binlogs: []*datapb.Binlog{
				{
					EntriesNum: 5000, TimestampFrom: 450000000000000000, TimestampTo: 450000000000100000,
					LogSize: 1 << 20, LogID: s.ID + 5,
				},
			},
		})
	}
	s.State = commonpb.SegmentState_Flushed
	w.message("datacoord-meta/s/"+path, s)
	x := &indexpb.SegmentIndex{
		CollectionID: s.CollectionID, PartitionID: s.PartitionID, SegmentID: s.ID, NumRows: 5000, IndexID: 3,
		BuildID: s.ID + 1, NodeID: 12,
	}
	for _, state := range []commonpb.IndexState{
		commonpb.IndexState_Unissued, commonpb.IndexState_InProgress, commonpb.IndexState_Finished,
	} {
		x.State = state
		w.message(fmt.Sprintf("segment-index/%s/%d", path, x.BuildID), x)
	}
	s.State, s.DroppedAt = commonpb.SegmentState_Dropped, uint64(w.now.UnixNano())
	w.message("datacoord-meta/s/"+path, s)
}
