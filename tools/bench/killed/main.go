// Command killed kills a recorder again and again and prints to standard output how many revisions were lost.
// It fails if a recording lacks a revision from two and a half intervals or more before the kill, or differs
// from etcd.
//
//	go build -o /tmp/kitescope ./cmd/kitescope && go run -C tools/bench ./killed -kitescope /tmp/kitescope -times 200
//
// A real etcd is written to all the time. The processes are those of the demo. After each kill the recording
// is opened and compared with etcd at the same revisions.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"

	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/inspect/session/demo"
	"kitescope/inspect/source"
	"kitescope/inspect/source/sourcetest"
)

func main() {
	program := flag.String("kitescope", "", "the program")
	times := flag.Int("times", 200, "number of kills")
	seed := flag.Uint64("seed", 1, "random seed")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *program, *times, rand.New(rand.NewPCG(*seed, *seed)))
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "killed:", err)
		os.Exit(1)
	}
}

const every = time.Second

// lab is a cluster and a recorder of it.
type lab struct {
	etcd    *embed.Etcd
	root    string
	program string
	dir     string
	random  *rand.Rand
	newest  atomic.Int64
	first   int64 // first recorded revision
}

func run(ctx context.Context, program string, times int, random *rand.Rand) error {
	cluster, err := demo.Start(ctx, nil)
	if err != nil {
		return err
	}
	defer cluster.Close()
	scratch, err := os.MkdirTemp("", "kitescope-killed-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	l := &lab{program: program, dir: filepath.Join(scratch, "recording"), random: random}
	if l.etcd, err = sourcetest.Serve(ctx, filepath.Join(scratch, "etcd"), nil); err != nil {
		return err
	}
	defer l.etcd.Close()
	if err := l.fill(ctx, cluster); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go l.write(ctx)
	lost, rounds := int64(0), 0
	for n := range times {
		missing, laid, err := l.killOnce(ctx)
		if err != nil {
			return fmt.Errorf("kill %d: %w", n+1, err)
		}
		lost = max(lost, missing)
		if laid {
			rounds++
		}
		if (n+1)%20 == 0 {
			fmt.Printf("killed %d times: at most %d revisions lost, each within the last interval; responses of "+
				"processes after %d kills\n", n+1, lost, rounds)
		}
	}
	return nil
}

func (l *lab) fill(ctx context.Context, cluster *demo.Cluster) error {
	src, err := cluster.Source("")
	if err != nil {
		return err
	}
	snap, err := src.Pin(ctx)
	if err != nil {
		return err
	}
	l.root = snap.Header().Root
	return sourcetest.Fill(ctx, l.etcd, snap)
}

// write changes a key every few milliseconds.
func (l *lab) write(ctx context.Context) {
	for n := 0; ctx.Err() == nil; n++ {
		key := fmt.Sprintf("%s/meta/test/%02d", l.root, n%37)
		answer, err := l.etcd.Server.Put(ctx, &pb.PutRequest{Key: []byte(key), Value: fmt.Appendf(nil, "%d", n)})
		if err == nil {
			l.newest.Store(answer.Header.Revision)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// killOnce starts the recorder, kills it and examines the recording. It returns how many revisions that etcd had
// at the kill are missing, and whether the recording holds answers of processes.
func (l *lab) killOnce(ctx context.Context) (missing int64, hasResponses bool, err error) {
	before, _ := l.revision(ctx) // 0 before the first round
	from := "etcd://" + l.etcd.Clients[0].Addr().String() + "/" + l.root
	cmd := exec.CommandContext(ctx, l.program, "record", "-O", l.dir, "--from", from, "--every", every.String(),
		"--max-age", "1h")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return 0, false, err
	}
	begun := time.Now()
	// Revisions from two and a half intervals before the kill must be recorded: one interval may have been in
	// the middle of a write, and one waiting for it.
	const settled = 2*every + every/2
	time.Sleep(time.Duration(l.random.Int64N(int64(4 * time.Second))))
	old, at := l.newest.Load(), time.Now()
	time.Sleep(time.Duration(l.random.Int64N(int64(2 * settled))))
	ago := time.Since(at)
	killed := l.newest.Load()
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	got, err := l.revision(ctx)
	if err != nil {
		if before == 0 { // no chunk was begun yet
			return 0, false, nil
		}
		return 0, false, err
	}
	if got < before {
		return 0, false, fmt.Errorf("revision %d was recorded, but now the last is %d", before, got)
	}
	if ago >= settled && l.firstChunkTime(begun).Before(at) && got < old {
		return 0, false, fmt.Errorf("revision %d was written %s before the kill, but only %d is recorded", old, ago,
			got)
	}
	hasResponses, err = l.compare(ctx, got)
	return killed - got, hasResponses, err
}

// firstChunkTime returns when the recorder started at the given time began its first chunk, or a time an hour ahead if
// it has none.
func (l *lab) firstChunkTime(started time.Time) time.Time {
	names, _ := source.ChunkNames(l.dir)
	for _, name := range names {
		_, text, _ := strings.Cut(strings.TrimSuffix(name, ".kite"), "-")
		if at, err := time.Parse("20060102T150405Z", text); err == nil && at.After(started) {
			return at.Add(time.Second)
		}
	}
	return started.Add(time.Hour)
}

func (l *lab) revision(ctx context.Context) (int64, error) {
	src, err := source.Open(ctx, l.dir, source.Options{})
	if err != nil {
		return 0, err
	}
	defer src.Close()
	snap, err := src.Pin(ctx)
	if err != nil {
		return 0, err
	}
	defer snap.Close()
	if l.first == 0 {
		if l.first, err = src.(source.Past).Oldest(ctx, snap.Header()); err != nil {
			return 0, err
		}
	}
	return snap.Header().Revision, nil
}

// compare compares the newest revision and three random ones of the recording with etcd. hasResponses reports whether
// the recording holds answers of processes.
func (l *lab) compare(ctx context.Context, newest int64) (hasResponses bool, err error) {
	src, err := source.Open(ctx, l.dir, source.Options{})
	if err != nil {
		return false, err
	}
	defer src.Close()
	for n := range 4 {
		revision := newest
		if n > 0 {
			revision = l.first + l.random.Int64N(newest-l.first+1)
		}
		snap, err := src.(source.Past).PinAt(ctx, source.Header{}, revision)
		if err != nil {
			return false, err
		}
		got := map[string]string{}
		err = snap.Scan(ctx, []source.Range{source.Prefix(l.root + "/meta/test/")}, func(kv source.KV) error {
			got[string(kv.Key)] = fmt.Sprintf("%s %d %d", kv.Value, kv.ModRevision, kv.Version)
			return nil
		})
		if err != nil {
			return false, err
		}
		want, err := l.state(ctx, revision)
		if err != nil {
			return false, err
		}
		if !maps.Equal(want, got) {
			return false, fmt.Errorf("revision %d differs between the recording and etcd", revision)
		}
	}
	snap, err := src.Pin(ctx)
	if err != nil {
		return false, err
	}
	c, err := meta.Load(ctx, snap, meta.Want{Parts: model.PartSessions})
	if err != nil {
		return false, err
	}
	if c, err = session.WithStored(ctx, src, c); err != nil {
		return false, err
	}
	if c.Runtime == nil {
		return false, nil
	}
	for _, g := range c.Gaps {
		return true, errors.New(g.Where + ": " + g.Reason)
	}
	return true, nil
}

func (l *lab) state(ctx context.Context, revision int64) (map[string]string, error) {
	prefix := source.Prefix(l.root + "/meta/test/")
	answer, err := l.etcd.Server.Range(ctx, &pb.RangeRequest{
		Key: []byte(prefix.From), RangeEnd: []byte(prefix.To), Revision: revision,
	})
	if err != nil {
		return nil, err
	}
	state := map[string]string{}
	for _, kv := range answer.Kvs {
		state[string(kv.Key)] = fmt.Sprintf("%s %d %d", kv.Value, kv.ModRevision, kv.Version)
	}
	return state, nil
}
