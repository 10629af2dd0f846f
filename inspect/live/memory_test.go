package live_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"
	"github.com/milvus-io/milvus/pkg/v3/proto/internalpb"

	"kitescope/inspect/live"
	"kitescope/inspect/live/livetest"
	"kitescope/inspect/live/recorded"
	"kitescope/inspect/model"
)

// peakHeap runs f and returns how much more was held meanwhile than before, at the most:
// what the garbage collector, made to run often, found alive. What it had not collected yet
// says how busy the machine is, not what is held.
func peakHeap(f func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(25))
	held := func() uint64 {
		s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	runtime.GC()
	before := held()
	var peak atomic.Uint64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				peak.Store(max(peak.Load(), held()))
			}
		}
	}()
	f()
	close(stop)
	<-done
	return peak.Load() - min(before, peak.Load())
}

// emptySegments is an answer of many segments of which nothing is said: two bytes each.
func emptySegments(size int) []byte {
	return append([]byte("\x0a\x00\x10\x65"), bytes.Repeat([]byte("\x1a\x00"), size/2)...)
}

// TestManyHostileNodes: however many nodes send as much as they may, at once, what is held
// stays bounded, and the others are heard.
func TestManyHostileNodes(t *testing.T) {
	const limit, size, hostile = 8 << 20, 31 << 18, hostileNodes // just below the limit of one answer
	text := strings.Repeat("x", 4*size)
	secrets := &internalpb.ShowConfigurationsResponse{Status: &commonpb.Status{Code: 65535, Reason: strings.Repeat("password=x ", size/60)}}
	json := strings.Repeat(`{"id":1},`, size/20)
	for name, flood := range map[string]struct {
		method  string
		answer  []byte
		stuck   bool
		outcome model.Outcome
	}{
		"everything at once":   {"", emptySegments(size), false, model.TooLarge},
		"segments without end": {"/GetDataDistribution", emptySegments(size), false, model.TooLarge},
		"nodes without end":    {"/GetMetrics", encode(t, &milvuspb.GetMetricsResponse{Status: ok, Response: `{"cluster":{"connected_nodes":[` + json + `{}]}}`}), false, model.TooLarge},
		"one long text":        {"/GetMetrics", encode(t, &milvuspb.GetMetricsResponse{Status: ok, Response: text}), false, model.TooLarge},
		"never the last byte":  {"/GetDataDistribution", []byte(text[:size]), true, model.TimedOut},
		"a large error":        {"/ShowConfigurations", encode(t, secrets), false, model.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			c := livetest.Cluster(livetest.Spec{QueryNodes: hostile + 4, Collections: 2, Segments: 400, Growing: 5})
			c = livetest.Serve(t, c, livetest.Answers(c, livetest.Options{}), recorded.Options{})
			addresses := map[string]string{}
			for i := range hostile {
				addresses["querynode-"+livetest.QueryNode(i).String()] = livetest.Flood(t, flood.method, flood.answer, flood.stuck)
			}
			opts := live.Options{Timeout: unhurried, MaxAnswer: limit}
			if len(flood.answer) > limit {
				opts.MaxAnswer = 0 // what is too long for a text is not too long for an answer
			}
			if flood.stuck {
				opts.Timeout = 3 * time.Second
			}
			nodes := boundedAsk(t, livetest.Replace(c, addresses), opts).QueryNodes()
			for _, n := range nodes[hostile:] {
				if n.Distribution == nil || n.Config == nil || n.Process == nil || n.Process.Metrics == nil {
					t.Errorf("%s: %s (%s)", n.Name(), n.Outcome, n.Reason)
				}
			}
			told := 0
			for _, n := range nodes[:hostile] {
				switch {
				case n.Distribution != nil || n.Config != nil || n.System != nil:
					t.Errorf("%s is believed", n.Name())
				case n.Outcome == flood.outcome:
					told++
				case n.Outcome != model.TooLarge && n.Outcome != model.TimedOut:
					t.Errorf("%s: %s (%s)", n.Name(), n.Outcome, n.Reason)
				}
			}
			if told == 0 {
				t.Errorf("none of %d is said to be %s", hostile, flood.outcome)
			}
		})
	}
}

// unhurried is a deadline that no answer misses because the machine is busy.
const unhurried = 30 * time.Second

// boundedAsk asks, and looks at what is held meanwhile.
func boundedAsk(t *testing.T, c *model.Cluster, opts live.Options) (r *model.Runtime) {
	t.Helper()
	opts.Keep = func(live.Record) {}
	start := time.Now()
	peak := peakHeap(func() { r = ask(t, c, opts) })
	took := time.Since(start)
	t.Logf("%d MiB, %v", peak>>20, took)
	if bound := 8 * cmp.Or(opts.MaxAnswer, 32<<20); peak > uint64(bound) {
		t.Errorf("the heap grew by %d MiB, more than %d", peak>>20, bound>>20)
	}
	if took > opts.Timeout+5*time.Second {
		t.Errorf("took %v", took)
	}
	return r
}

// TestManyHostilePages: the same of /metrics, packed or not.
func TestManyHostilePages(t *testing.T) {
	const size, hostile = 31 << 20, hostileNodes
	var labels strings.Builder
	for i := range 18 {
		fmt.Fprintf(&labels, "b%d=\"\",", i)
	}
	line := "a{" + labels.String() + "c=\"\"} 1\n"
	for name, text := range map[string][]byte{
		"labels without end": []byte(strings.Repeat(line, size/len(line))),
		"packed":             packed(t, 4*size),
		"one series":         bytes.Repeat([]byte("x 1\n"), size/4),
	} {
		t.Run(name, func(t *testing.T) {
			c := livetest.Cluster(livetest.Spec{QueryNodes: hostile + 4, Collections: 2, Segments: 400, Growing: 5})
			c = livetest.Serve(t, c, livetest.Answers(c, livetest.Options{}), recorded.Options{})
			to := map[string]string{}
			for _, n := range ask(t, c, live.Options{Timeout: unhurried}).QueryNodes()[:hostile] {
				if n.Process == nil {
					t.Fatalf("%s: %s (%s)", n.Name(), n.Outcome, n.Reason)
				}
				to[n.Process.Address] = "127.0.0.1:" + strconv.Itoa(livetest.Page(t, http.StatusOK, text))
			}
			r := boundedAsk(t, c, live.Options{Map: to, Timeout: 2 * time.Second})
			for i, n := range r.QueryNodes() {
				if n.Distribution == nil || i >= hostile && n.Process.Metrics == nil {
					t.Errorf("%s: %s, process %+v", n.Name(), n.Outcome, n.Process)
				}
			}
		})
	}
}

// packed is a page of metrics, packed with gzip.
func packed(t *testing.T, size int64) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.CopyN(z, &repeat{line: "x 1\n"}, size); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
