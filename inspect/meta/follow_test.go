package meta

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/meta/metatest"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
)

// followTest is a real etcd with a Follower.
type followTest struct {
	t       *testing.T
	server  *sourcetest.Server
	src     source.Watcher
	want    Want
	updates chan emission
	last    *model.Cluster
}

type emission struct {
	cluster *model.Cluster
	err     error
}

// follow starts an etcd with some keys and follows it.
func follow(t *testing.T, kvs []source.KV, want Want, wrap func(source.Watcher) source.Watcher) *followTest {
	t.Helper()
	f := &followTest{t: t, server: sourcetest.StartEtcd(t, nil), want: want, updates: make(chan emission, 1000)}
	f.server.Load(t, kvs)
	src, err := source.Open(t.Context(), "etcd://"+f.server.Address+"/by-dev", source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f.src = src.(source.Watcher)
	watched := f.src
	if wrap != nil {
		watched = wrap(watched)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	follower := &Follower{
		Source: watched, Want: want, Interval: 10 * time.Millisecond,
		Emit: func(c *model.Cluster, err error) { f.updates <- emission{c, err} },
	}
	go func() { done <- follower.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("following ends with %v", err)
		}
		src.Close()
	})
	return f
}

// at waits for the cluster of a revision.
func (f *followTest) at(revision int64) *model.Cluster {
	f.t.Helper()
	deadline := time.After(20 * time.Second)
	for f.last == nil || f.last.Origin.Revision < revision {
		select {
		case u := <-f.updates:
			if u.err != nil {
				f.t.Fatal(u.err)
			}
			f.last = u.cluster
		case <-deadline:
			f.t.Fatalf("no cluster of revision %d", revision)
		}
	}
	return f.last
}

// change runs operations in one transaction and returns the cluster after it.
func (f *followTest) change(ops ...clientv3.Op) *model.Cluster {
	f.t.Helper()
	answer, err := f.server.Client.Txn(f.t.Context()).Then(ops...).Commit()
	if err != nil {
		f.t.Fatal(err)
	}
	return f.at(answer.Header.Revision)
}

