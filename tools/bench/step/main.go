// Command step measures the time of a step through the history in the UI, from the key to the rows on the
// screen. It writes a Markdown table.
//
//  1. An etcd serves a copy of the generated cluster. Each of the transactions written to it changes a
//     setting, which is an event, and fifty segments.
//  2. The UI's model follows it on the segments page, in this process. Messages are passed to it as Bubble
//     Tea does, and a frame is drawn after each.
//  3. Keys step back and forward. The clock stops when a frame has the rows of the moment.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/milvus-io/milvus/pkg/v3/proto/datapb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/protobuf/proto"

	"kitescope/inspect/history"
	"kitescope/inspect/session"
	"kitescope/inspect/source"
	"kitescope/inspect/view"
	"kitescope/tools/bench/dataset"
	"kitescope/tools/bench/document"
	"kitescope/tools/bench/measure"
	"kitescope/tools/bench/metagen"
	"kitescope/tui"
)

// bar is the maximum duration of a step.
const bar = time.Second

const (
	events    = 60 // written to the cluster
	batchSize = 50 // segments changed with each event
	timeout   = time.Minute
	quietTime = 700 * time.Millisecond
)

func main() {
	segments := flag.Int("segments", 200_000, "segments of the cluster")
	output := flag.String("o", "", "file whose table, between its markers, is replaced")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *segments, *output)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "step:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, segments int, output string) error {
	scratch, err := os.MkdirTemp("", "kitescope-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	etcd, err := dataset.FindEtcd(ctx, scratch)
	if err != nil {
		return err
	}
	shape := metagen.Of(segments)
	dir, err := dataset.Ensure(ctx, etcd, shape)
	if err != nil {
		return err
	}
	mine := filepath.Join(scratch, "etcd")
	if err := os.CopyFS(mine, os.DirFS(dir)); err != nil {
		return err
	}
	server, err := etcd.Start(ctx, mine)
	if err != nil {
		return err
	}
	defer func() { _ = server.Stop() }()
	b := &bench{shape: shape, rows: map[int64]string{}}
	if err := b.write(ctx, server); err != nil {
		return err
	}
	took, err := b.step(ctx, server.Endpoint)
	if err != nil {
		return err
	}
	text := took.markdown(fmt.Sprintf("%s/%s, %d CPUs%s, %s, %s %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(),
		measure.Load(), runtime.Version(), etcd.Name, etcd.Version), segments)
	if _, err := io.WriteString(os.Stdout, text); err != nil || output == "" {
		return err
	}
	return document.ReplaceMeasured(output, "bench-step", text)
}

// bench holds the written revisions and the expected rows.
type bench struct {
	shape     metagen.Shape
	revisions []int64
	rows      map[int64]string // row count of the first segment at each revision
}

func (b *bench) write(ctx context.Context, server *dataset.Server) error {
	client, err := server.Client()
	if err != nil {
		return err
	}
	defer client.Close()
	now, err := client.Get(ctx, "x")
	if err == nil { // like an etcd that has run for long and keeps only its retention
		_, err = client.Compact(ctx, now.Header.Revision)
	}
	if err != nil {
		return fmt.Errorf("compact: %w", err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range events {
		ops := []clientv3.Op{clientv3.OpPut(b.shape.Root+"/config/bench/step", strconv.Itoa(i))}
		first := b.shape.Rewritten(0, int64(1+i))
		ops = append(ops, clientv3.OpPut(first.Key, string(first.Value)))
		chosen := map[int]bool{0: true}
		for len(chosen) < batchSize {
			n := random.IntN(b.shape.Segments)
			if !chosen[n] {
				chosen[n] = true
				kv := b.shape.Rewritten(n, 1+random.Int64N(1000))
				ops = append(ops, clientv3.OpPut(kv.Key, string(kv.Value)))
			}
		}
		answer, err := client.Txn(ctx).Then(ops...).Commit()
		if err != nil {
			return fmt.Errorf("write: %w", err)
		}
		var info datapb.SegmentInfo
		if err := proto.Unmarshal(first.Value, &info); err != nil {
			return err
		}
		b.revisions = append(b.revisions, answer.Header.Revision)
		b.rows[answer.Header.Revision] = strconv.FormatInt(info.NumOfRows, 10)
	}
	return nil
}

// results holds the times of all steps.
type results struct {
	first         step // also reads the revisions between
	back, forward []step
	data          time.Duration // start to rows
	eventsKnown   time.Duration // from the rows until the events are known
}

// step holds the cost of one step, from the key to the rows.
type step struct {
	took time.Duration
	// cpu is the CPU time of the process, including work in the background such as checks and garbage
	// collection.
	cpu time.Duration
	// collected reports whether a garbage collection ended meanwhile.
	collected bool
}

// step opens the UI and steps through the events, back and forward.
func (b *bench) step(ctx context.Context, endpoint string) (*results, error) {
	feed := &session.Feed{
		WithHistory: true, Interval: time.Second,
		Open: func(ctx context.Context) (source.Source, error) {
			return source.Open(ctx, "etcd://"+endpoint, source.Options{
				DialTimeout: 5 * time.Second, RequestTimeout: time.Minute,
			})
		},
	}
	u := &ui{messages: make(chan tea.Msg, 4096)}
	u.model = tui.New(tui.Config{
		Resources: view.Resources, Theme: "dark", Now: time.Now, StartPage: "segments", Title: endpoint,
	})
	u.runCmd(u.model.Init())
	u.update(tea.WindowSizeMsg{Width: 180, Height: 50})
	ctx, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		feed.Follow(ctx, func(x history.Update) { u.messages <- x })
	}()
	defer func() { stop(); <-done }()
	r := &results{}
	newest := b.revisions[len(b.revisions)-1]
	var err error
	if r.data, err = u.until(b.rows[newest]); err != nil {
		return nil, err
	}
	if r.eventsKnown, err = u.until(", to step back"); err != nil {
		return nil, err
	}
	u.drain()
	for i := len(b.revisions) - 1; i >= 10; i-- {
		took, err := u.press(',', "rev "+strconv.FormatInt(b.revisions[i], 10), " "+b.rows[b.revisions[i]]+" ")
		if err != nil {
			return nil, err
		}
		switch i {
		case len(b.revisions) - 1: // its rows were shown already
		case len(b.revisions) - 2:
			r.first = took
		default:
			r.back = append(r.back, took)
		}
	}
	for i := 11; i < len(b.revisions); i++ {
		took, err := u.press('.', "rev "+strconv.FormatInt(b.revisions[i], 10), " "+b.rows[b.revisions[i]]+" ")
		if err != nil {
			return nil, err
		}
		r.forward = append(r.forward, took)
	}
	return r, nil
}

// ui drives the model as Bubble Tea does.
type ui struct {
	model    tea.Model
	messages chan tea.Msg
}

func (u *ui) runCmd(c tea.Cmd) {
	if c != nil {
		go func() { u.messages <- c() }()
	}
}

func (u *ui) update(msg tea.Msg) {
	switch msg := msg.(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			u.runCmd(c)
		}
	default:
		next, c := u.model.Update(msg)
		u.model = next
		u.runCmd(c)
	}
}

