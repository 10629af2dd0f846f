package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/live"
	"kitescope/inspect/live/livetest"
	"kitescope/inspect/live/recorded"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
)

// cmdResult is the result of a command line.
type cmdResult struct {
	code        int
	stdout, err string
	took        time.Duration
}

// syncBuffer is a buffer that can be read and written concurrently.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// scriptStreams returns the streams of a script without a terminal, with the real clock. The environment is env.
// Without an entry in env, no configuration file is used.
func scriptStreams(out, errs io.Writer, env map[string]string) *cli.Streams {
	return &cli.Streams{
		In: strings.NewReader(""), Out: out, Err: errs, Now: time.Now,
		Size: func() (int, int) { return 0, 0 },
		Getenv: func(name string) string {
			if name == "KITESCOPE_CONFIG" {
				return cmp.Or(env[name], os.DevNull)
			}
			return env[name]
		},
		ReadPassword: func(context.Context, string) (string, error) { return "", os.ErrNotExist },
	}
}

// terminal is the environment of a command line. The zero value is a script without a terminal, with the time of
// the fake clusters.
type terminal struct {
	now func() time.Time
	env map[string]string
	// out and err collect the output. If nil, each run uses new buffers.
	out, err *syncBuffer
	// once caches clusters. If nil, each command line reads its cluster.
	once *readOnce
}

// readOnce caches the clusters that the command lines of a test read. It is for tests of the output that do not
// test the reading.
type readOnce struct {
	mu       sync.Mutex
	clusters map[string]*model.Cluster
}

func (l *readOnce) load(place string, read func() (*model.Cluster, error)) (*model.Cluster, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.clusters[place]; c != nil {
		return c, nil
	}
	c, err := read()
	if err != nil {
		return nil, err
	}
	if l.clusters == nil {
		l.clusters = map[string]*model.Cluster{}
	}
	l.clusters[place] = c
	return c, nil
}

func fakeNow() time.Time { return livetest.Now }

// run runs a command line and returns its result.
func (tt terminal) run(ctx context.Context, t *testing.T, args ...string) cmdResult {
	t.Helper()
	tt.out, tt.err = cmp.Or(tt.out, &syncBuffer{}), cmp.Or(tt.err, &syncBuffer{})
	s := scriptStreams(tt.out, tt.err, tt.env)
	if s.Now = tt.now; s.Now == nil {
		s.Now = fakeNow
	}
	if tt.once != nil {
		s.Loads = tt.once.load
	}
	start := time.Now()
	code := run(ctx, s, args)
	return cmdResult{code, tt.out.String(), tt.err.String(), time.Since(start)}
}

// kitescope runs a command line in a zero terminal. The test fails if the exit code is not code.
func kitescope(t *testing.T, code int, args ...string) cmdResult {
	t.Helper()
	return terminal{}.mustRun(t, code, args...)
}

// mustRun runs a command line. The test fails if the exit code is not code.
func (tt terminal) mustRun(t *testing.T, code int, args ...string) cmdResult {
	t.Helper()
	e := tt.run(t.Context(), t, args...)
	if e.code != code {
		t.Fatalf("kitescope %s: exit %d, want %d\nstdout: %s\nstderr: %s", strings.Join(args, " "), e.code, code,
			head(e.stdout), e.err)
	}
	return e
}

// head returns the first 1200 bytes of a text, to keep test failures readable.
func head(text string) string {
	const most = 1200
	if len(text) > most {
		return text[:most] + "..."
	}
	return text
}

// containsAll reports a test error for each word that text does not contain.
func containsAll(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("lacks %q:\n%s", w, head(text))
		}
	}
}

// fakes is a fake cluster: a real etcd with metadata, and a server on loopback for each process.
type fakes struct {
	etcd *sourcetest.Server
	// cluster is the decoded metadata, with the addresses of its original network.
	cluster *model.Cluster
	servers *recorded.Servers
	// from is the value of --from for the etcd.
	from string
	// now is the clock of commands that read the cluster.
	now func() time.Time
	// proxyPort is the port of the proxy's HTTP server, if there is one. No response contains it.
	proxyPort string
}

// commit makes etcd commit its pending writes, because a later commit would change its size.
func (f *fakes) commit() { f.etcd.Etcd.Server.Backend().ForceCommit() }

// run runs a command line with the cluster's clock.
func (f *fakes) run(t *testing.T, args ...string) cmdResult {
	t.Helper()
	return terminal{now: f.now}.run(t.Context(), t, args...)
}

// startFakes loads keys into an etcd and starts servers that send the recorded responses of the processes.
func startFakes(
	t *testing.T, kvs []source.KV, answers func(*model.Cluster) []live.Record, opts recorded.Options,
) *fakes {
	t.Helper()
	f := &fakes{etcd: sourcetest.StartEtcd(t, nil), now: fakeNow}
	f.etcd.Load(t, kvs)
	f.from = "etcd://" + f.etcd.Address + "/by-dev"
	f.cluster = clusterOf(t, f.from)
	var err error
	if f.servers, err = recorded.Start(answers(f.cluster), opts); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.servers.Close)
	for _, s := range f.cluster.Sessions {
		if to, ok := f.servers.Address(s.Address); ok {
			f.move(t, s.Name(), to)
		} else {
			f.move(t, s.Name(), livetest.Refused(t))
		}
	}
	f.commit()
	return f
}

