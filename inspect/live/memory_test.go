package live_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/milvus-io/milvus-proto/go-api/v2/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v2/milvuspb"
	"github.com/milvus-io/milvus/pkg/v2/proto/internalpb"

	"kitescope/inspect/live"
	"kitescope/inspect/live/livetest"
	"kitescope/inspect/live/recorded"
	"kitescope/inspect/model"
)

// peakHeap runs f and returns how much the heap grew beyond what it was, at the most.
func peakHeap(f func()) uint64 {
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	runtime.GC()
	before := heap()
	var peak atomic.Uint64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				peak.Store(max(peak.Load(), heap()))
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
	const timeout, hostile = 2 * time.Second, 40
	text := strings.Repeat("x", 63<<20)
	secrets := &internalpb.ShowConfigurationsResponse{Status: &commonpb.Status{Code: 65535, Reason: strings.Repeat("password=x ", 5<<20)}}
	for name, flood := range map[string]struct {
		method  string
		answer  []byte
		stuck   bool
		outcome model.Outcome
	}{
		"everything at once":   {"", emptySegments(60 << 20), false, model.TooLarge},
		"segments without end": {"/GetDataDistribution", emptySegments(60 << 20), false, model.TooLarge},
		"one long text":        {"/GetMetrics", encode(t, &milvuspb.GetMetricsResponse{Status: ok, Response: text}), false, model.Garbled},
		"never the last byte":  {"/GetDataDistribution", []byte(text), true, model.TimedOut},
		"a large error":        {"/ShowConfigurations", encode(t, secrets), false, model.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			c := livetest.Cluster(livetest.Spec{QueryNodes: hostile + 4, Collections: 2, Segments: 400, Growing: 5})
			c = livetest.Serve(t, c, livetest.Answers(c, livetest.Options{}), recorded.Options{})
			addresses := map[string]string{}
			for i := range hostile {
				addresses["querynode-"+livetest.QueryNode(i).String()] = livetest.Flood(t, flood.method, flood.answer, flood.stuck)
			}
			c = livetest.Replace(c, addresses)
			var r *model.Runtime
			start := time.Now()
			peak := peakHeap(func() { r = ask(t, c, live.Options{Timeout: timeout}) })
			took := time.Since(start)
			t.Logf("%d MiB, %v", peak>>20, took)
			if peak > 400<<20 {
				t.Errorf("the heap grew by %d MiB", peak>>20)
			}
			for _, n := range r.QueryNodes()[hostile:] {
				if n.Distribution == nil || n.Config == nil {
					t.Errorf("%s: %s (%s)", n.Name(), n.Outcome, n.Reason)
				}
			}
			for _, n := range r.QueryNodes()[:hostile] {
				if n.Distribution != nil || n.Outcome != flood.outcome && n.Outcome != model.TooLarge && n.Outcome != model.TimedOut {
					t.Errorf("%s: %s (%s)", n.Name(), n.Outcome, n.Reason)
				}
			}
			outcomes := map[string]int{}
			for _, n := range r.QueryNodes()[:hostile] {
				for _, call := range n.Calls {
					outcomes[fmt.Sprintf("%s %s (%s)", call.Method, call.Outcome, call.Reason)]++
				}
			}
			for o, n := range outcomes {
				t.Log(n, o)
			}
		})
	}
}
