package record_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	clientv3 "go.etcd.io/etcd/client/v3"

	"kitescope/inspect/live"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/inspect/session/record"
	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
)

// waitTimeout is the timeout of until. It is long because the machine may be busy.
const waitTimeout = 2 * time.Minute

// recorder records an etcd until it is stopped.
type recorder struct {
	t    *testing.T
	dir  string
	stop func()

	mu    sync.Mutex
	lines []string
}

func (r *recorder) addLine(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, line)
}

// reported reports whether a reported line contains part.
func (r *recorder) reported(part string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.lines, func(line string) bool { return strings.Contains(line, part) })
}

// start starts a recorder of from into dir. ask returns the client for the processes; if it is nil, they are not
// queried.
func start(t *testing.T, dir, from string, o record.Options, ask func(*record.Recorder) session.Asker) *recorder {
	t.Helper()
	r := &recorder{t: t, dir: dir}
	o.Dir, o.Log, o.Kitescope = dir, r.addLine, "test"
	if o.Every == 0 {
		o.Every = 50 * time.Millisecond
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	own, err := record.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	var asks session.Asker
	if ask != nil {
		asks = ask(own)
	}
	go func() {
		ended <- own.Run(ctx, func(ctx context.Context) (source.Source, error) {
			return source.Open(ctx, from, source.Options{})
		}, asks)
	}()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the recorder ends with %v", err)
		}
		if err := own.Close(); err != nil {
			t.Errorf("the recorder is closed with %v", err)
		}
	})
	t.Cleanup(r.stop)
	return r
}

// until waits until done returns true. It fails the test after patience.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(waitTimeout); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not after %s", what, waitTimeout)
		}
	}
}

// waitRevision waits until the recording has a revision.
func (r *recorder) waitRevision(revision int64) {
	r.t.Helper()
	until(r.t, fmt.Sprintf("revision %d", revision), func() bool { return last(r.t, r.dir) >= revision })
}

// last returns the newest revision of a recording, or 0 if there is none yet.
func last(t *testing.T, dir string) int64 {
	t.Helper()
	src, err := source.Open(t.Context(), dir, source.Options{})
	if err != nil {
		return 0
	}
	defer src.Close()
	snap, err := src.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	return snap.Header().Revision
}

// cluster is an etcd with random keys. It holds the redacted state at each revision.
type cluster struct {
	t      *testing.T
	server *sourcetest.Server
	random *rand.Rand
	states map[int64]map[string]string
	newest int64
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{
		t: t, server: sourcetest.StartEtcd(t, nil), random: rand.New(rand.NewPCG(9, 9)),
		states: map[int64]map[string]string{},
	}
	c.put("by-dev/meta/session/id", "1")
	return c
}

func (c *cluster) from() string { return "etcd://" + c.server.Address + "/by-dev" }

func (c *cluster) do(ops ...clientv3.Op) {
	c.t.Helper()
	r, err := c.server.Client.Txn(c.t.Context()).Then(ops...).Commit()
	if err != nil {
		c.t.Fatal(err)
	}
	c.newest = r.Header.Revision
	all, err := c.server.Client.Get(c.t.Context(), "by-dev/", clientv3.WithPrefix(), clientv3.WithRev(c.newest))
	if err != nil {
		c.t.Fatal(err)
	}
	redact, state := meta.Redactor(source.Header{Root: "by-dev", MetaPath: "meta"}), map[string]string{}
	for _, kv := range all.Kvs {
		kept, ok := redact(source.KV{
			Key: kv.Key, Value: kv.Value, CreateRevision: kv.CreateRevision, ModRevision: kv.ModRevision,
			Version: kv.Version, Lease: kv.Lease,
		})
		if ok {
			state[string(kept.Key)] = line(kept)
		}
	}
	c.states[c.newest] = state
}

func line(kv source.KV) string {
	return fmt.Sprintf("%q created %d modified %d version %d lease %d", kv.Value, kv.CreateRevision, kv.ModRevision,
		kv.Version, kv.Lease)
}

func (c *cluster) put(key, value string) { c.do(clientv3.OpPut(key, value)) }

// randomChanges makes random changes in the given number of steps.
func (c *cluster) randomChanges(steps int) {
	c.t.Helper()
	for range steps {
		var ops []clientv3.Op
		for _, i := range c.random.Perm(30)[:1+c.random.IntN(5)] {
			key := fmt.Sprintf("by-dev/meta/test/%02d", i)
			if ops = append(ops, clientv3.OpPut(key, strings.Repeat("v", c.random.IntN(300)))); c.random.IntN(4) == 0 {
				ops[len(ops)-1] = clientv3.OpDelete(key)
			}
		}
		if c.random.IntN(10) == 0 {
			ops = append(ops, clientv3.OpPut("elsewhere/x", "y"))
		}
		c.do(ops...)
	}
}

