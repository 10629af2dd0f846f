package source_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
	"kitescope/internal/hints"
)

// hostile starts a hostile etcd in front of an etcd with a capture, and opens it.
func hostile(t *testing.T, configure func(*sourcetest.Hostile)) source.Watcher {
	t.Helper()
	server := sourcetest.StartEtcd(t, nil)
	server.Load(t, sourcetest.ReadDump(t, filepath.Join(snapshots, "standalone-2.3.5")).Keys)
	h := sourcetest.StartHostile(t, server.Address, configure)
	src := open(t, "etcd://"+h.Address, source.Options{}).(source.Watcher)
	t.Cleanup(func() { _ = src.Close() })
	return src
}

// watchResponses configures a watch that sends messages and no more after them.
func watchResponses(list ...*pb.WatchResponse) func(*sourcetest.Hostile) {
	return func(h *sourcetest.Hostile) {
		h.Watch = func(stream pb.Watch_WatchServer, _ *pb.WatchCreateRequest) error {
			for _, m := range append([]*pb.WatchResponse{{Header: &pb.ResponseHeader{Revision: 1}, Created: true}},
				list...) {
				if err := stream.Send(m); err != nil {
					return err
				}
			}
			<-stream.Context().Done()
			return nil
		}
	}
}

// TestWatchOfHostileMessages checks that an invalid message ends the watch with an error and does not crash the
// process.
func TestWatchOfHostileMessages(t *testing.T) {
	header := &pb.ResponseHeader{Revision: 900}
	kv := func(revision int64) *mvccpb.KeyValue {
		return &mvccpb.KeyValue{Key: []byte("by-dev/meta/session/x"), ModRevision: revision}
	}
	cases := map[string][]*pb.WatchResponse{
		"an event without a key-value": {{Header: header, Events: []*mvccpb.Event{{}}}},
		"a deletion without one":       {{Header: header, Events: []*mvccpb.Event{{Type: mvccpb.Event_DELETE}}}},
		"an event without a key": {
			{Header: header, Events: []*mvccpb.Event{{Kv: &mvccpb.KeyValue{ModRevision: 900}}}},
		},
		"an event without a revision":  {{Header: header, Events: []*mvccpb.Event{{Kv: kv(0)}}}},
		"an event of no known kind":    {{Header: header, Events: []*mvccpb.Event{{Type: 7, Kv: kv(900)}}}},
		"the second event without one": {{Header: header, Events: []*mvccpb.Event{{Kv: kv(900)}, {}}}},
		"in a fragment":                {{Header: header, Fragment: true, Events: []*mvccpb.Event{{}}}},
		"a revision that goes back":    {{Header: header, Events: []*mvccpb.Event{{Kv: kv(900)}, {Kv: kv(899)}}}},
		"one that goes back later": {
			{Header: header, Events: []*mvccpb.Event{{Kv: kv(900)}}},
			{Header: header, Events: []*mvccpb.Event{{Kv: kv(900)}}},
		},
		"more than a message may have": {
			{
				Header: header,
				Events: []*mvccpb.Event{
					{Kv: &mvccpb.KeyValue{Key: []byte("k"), Value: make([]byte, 65<<20), ModRevision: 900}},
				},
			},
		},
		"canceled twice, after no word": {
			{Header: header, Canceled: true, CancelReason: "a"}, {Header: header, Canceled: true, CancelReason: "b"},
		},
	}
	for name, list := range cases {
		t.Run(name, func(t *testing.T) {
			src := hostile(t, watchResponses(list...))
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			err := src.Watch(ctx, pin(t, src).Header(), func(int64, []source.Event) error { return nil })
			if err == nil || ctx.Err() != nil {
				t.Errorf("the watch ended with %v", err)
			}
		})
	}
}