// check compares a followed cluster with a newly loaded one.
func (f *followTest) check(c *model.Cluster, what string) {
	f.t.Helper()
	snap, err := f.src.Pin(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	defer snap.Close()
	fresh, err := Load(f.t.Context(), snap, f.want)
	if err != nil {
		f.t.Fatal(err)
	}
	opts := []cmp.Option{
		cmpopts.IgnoreFields(model.Origin{}, "Taken"), cmpopts.IgnoreFields(model.Parts{}, "Keyspace"),
		cmpopts.EquateEmpty(),
	}
	if diff := cmp.Diff(fresh.Parts, c.Parts, opts...); diff != "" {
		f.t.Fatalf("%s (-loaded +followed):\n%s", what, diff)
	}
	if diff := cmp.Diff(totals(fresh), totals(c)); diff != "" {
		f.t.Fatalf("%s: totals (-loaded +followed):\n%s", what, diff)
	}
	if f.want.Records {
		compareKeyspaces(f.t, fresh.Keyspace, c.Keyspace)
	}
}

// totals collects the totals of a cluster.
func totals(c *model.Cluster) map[string]model.Totals {
	out := map[string]model.Totals{"": c.Totals()}
	for _, s := range c.Segments {
		out["collection "+s.Collection.String()] = c.CollectionTotals(s.Collection)
		out["partition "+s.Partition.String()] = c.PartitionTotals(s.Partition)
		out["vchannel "+s.VChannel] = c.VChannelTotals(s.VChannel)
		out[fmt.Sprintf("segments of %d: %d", s.Collection, len(c.SegmentsOf(s.Collection)))] = model.Totals{}
	}
	return out
}

func compareKeyspaces(t *testing.T, want, got model.Keyspace) {
	t.Helper()
	if want.Len() != got.Len() {
		t.Fatalf("keyspace of %d keys, want %d", got.Len(), want.Len())
	}
	for i := range want.Len() {
		a, b := want.Record(i), got.Record(i)
		if diff := cmp.Diff(a, b); diff != "" {
			t.Fatalf("record %d (-loaded +followed):\n%s", i, diff)
		}
	}
}

// TestFollowRandomChanges deletes, restores, truncates and swaps random keys of stores of several layouts. It
// checks after each step that the followed cluster equals a new one.
func TestFollowRandomChanges(t *testing.T) {
	bases := map[string][]source.KV{"3.0": metatest.Cluster("3.0")}
	for _, name := range []string{"standalone-2.1.0", "upgrade-2.2.16", "standalone-2.3.5"} {
		eachKey(t, name, func(kv source.KV) {
			bases[name] = append(bases[name], source.KV{Key: bytes.Clone(kv.Key), Value: bytes.Clone(kv.Value)})
		})
	}
	for name, kvs := range bases {
		t.Run(name, func(t *testing.T) {
			f := follow(t, kvs, Want{Parts: model.PartAll, Records: true}, nil)
			f.check(f.at(1), "at the start")
			random := rand.New(rand.NewPCG(11, 12))
			for step := range randomSteps {
				var what strings.Builder
				ops := make(map[string]clientv3.Op)
				for range 1 + random.IntN(12) {
					op, text := randomChange(random, kvs)
					ops[string(op.KeyBytes())] = op
					fmt.Fprintf(&what, "%s; ", text)
				}
				list := make([]clientv3.Op, 0, len(ops))
				for _, op := range ops {
					list = append(list, op)
				}
				f.check(f.change(list...), fmt.Sprintf("step %d: %s", step, &what))
			}
		})
	}
}

func randomChange(random *rand.Rand, kvs []source.KV) (clientv3.Op, string) {
	kv := kvs[random.IntN(len(kvs))]
	key := string(kv.Key)
	switch random.IntN(6) {
	case 0, 1:
		return clientv3.OpDelete(key), "delete " + key
	case 2:
		return clientv3.OpPut(key, string(kv.Value[:random.IntN(len(kv.Value)+1)])), "cut " + key
	case 3:
		return clientv3.OpPut(key, "\xE2\x9B\xBC"), "tombstone " + key
	case 4:
		// Change a digit in the middle of the last id, so that no other object has the new id. (Segment ids are
		// unique in Milvus.)
		i := max(len(key)-9-random.IntN(8), 15)
		changed := key[:i] + string(rune('0'+random.IntN(10))) + key[i+1:]
		return clientv3.OpPut(changed, string(kv.Value)), "put " + changed
	}
	return clientv3.OpPut(key, string(kv.Value)), "restore " + key
}

func TestFollowSharesUnchanged(t *testing.T) {
	f := follow(t, metatest.Cluster("2.6"), Want{Parts: model.PartAll}, nil)
	before := f.at(1)
	value, err := proto.Marshal(&datapb.FieldBinlog{
		FieldID: 102, Binlogs: []*datapb.Binlog{{EntriesNum: 1, LogSize: 9999}},
	})
	if err != nil {
		t.Fatal(err)
	}
	key := fmt.Sprintf("by-dev/meta/datacoord-meta/binlog/%d/%d/%d/102", metatest.Docs, metatest.Docs0,
		metatest.Flushed)
	after := f.change(clientv3.OpPut(key, string(value)))
	id := model.SegmentID(metatest.Flushed)
	if got, old := after.Segment(id).Bytes, before.Segment(id).Bytes; got != old-4000+9999 {
		t.Errorf("%d bytes after a change of %d", got, old)
	}
	for i, s := range before.Segments {
		if shared := after.Segments[i] == s; shared == (s.ID == id) {
			t.Errorf("segment %d shared: %v", s.ID, shared)
		}
	}
	if before.Collections[0] != after.Collections[0] || before.VChannels[0] != after.VChannels[0] {
		t.Error("unchanged objects are not shared")
	}
	if before.CollectionTotals(model.CollectionID(metatest.Items)) != after.CollectionTotals(model.CollectionID(
		metatest.Items,
	)) {
		t.Error("totals of another collection changed")
	}
	f.check(after, "after one binlog")

	var again []clientv3.Op // the catalog, rewritten unchanged; sessions hold their revision
	for _, kv := range metatest.Cluster("2.6") {
		if key := string(kv.Key); !strings.Contains(key, "/datacoord-meta/") && !strings.Contains(key, "/session/") {
			again = append(again, clientv3.OpPut(string(kv.Key), string(kv.Value)))
		}
	}
	if rewritten := f.change(again...); !rewritten.SharesCatalog(after) || len(again) < 20 {
		t.Errorf("the catalog of %d keys is another one after it was written with the same values", len(again))
	}
}

// TestFollowAdvancesRevision checks that changes of unwanted keys still advance the revision and the time.
func TestFollowAdvancesRevision(t *testing.T) {
	f := follow(t, metatest.Cluster("2.6"), Want{Parts: model.PartSegments}, nil)
	before := f.at(1)
	after := f.change(clientv3.OpPut("by-dev/config/some/thing", "x"))
	if after.Origin.Revision <= before.Origin.Revision || after.Segments[0] != before.Segments[0] ||
		!after.Origin.Taken.After(before.Origin.Taken) {
		t.Errorf("origin %+v after %+v", after.Origin, before.Origin)
	}
	if before.Origin.Revision == after.Origin.Revision || after.Keys != before.Keys {
		t.Errorf("%d keys, %d before", after.Keys, before.Keys)
	}
}

// TestFollowOneCollection checks that segments of other collections are excluded, and that the store is read again
// if the name comes to match another collection.
func TestFollowOneCollection(t *testing.T) {
	f := follow(t, metatest.Cluster("2.6"), Want{Parts: model.PartLogs, Collection: "latest"}, nil)
	if c := f.at(1); len(c.Segments) != 4 {
		t.Fatalf("%d segments", len(c.Segments))
	}
	segment := fmt.Sprintf("by-dev/meta/datacoord-meta/s/%d/%d/77", metatest.Items, metatest.Items0)
	f.check(f.change(clientv3.OpPut(segment, "")), "a segment of another collection")
	alias := metatest.Cluster("2.6")
	for _, kv := range alias {
		if strings.HasSuffix(string(kv.Key), "/latest") {
			changed := bytes.Replace(kv.Value, binary.AppendUvarint(nil, uint64(metatest.Docs)),
				binary.AppendUvarint(nil, uint64(metatest.Items)), 1)
			c := f.change(clientv3.OpPut(string(kv.Key), string(changed)))
			f.check(c, "the alias moved")
			if len(c.Segments) != 3 {
				t.Errorf("%d segments of items", len(c.Segments))
			}
		}
	}
}

// breakingWatcher is a watcher whose first watch breaks as after a compaction.
type breakingWatcher struct {
	source.Watcher
	broken chan struct{}
	times  int
}

func (b *breakingWatcher) Watch(ctx context.Context, h source.Header, yield func(int64, []source.Event) error) error {
	b.times++
	if b.times == 1 {
		<-b.broken
		return source.ErrCompacted
	}
	return b.Watcher.Watch(ctx, h, yield)
}

func TestFollowReloadsWhenTheWatchBreaks(t *testing.T) {
	b := &breakingWatcher{broken: make(chan struct{})}
	f := follow(t, metatest.Cluster("2.4"), Want{Parts: model.PartAll}, func(w source.Watcher) source.Watcher {
		b.Watcher = w
		return b
	})
	f.at(1)
	answer, err := f.server.Client.Put(t.Context(), "by-dev/meta/session/querynode-12",
		`{"ServerID":12,"ServerName":"querynode"}`)
	if err != nil {
		t.Fatal(err)
	}
	close(b.broken)
	if u := <-f.updates; !errors.Is(u.err, source.ErrCompacted) || u.cluster != nil {
		t.Fatalf("update %+v, want the watch's error", u)
	}
	c := f.at(answer.Header.Revision)
	if c.SessionIn(12, "querynode") == nil {
		t.Error("the change during the break is missing")
	}
	f.check(f.change(clientv3.OpDelete("by-dev/meta/session/querynode-12")), "after the break")
}

func TestFollowFailsAtTheStart(t *testing.T) {
	server := sourcetest.StartEtcd(t, nil)
	src, err := source.Open(t.Context(), "etcd://"+server.Address+"/by-dev", source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	f := &Follower{
		Source: src.(source.Watcher), Want: Want{Parts: model.PartAll}, Interval: time.Second,
		Emit: func(*model.Cluster, error) { t.Error("emitted") },
	}
	err = f.Run(t.Context())
	if _, ok := errors.AsType[*source.RootError](err); !ok {
		t.Errorf("error %v, want that there is no root", err)
	}
}

// TestFollowReloadsAfterGrowth checks that changes of an unknown net volume lead to another load.
func TestFollowReloadsAfterGrowth(t *testing.T) {
	server := sourcetest.StartEtcd(t, nil)
	server.Load(t, metatest.Cluster("2.6"))
	src, err := source.Open(t.Context(), "etcd://"+server.Address+"/by-dev", source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	counted := &countedPins{Watcher: src.(source.Watcher)}
	const steps, perStep = 8, 150
	told := make(chan int64, 10_000)
	f := &Follower{
		Source: counted, Want: Want{Parts: model.PartAll}, Interval: time.Millisecond,
		growth: volume{keys: 100, bytes: 1 << 20},
		Emit: func(c *model.Cluster, err error) {
			if err != nil {
				t.Errorf("the reading again is told as %v", err)
				return
			}
			told <- c.Origin.Revision
		},
	}
	go func() {
		defer stop()
		for step := range steps { // wait for each step before the next, so that one load cannot see them all
			var written int64
			for i := range perStep {
				put, err := server.Client.Put(ctx, fmt.Sprintf("by-dev/meta/session/querynode-%d", step*perStep+i),
					"{}")
				if err != nil {
					return
				}
				written = put.Header.Revision
			}
			for seen := int64(0); seen < written; {
				select {
				case seen = <-told:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	if err := f.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if counted.pins < 3 {
		t.Errorf("the store was read %d times while it grew by a thousand keys", counted.pins)
	}
}

// countedPins counts how often a store is pinned.
type countedPins struct {
	source.Watcher
	pins int
}

// Pin implements source.Source.
func (c *countedPins) Pin(ctx context.Context) (source.Snapshot, error) {
	c.pins++
	return c.Watcher.Pin(ctx)
}