// clusterOf loads all metadata.
func clusterOf(t *testing.T, from string) *model.Cluster {
	t.Helper()
	c, _ := clusterWith(t, from, source.Options{Now: fakeNow})
	return c
}

// clusterWith loads all metadata. It returns the cluster without and with the additional data of a bundle.
func clusterWith(t *testing.T, from string, opts source.Options) (c, with *model.Cluster) {
	t.Helper()
	src, err := source.Open(t.Context(), from, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	snap, err := src.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	if c, err = meta.Load(t.Context(), snap, meta.Want{Parts: model.PartAll}); err != nil {
		t.Fatal(err)
	}
	if with, err = session.WithStored(t.Context(), src, c); err != nil {
		t.Fatal(err)
	}
	return c, with
}

// move changes the address of a session, as if the process had registered from there.
func (f *fakes) move(t *testing.T, session, address string) {
	t.Helper()
	f.editSession(t, session, func(s map[string]any) { s["Address"] = address })
}

// editSession edits the etcd records of a session, e.g. "querynode-5".
func (f *fakes) editSession(t *testing.T, session string, edit func(map[string]any)) {
	t.Helper()
	prefix := "by-dev/meta/session/"
	got, err := f.etcd.Client.Get(t.Context(), prefix, clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	edited := 0
	for _, kv := range got.Kvs {
		name := strings.TrimPrefix(string(kv.Key), prefix)
		record := map[string]any{}
		decoder := json.NewDecoder(bytes.NewReader(kv.Value))
		decoder.UseNumber()
		if decoder.Decode(&record) != nil || name == "id" {
			continue
		}
		if role, _, _ := strings.Cut(name, "-"); name != session && role+"-"+str(record["ServerID"]) != session {
			continue
		}
		edit(record)
		text, err := json.Marshal(record)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.etcd.Client.Put(t.Context(), string(kv.Key), string(text)); err != nil {
			t.Fatal(err)
		}
		edited++
	}
	if edited == 0 {
		t.Fatalf("no session %s", session)
	}
}

// capture returns the path of a file or folder in testdata/snapshots.
func capture(words ...string) string {
	return filepath.Join(append([]string{"..", "..", "testdata", "snapshots"}, words...)...)
}

// recordingOf reads the recording of a capture, and its scrapes by the address of the process.
func recordingOf(t *testing.T, name string) (records []live.Record, opts recorded.Options) {
	t.Helper()
	for _, part := range []string{"runtime.jsonl.gz", "metrics"} {
		if warnings, err := live.ReadFile(capture(name, part), func(r live.Record) {
			records = append(records, r)
		}); err != nil || len(warnings) > 0 {
			t.Fatalf("read %s of %s: %v, %q", part, name, err, warnings)
		}
	}
	return records, recorded.Options{Metrics: recorded.MetricsByAddress(records), Cluster: "by-dev"}
}

// t7Time returns the time at which the processes of t7 were queried, derived from their time ticks. The etcd
// snapshot was saved some seconds later.
func t7Time() time.Time { return time.Date(2026, 11, 20, 9, 6, 22, 129e6, time.UTC) }

// capturedT7 starts the captured cluster t7 in the state in which its processes were queried.
func capturedT7(t *testing.T, edit func(*recorded.Options)) *fakes {
	t.Helper()
	records, opts := recordingOf(t, "cluster-2.3.5-t7")
	if edit != nil {
		edit(&opts)
	}
	kvs := sourcetest.ReadDump(t, capture("cluster-2.3.5-t7")).WithPrefix("by-dev/")
	// A proxy of 2.3 does not report the port of its HTTP server; the recording has only its session.
	const proxyWeb = "127.0.0.1:20131"
	for i := range records {
		if r := &records[i]; r.Role == "proxy" && opts.Metrics[r.Address] != nil {
			records = append(records, live.Record{
				Role: r.Role, Node: r.Node, Address: proxyWeb, Method: "GET /metrics",
				Response: opts.Metrics[r.Address],
			})
			break
		}
	}
	f := startFakes(t, kvs, func(*model.Cluster) []live.Record { return records }, opts)
	if at, ok := f.servers.Address(proxyWeb); ok {
		_, f.proxyPort, _ = net.SplitHostPort(at)
	}
	// RootCoord reserves timestamps 3 s in advance.
	reserved := string(binary.BigEndian.AppendUint64(nil, uint64(t7Time().Add(3*time.Second).UnixNano())))
	if _, err := f.etcd.Client.Put(t.Context(), "by-dev/kv/gid/timestamp", reserved); err != nil {
		t.Fatal(err)
	}
	f.commit()
	f.now = t7Time
	return f
}