// TestWatchBoundsARevision checks that a response with unlimited fragments is yielded in parts with bounded
// memory.
func TestWatchBoundsARevision(t *testing.T) {
	const revision = 900
	value := bytes.Repeat([]byte("v"), 1<<20)
	src := hostile(t, func(h *sourcetest.Hostile) {
		h.Watch = func(stream pb.Watch_WatchServer, _ *pb.WatchCreateRequest) error {
			m := &pb.WatchResponse{Header: &pb.ResponseHeader{Revision: revision}, Created: true}
			for i := 0; ; i++ {
				if err := stream.Send(m); err != nil {
					return err
				}
				kv := &mvccpb.KeyValue{
					Key: []byte("by-dev/meta/x"), Value: value, CreateRevision: 1, ModRevision: revision, Version: 2,
				}
				m = &pb.WatchResponse{Header: m.Header, Fragment: true, Events: []*mvccpb.Event{{Kv: kv}}}
			}
		}
	})
	enough := errors.New("enough")
	calls, most := 0, 0
	err := src.Watch(t.Context(), pin(t, src).Header(), func(_ int64, events []source.Event) error {
		calls++
		most = max(most, len(events))
		if calls == 4 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || most == 0 || most > 64 {
		t.Errorf("%d calls with up to %d MiB, and then %v", calls, most, err)
	}
}

// TestWatchGoesOnInsideARevision breaks the stream after a part of a revision was yielded.
func TestWatchGoesOnInsideARevision(t *testing.T) {
	const revision, events = 900, 200
	value := bytes.Repeat([]byte("v"), 1<<20)
	streams := 0
	src := hostile(t, func(h *sourcetest.Hostile) {
		h.Watch = func(stream pb.Watch_WatchServer, create *pb.WatchCreateRequest) error {
			streams++
			if create.StartRevision > revision {
				<-stream.Context().Done()
				return nil
			}
			header := &pb.ResponseHeader{Revision: revision}
			_ = stream.Send(&pb.WatchResponse{Header: header, Created: true})
			for i := range events {
				if streams == 1 && i == 100 {
					return nil
				}
				key := []byte("by-dev/meta/x" + strings.Repeat("x", i))
				kv := &mvccpb.KeyValue{
					Key: key, Value: value, CreateRevision: revision, ModRevision: revision, Version: 1,
				}
				if err := stream.Send(&pb.WatchResponse{
					Header: header, Fragment: i < events-1, Events: []*mvccpb.Event{{Kv: kv}},
				}); err != nil {
					return err
				}
			}
			<-stream.Context().Done()
			return nil
		}
	})
	seen := map[string]int{}
	done := errors.New("done")
	err := src.Watch(t.Context(), pin(t, src).Header(), func(_ int64, list []source.Event) error {
		for _, e := range list {
			seen[string(e.Key)]++
		}
		if len(seen) == events {
			return done
		}
		return nil
	})
	if !errors.Is(err, done) {
		t.Fatal(err)
	}
	for key, n := range seen {
		if n != 1 {
			t.Errorf("%s was told %d times", key, n)
		}
	}
}

// endlessPages responds to every read of more than one key with more keys to come.
func endlessPages(pause time.Duration) func(*sourcetest.Hostile) {
	return func(h *sourcetest.Hostile) {
		h.Range = func(r *pb.RangeRequest) *pb.RangeResponse {
			if r.Limit <= 1 || r.Revision == 0 {
				return nil
			}
			time.Sleep(pause)
			answer := &pb.RangeResponse{Header: &pb.ResponseHeader{Revision: r.Revision}, More: true, Count: 1 << 40}
			key := bytes.TrimRight(r.Key, "\x00")
			for i := range 1000 {
				next := append(bytes.Clone(key), fmt.Sprintf("/%06d", i)...)
				answer.Kvs = append(answer.Kvs, &mvccpb.KeyValue{
					Key: next, Value: make([]byte, 1000), CreateRevision: 1, ModRevision: 1, Version: 1,
				})
			}
			return answer
		}
	}
}

// TestScanHasLimits checks that unlimited pages end with an error that includes the limit.
func TestScanHasLimits(t *testing.T) {
	cases := map[string]struct {
		limits source.Limits
		pause  time.Duration
		want   string
	}{
		"keys":  {limits: source.Limits{Keys: 5000}, want: "more than 5000 keys, the limit of one reading"},
		"bytes": {limits: source.Limits{Bytes: 20 << 20}, want: "more than 20 MiB, the limit of one reading"},
		"time": {
			limits: source.Limits{Time: time.Second}, pause: 100 * time.Millisecond,
			want: "not finished after 1s, the limit of one reading: ",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			server := sourcetest.StartEtcd(t, nil)
			server.Load(t, sourcetest.ReadDump(t, filepath.Join(snapshots, "standalone-2.3.5")).Keys)
			h := sourcetest.StartHostile(t, server.Address, endlessPages(c.pause))
			err := scanError(t, "etcd://"+h.Address, source.Options{Limits: c.limits})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("the scan ended with %v", err)
			}
			if hint := new(hints.Error); !errors.As(err, &hint) {
				t.Error("nothing says what to try next")
			}
		})
	}
}

