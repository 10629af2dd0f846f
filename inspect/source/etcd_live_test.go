package source_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"

	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
)

// liveStore starts an etcd with a capture and opens it.
func liveStore(t *testing.T) (*sourcetest.Server, sourcetest.Dump, *source.Etcd) {
	t.Helper()
	server := sourcetest.StartEtcd(t, nil)
	dump := sourcetest.ReadDump(t, filepath.Join(snapshots, "standalone-2.3.5"))
	server.Load(t, dump.Keys)
	src := open(t, "etcd://"+server.Address, source.Options{}).(*source.Etcd)
	t.Cleanup(func() { _ = src.Close() })
	return server, dump, src
}

func pin(t *testing.T, src source.Source) source.Snapshot {
	t.Helper()
	snap, err := src.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

func put(t *testing.T, server *sourcetest.Server, key, value string) int64 {
	t.Helper()
	resp, err := server.Client.Put(t.Context(), key, value)
	if err != nil {
		t.Fatal(err)
	}
	return resp.Header.Revision
}

func TestSnapshotStaysAtItsRevision(t *testing.T) {
	server, dump, src := liveStore(t)
	before := pin(t, src)
	put(t, server, "by-dev/meta/session/id", "changed")
	put(t, server, "by-dev/meta/new", "new")
	if _, err := server.Client.Delete(t.Context(), string(dump.Keys[10].Key)); err != nil {
		t.Fatal(err)
	}
	got, err := collect(t.Context(), before)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, kv := range dump.Keys {
		want[string(kv.Key)] = string(kv.Value)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pinned revision (-want +got):\n%s", diff)
	}
	after := pin(t, src)
	if got, err = collect(t.Context(), after); err != nil {
		t.Fatal(err)
	}
	if after.Header().Revision != before.Header().Revision+3 || got["by-dev/meta/new"] != "new" ||
		len(got) != len(want) {
		t.Errorf("revision %d after %d, %d keys", after.Header().Revision, before.Header().Revision, len(got))
	}
}

func TestCompactedSnapshot(t *testing.T) {
	server, _, src := liveStore(t)
	snap := pin(t, src)
	put(t, server, "by-dev/meta/x", "y")
	newest := put(t, server, "by-dev/meta/x", "z")
	if _, err := server.Client.Compact(t.Context(), newest); err != nil {
		t.Fatal(err)
	}
	_, err := collect(t.Context(), snap)
	if !errors.Is(err, source.ErrCompacted) {
		t.Errorf("Scan of a compacted revision: %v", err)
	}
	expectHint(t, err, "compacted", "snapshot save")
	err = src.Watch(t.Context(), snap.Header(), func(int64, []source.Event) error { return nil })
	if !errors.Is(err, source.ErrCompacted) {
		t.Errorf("Watch from a compacted revision: %v", err)
	}
}

func TestPages(t *testing.T) {
	// Use more keys than one page holds, with small and large values mixed.
	server := sourcetest.StartEtcd(t, nil)
	var keys []source.KV
	for i := range 25_000 {
		size := 20
		if i%100 == 0 {
			size = 20_000
		}
		keys = append(keys, source.KV{
			Key: fmt.Appendf(nil, "by-dev/meta/datacoord-meta/s/%06d", i), Value: bytes.Repeat([]byte{byte(i)}, size),
		})
	}
	server.Load(t, keys)
	src := open(t, "etcd://"+server.Address, source.Options{})
	t.Cleanup(func() { _ = src.Close() })
	snap := pin(t, src)
	for name, ranges := range map[string][]source.Range{
		"one range":   {source.Prefix("by-dev/")},
		"many ranges": manyRanges(),
	} {
		i := 0
		err := snap.Scan(t.Context(), ranges, func(kv source.KV) error {
			if !bytes.Equal(kv.Key, keys[i].Key) || !bytes.Equal(kv.Value, keys[i].Value) {
				return fmt.Errorf("key %d is %q", i, kv.Key)
			}
			i++
			return nil
		})
		if err != nil || i != len(keys) {
			t.Errorf("%s: %d of %d keys, %v", name, i, len(keys), err)
		}
	}
}

func manyRanges() []source.Range {
	var ranges []source.Range
	for i := range 25 {
		ranges = append(ranges, source.Prefix(fmt.Sprintf("by-dev/meta/datacoord-meta/s/%03d", i)))
	}
	return ranges
}

func TestWatch(t *testing.T) {
	server, _, src := liveStore(t)
	header := pin(t, src).Header()
	first := put(t, server, "by-dev/meta/session/new", "1")
	put(t, server, "elsewhere/x", "not ours")
	resp, err := server.Client.Txn(t.Context()).Then(
		clientv3.OpPut("by-dev/kv/gid/timestamp", "2"), clientv3.OpDelete("by-dev/meta/session/new"),
	).Commit()
	if err != nil {
		t.Fatal(err)
	}
	second := resp.Header.Revision
	type change struct {
		Revision   int64
		Key, Value string
		Deleted    bool
	}
	var got []change
	enough := errors.New("enough")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	calls := 0
	err = src.Watch(ctx, header, func(revision int64, events []source.Event) error {
		for _, e := range events {
			got = append(got, change{revision, string(e.Key), string(e.Value), e.Deleted})
			if e.ModRevision != revision {
				t.Errorf("event %q of revision %d in revision %d", e.Key, e.ModRevision, revision)
			}
		}
		if calls++; revision == second {
			return enough
		}
		return nil
	})
	want := []change{
		{first, "by-dev/meta/session/new", "1", false},
		{second, "by-dev/kv/gid/timestamp", "2", false},
		{second, "by-dev/meta/session/new", "", true},
	}
	if diff := cmp.Diff(want, got); diff != "" || !errors.Is(err, enough) || calls != 2 {
		t.Errorf("%d calls, %v (-want +got):\n%s", calls, err, diff)
	}
}

func TestWatchEndsWithItsContext(t *testing.T) {
	_, _, src := liveStore(t)
	header := pin(t, src).Header()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if err := src.Watch(ctx, header, func(int64, []source.Event) error { return nil }); !errors.Is(err,
		context.Canceled) {
		t.Errorf("Watch ended with %v", err)
	}
}

func TestWatchSurvivesALostConnection(t *testing.T) {
	server, _, _ := liveStore(t)
	proxy := newProxy(t, server.Address)
	src := open(t, "etcd://"+proxy.address, source.Options{}).(*source.Etcd)
	t.Cleanup(func() { _ = src.Close() })
	header := pin(t, src).Header()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	enough := errors.New("enough")
	var seen []string
	put(t, server, "by-dev/meta/w0", "")
	err := src.Watch(ctx, header, func(_ int64, events []source.Event) error {
		for _, e := range events {
			seen = append(seen, string(e.Key))
		}
		if len(seen) == 3 {
			return enough
		}
		if len(events) > 0 {
			proxy.cut()
			put(t, server, fmt.Sprintf("by-dev/meta/w%d", len(seen)), "")
		}
		return nil
	})
	want := []string{"by-dev/meta/w0", "by-dev/meta/w1", "by-dev/meta/w2"}
	if !errors.Is(err, enough) || !slices.Equal(seen, want) {
		t.Errorf("saw %v, ended with %v", seen, err)
	}
}

func TestDeadEndpoints(t *testing.T) {
	server, dump, _ := liveStore(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	from := "etcd://" + strings.Join([]string{"127.0.0.1:1", silent.Addr().String(), server.Address}, ",")
	src := open(t, from, source.Options{DialTimeout: 1500 * time.Millisecond}).(*source.Etcd)
	t.Cleanup(func() { _ = src.Close() })
	start := time.Now()
	got, err := collect(t.Context(), pin(t, src))
	if err != nil || len(got) != len(dump.Keys) {
		t.Errorf("%d keys, %v", len(got), err)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("took %s", took)
	}
	health, err := src.Health(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	problems := 0
	for _, m := range health.Members {
		if m.Problem != "" {
			problems++
		}
	}
	if len(health.Members) != 3 || problems != 2 {
		t.Errorf("health %+v, want one member that answers and two endpoints that do not", health)
	}
}

func TestDeadlineOfARequest(t *testing.T) {
	server, _, _ := liveStore(t)
	proxy := newProxy(t, server.Address)
	src := open(t, "etcd://"+proxy.address, source.Options{RequestTimeout: 500 * time.Millisecond})
	t.Cleanup(func() { _ = src.Close() })
	snap := pin(t, src)
	proxy.freeze()
	start := time.Now()
	_, err := collect(t.Context(), snap)
	expectHint(t, err, "no response within 500ms", "--timeout")
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %s", took)
	}
}

func TestHealth(t *testing.T) {
	server, _, src := liveStore(t)
	health, err := src.Health(t.Context())
	if err != nil || len(health.Members) != 1 {
		t.Fatalf("health %+v, %v", health, err)
	}
	m := health.Members[0]
	if m.Name != "default" || m.Version == "" || !m.Leader || m.Learner || m.DBSize <= 0 || m.DBInUse <= 0 ||
		m.DBInUse > m.DBSize ||
		len(m.Errors) > 0 || m.Problem != "" || health.Problem != "" || m.Endpoint != "http://"+server.Address {
		t.Errorf("health %+v", health)
	}
	if len(health.Linear) == 0 || len(health.Local) != len(health.Linear) || slices.Contains(health.Linear, 0) {
		t.Errorf("timed reads %v, %v", health.Linear, health.Local)
	}
}

func TestClosedSource(t *testing.T) {
	_, _, src := liveStore(t)
	pin(t, src)
	for range 2 {
		if err := src.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
}

// proxy forwards a port to an address, and can be interrupted.
type proxy struct {
	address string
	conns   chan net.Conn
	frozen  chan struct{}
}

func newProxy(t *testing.T, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{address: l.Addr().String(), conns: make(chan net.Conn, 100), frozen: make(chan struct{})}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				_ = in.Close()
				continue
			}
			p.conns <- in
			go p.copy(out, in)
			go p.copy(in, out)
		}
	}()
	return p
}

func (p *proxy) copy(to, from net.Conn) {
	defer func() { _ = to.Close() }()
	buf := make([]byte, 4096)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		select {
		case <-p.frozen:
			// Discard all data from now on, as a network that drops packets does.
			continue
		default:
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// cut closes the current connections.
func (p *proxy) cut() {
	for {
		select {
		case c := <-p.conns:
			_ = c.Close()
		default:
			return
		}
	}
}

func (p *proxy) freeze() { close(p.frozen) }