// compare compares a recording with the states of the etcd between two revisions. Revisions without a known state
// are only read.
func (c *cluster) compare(dir string, from, to int64) {
	c.t.Helper()
	src, err := source.Open(c.t.Context(), dir, source.Options{})
	if err != nil {
		c.t.Fatal(err)
	}
	defer src.Close()
	past, err := source.PastOf(src)
	if err != nil {
		c.t.Fatal(err)
	}
	for revision := from; revision <= to; revision++ {
		snap, err := past.PinAt(c.t.Context(), source.Header{}, revision)
		if err != nil {
			c.t.Fatalf("revision %d: %v", revision, err)
		}
		got := map[string]string{}
		err = snap.Scan(c.t.Context(), []source.Range{{}}, func(kv source.KV) error {
			got[string(kv.Key)] = line(kv)
			return nil
		})
		if err != nil {
			c.t.Fatalf("revision %d: %v", revision, err)
		}
		if want, ok := c.states[revision]; ok && !maps.Equal(want, got) {
			c.t.Errorf("revision %d: %d keys, etcd has %d", revision, len(got), len(want))
		}
		_ = snap.Close()
	}
}

// TestRecordingIsTheEtcd checks that a recording equals the etcd at each revision, across several chunks, a
// compaction, and a pause of the recorder.
func TestRecordingIsTheEtcd(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.randomChanges(20)
	dir := t.TempDir()
	first := c.newest
	r := start(t, dir, c.from(), record.Options{ChunkSize: 3000}, nil)
	r.waitRevision(first)
	for range 8 {
		c.randomChanges(40)
		r.waitRevision(c.newest)
	}
	if _, err := c.server.Client.Compact(t.Context(), c.newest-5); err != nil {
		t.Fatal(err)
	}
	c.randomChanges(20)
	r.waitRevision(c.newest)
	r.stop()
	c.compare(dir, first, c.newest)
	names, err := source.ChunkNames(dir)
	if err != nil || len(names) < 3 {
		t.Errorf("the chunks are %v, want three or more: %v", names, err)
	}

	c.randomChanges(30) // no recorder runs, but etcd keeps the changes
	r = start(t, dir, c.from(), record.Options{}, nil)
	r.waitRevision(c.newest)
	c.randomChanges(10)
	r.waitRevision(c.newest)
	r.stop()
	c.compare(dir, first, c.newest)

	missed := c.newest
	c.randomChanges(30) // these are compacted before the recorder starts
	if _, err := c.server.Client.Compact(t.Context(), c.newest); err != nil {
		t.Fatal(err)
	}
	again := c.newest
	r = start(t, dir, c.from(), record.Options{}, nil)
	r.waitRevision(again)
	c.randomChanges(10)
	r.waitRevision(c.newest)
	r.stop()
	c.compare(dir, first, missed)
	c.compare(dir, again, c.newest)
	src, err := source.Open(t.Context(), dir, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if _, err := src.(source.Past).PinAt(t.Context(), source.Header{}, missed+1); err == nil ||
		!strings.Contains(err.Error(), "was not recorded") {
		t.Errorf("a revision that nobody saw: %v", err)
	}
	if parts, _ := filepath.Glob(filepath.Join(dir, "*.part")); len(parts) > 0 {
		t.Errorf("%v are left", parts)
	}
}

// unpacked returns the decompressed bytes of all chunks of a recording.
func unpacked(t *testing.T, dir string) []byte {
	t.Helper()
	names, err := source.ChunkNames(dir)
	if err != nil || len(names) == 0 {
		t.Fatalf("no chunks: %v", err)
	}
	var all []byte
	for _, name := range names {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		z, err := zstd.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		z.Close()
		_ = f.Close()
		all = append(all, content...)
	}
	return all
}

// recordingAsker is a session.Asker that passes redacted answers to the recorder, as a client does.
type recordingAsker struct {
	r       *record.Recorder
	answers []live.Record
}

func (a *recordingAsker) Ask(_ context.Context, c *model.Cluster) (*model.Runtime, error) {
	d := live.NewDecoder()
	for _, r := range a.answers {
		r = live.Redact(r)
		a.r.Keep(r)
		d.Add(r)
	}
	return d.Runtime("live", ""), nil
}

// TestNoSecretIsRecorded checks that no secret is recorded. It plants secrets in keys, their old values and
// answers.
func TestNoSecretIsRecorded(t *testing.T) {
	t.Parallel()
	const planted = "pl4nted-s3cret"
	c := newCluster(t)
	secrets := func(n int) {
		c.put("by-dev/meta/root-coord/credential/users/root",
			fmt.Sprintf(`{"username":"root","encrypted_password":"%s-%d"}`, planted, n))
		c.put("by-dev/config/minio/secretAccessKey", fmt.Sprintf("%s-%d", planted, n))
		c.put("by-dev/meta/unknown/thing", fmt.Sprintf(`{"password": "%s-%d"}`, planted, n))
		c.put("by-dev/config/ghp_"+strings.Repeat("a1B2", 9), "x") // a key that is left out
		c.put("by-dev/config/etcd/endpoints", fmt.Sprintf("http://root:%s-%d@10.0.0.1:2379", planted, n))
	}
	secrets(0)
	dir := t.TempDir()
	r := start(t, dir, c.from(), record.Options{}, func(own *record.Recorder) session.Asker {
		return &recordingAsker{own, []live.Record{
			{
				Role: "querynode", Node: 4, Address: "10.0.0.1:21123", Method: "GET /metrics",
				Response: []byte("a{password=\"" + planted + "\"} 1\nb 2\n"), Outcome: "answered", At: time.Now(),
			},
			{
				Role: "querynode", Node: 4, Address: "10.0.0.1:21123", Method: "/x/Unknown", Response: []byte(planted),
				Outcome: "answered", At: time.Now(),
			},
			{
				Role: "querynode", Node: 4, Address: "10.0.0.1:21123", Method: "GET /healthz",
				Error: "dial http://u:" + planted + "@h: refused", Outcome: "unreachable", At: time.Now(),
			},
		}}
	})
	for n := range 3 {
		secrets(n + 1)
		r.waitRevision(c.newest)
	}
	r.stop()
	src, err := source.Open(t.Context(), dir, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	snap, err := src.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := snap.Scan(t.Context(), []source.Range{{}}, func(source.KV) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if gaps := snap.Gaps(); len(gaps) != 1 || gaps[0].Count != 1 || !gaps[0].Unrecorded {
		t.Errorf("gaps %+v, want one key that was left out", gaps)
	}
	all := unpacked(t, dir)
	if i := max(bytes.Index(all, []byte(planted)), bytes.Index(all, []byte("ghp_"))); i >= 0 {
		t.Errorf("a secret is recorded: %q", all[max(0, i-200):i+20])
	}
	if !bytes.Contains(all, []byte("secretAccessKey")) || !bytes.Contains(all, []byte("GET /healthz")) {
		t.Error("what holds the secrets is not recorded at all")
	}
}

// TestBounds checks that the oldest chunks are removed above MaxSize, and that the rest can still be read.
func TestBounds(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	dir := t.TempDir()
	const most = 40_000
	r := start(t, dir, c.from(), record.Options{ChunkSize: 4000, MaxSize: most}, nil)
	r.waitRevision(c.newest)
	first := ""
	for n := range 60 {
		for range 10 {
			noise := make([]byte, 500)
			for i := range noise {
				noise[i] = byte(33 + c.random.IntN(90))
			}
			c.put(fmt.Sprintf("by-dev/meta/test/%02d", c.random.IntN(9)), string(noise))
		}
		r.waitRevision(c.newest)
		names, err := source.ChunkNames(dir)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			first = names[0]
		}
		if n > 0 && names[0] != first {
			break
		}
	}
	r.stop()
	names, err := source.ChunkNames(dir)
	if err != nil || names[0] == first {
		t.Fatalf("the first chunk is still there: %v %v", names, err)
	}
	size := int64(0)
	for _, name := range names {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	const oneMore = 20_000 // the chunk that was being written when sizes were added up
	if size > most+oneMore {
		t.Errorf("%d bytes are kept, want %d at most", size, most)
	}
	src, err := source.Open(t.Context(), dir, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	oldest, err := src.(source.Past).Oldest(t.Context(), source.Header{})
	if err != nil {
		t.Fatal(err)
	}
	c.compare(dir, oldest, c.newest)
}

// TestClockSetBack checks that a clock set back is reported and recorded, and that the recording is still read
// correctly.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	dir := t.TempDir()
	var mu sync.Mutex
	back := time.Duration(0)
	clock := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return time.Now().Add(-back)
	}
	first := c.newest
	r := start(t, dir, c.from(), record.Options{Now: clock}, nil)
	r.waitRevision(c.newest)
	mu.Lock()
	back = time.Hour
	mu.Unlock()
	until(t, "the clock", func() bool { return r.reported("the clock went back by 1h0m0s") })
	c.randomChanges(10)
	r.waitRevision(c.newest)
	r.stop()
	c.compare(dir, first, c.newest)
	if !bytes.Contains(unpacked(t, dir), []byte("the clock went back by 1h0m0s")) {
		t.Error("the recording does not say it")
	}
}

// TestFolderLock checks that a second recorder of a folder is refused until the first is closed.
func TestFolderLock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := record.Options{Dir: dir, Every: time.Second, Now: time.Now, Log: func(string) {}}
	one, err := record.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := record.Open(t.Context(), o); err == nil ||
		!strings.Contains(err.Error(), "another recorder writes there") {
		t.Errorf("a second recorder: %v", err)
	}
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	two, err := record.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := two.Close(); err != nil {
		t.Fatal(err)
	}
}