func (u *ui) press(key rune, texts ...string) (step, error) {
	began, cpu, collected := time.Now(), processTime(), collections()
	u.update(tea.KeyPressMsg{Code: key, Text: string(key)})
	_, err := u.until(texts...)
	s := step{time.Since(began), processTime() - cpu, collections() > collected}
	u.drain()
	return s, err
}

// collections returns the number of completed garbage collections.
func collections() uint64 {
	sample := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// until handles messages until a frame contains all texts.
func (u *ui) until(texts ...string) (time.Duration, error) {
	began := time.Now()
	late := time.After(timeout)
	for {
		screen := ansi.Strip(u.model.View().Content)
		if !slices.ContainsFunc(texts, func(t string) bool { return !strings.Contains(screen, t) }) {
			return time.Since(began), nil
		}
		select {
		case msg := <-u.messages:
			u.update(msg)
		case <-late:
			_, why := u.model.(*tui.Model).Axis()
			return 0, fmt.Errorf("no %q on the screen (%s):\n%s", texts, why, screen)
		}
	}
}

// drain handles messages until none has come for a while.
func (u *ui) drain() {
	for {
		select {
		case msg := <-u.messages:
			u.update(msg)
		case <-time.After(quietTime):
			return
		}
	}
}

func (r *results) markdown(machine string, segments int) string {
	var t strings.Builder
	fmt.Fprintf(&t, "Stepping through %d events of a cluster with %d segments, %d of which change per event, on the "+
		"segments page, %s. Time from the key to the rows; the target "+
		"is %v.\n\n", events, segments, batchSize, machine, bar)
	t.WriteString("| step | p50 | p95 | max | process CPU, p50 | p95 | during GC | verdict |\n" +
		"|---|---:|---:|---:|---:|---:|---:|---|\n")
	for _, x := range []struct {
		name  string
		steps []step
	}{{"one event back", r.back}, {"one event forward", r.forward}} {
		wall := func(s step) time.Duration { return s.took }
		cpu := func(s step) time.Duration { return s.cpu }
		collected := 0
		for _, s := range x.steps {
			if s.collected {
				collected++
			}
		}
		fmt.Fprintf(&t, "| %s | %v | %v | %v | %v | %v | %d of %d | %s |\n", x.name, quantile(x.steps, wall, 0.5),
			quantile(x.steps, wall, 0.95), quantile(x.steps, wall, 1),
			quantile(x.steps, cpu, 0.5), quantile(x.steps, cpu, 0.95), collected, len(x.steps),
			document.Verdict(quantile(x.steps, wall, 0.5) <= bar))
	}
	fmt.Fprintf(&t, "| first step, which reads the changes in between | %v | | | %v | | | |\n",
		r.first.took.Round(time.Millisecond), r.first.cpu.Round(time.Millisecond))
	fmt.Fprintf(&t, "| from rows to events | %v | | | | | | |\n", r.eventsKnown.Round(time.Millisecond))
	return t.String()
}

// quantile returns the quantile of the steps' times at share.
func quantile(steps []step, of func(step) time.Duration, share float64) time.Duration {
	list := make([]time.Duration, 0, len(steps))
	for _, s := range steps {
		list = append(list, of(s))
	}
	slices.Sort(list)
	return list[int(share*float64(len(list)-1))].Round(100 * time.Microsecond)
}