// TestBundleHasLimits checks limits on bundles, because a bundle is decompressed as it is read and its file
// size does not bound its content.
func TestBundleHasLimits(t *testing.T) {
	bundle := bundleOf(t,
		open(t, filepath.Join(snapshots, "standalone-2.3.5", "etcd_snapshot.db.gz"), source.Options{}))
	path := store(t, "a.kscope", bundle)
	for _, limits := range []source.Limits{{Keys: 100}, {Bytes: 10 << 10}} {
		for _, salvage := range []bool{false, true} {
			err := scanError(t, path, source.Options{Limits: limits, Salvage: salvage})
			if err == nil || !strings.Contains(err.Error(), "the limit of one reading") {
				t.Errorf("%+v: the scan ended with %v", limits, err)
			}
		}
	}
	if err := scanError(t, path, source.Options{}); err != nil {
		t.Error(err)
	}
}

// secretText is an error text of a server with its own secrets. The client did not send them.
const secretText = `cannot reach minio: secretAccessKey="PLANTED-a", password: PLANTED-b, token=PLANTED-c, http://root:PLANTED-d@minio:9000/`

// TestErrorsRedactSecrets checks that secrets of a server are redacted in each kind of response that ends
// in an error.
func TestErrorsRedactSecrets(t *testing.T) {
	safe := func(t *testing.T, text string) {
		t.Helper()
		if strings.Contains(text, "PLANTED") || !strings.Contains(text, "cannot reach minio") {
			t.Errorf("told: %s", text)
		}
	}
	failing := func(h *sourcetest.Hostile) {
		h.Fail = func(method string) error {
			if strings.HasSuffix(method, "/Range") {
				return status.Error(codes.Internal, secretText)
			}
			return nil
		}
	}
	t.Run("read", func(t *testing.T) {
		src := hostile(t, failing)
		_, err := src.Pin(t.Context())
		if err == nil {
			t.Fatal("no error")
		}
		safe(t, err.Error())
	})
	t.Run("status", func(t *testing.T) {
		src := hostile(t, func(h *sourcetest.Hostile) {
			h.Fail = func(string) error { return status.Error(codes.Internal, secretText) }
		})
		health, err := src.(*source.Etcd).Health(t.Context())
		if err != nil || len(health.Members) == 0 {
			t.Fatalf("%+v %v", health, err)
		}
		safe(t, health.Members[0].Problem)
	})
	for name, serve := range map[string]func(pb.Watch_WatchServer, *pb.WatchCreateRequest) error{
		"watch": func(pb.Watch_WatchServer, *pb.WatchCreateRequest) error {
			return status.Error(codes.PermissionDenied, secretText)
		},
		"watch canceled": func(stream pb.Watch_WatchServer, _ *pb.WatchCreateRequest) error {
			return errors.Join(
				stream.Send(&pb.WatchResponse{Header: &pb.ResponseHeader{Revision: 1}, Created: true}),
				stream.Send(&pb.WatchResponse{
					Header: &pb.ResponseHeader{Revision: 1}, Canceled: true, CancelReason: secretText,
				}),
			)
		},
	} {
		t.Run(name, func(t *testing.T) {
			src := hostile(t, func(h *sourcetest.Hostile) { h.Watch = serve })
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			err := src.Watch(ctx, pin(t, src).Header(), func(int64, []source.Event) error { return nil })
			if err == nil || ctx.Err() != nil {
				t.Fatalf("the watch ended with %v", err)
			}
			if name == "watch" {
				safe(t, err.Error())
			} else if strings.Contains(err.Error(), "PLANTED") {
				t.Error(err)
			}
		})
	}
}
