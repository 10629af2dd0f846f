//go:build e2e

package live_test

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"kitescope/engine"
	"kitescope/engine/dist"
	"kitescope/replay/live"
	"kitescope/replay/load"
)

// recordedSearch is one case of tools/e2e/replay_targets.py: a request of a server's own client, and its response.
type recordedSearch struct {
	Name, Collection, Database, Field, Metric, Key, Element, Index, Queries string
	Dim, NQ, K, EF, NProbe                                                  int
	Sizes                                                                   []int   // bytes of each sparse query
	Drop                                                                    float32 // ratio
	Keys                                                                    []any
	Exclude, Ties                                                           bool
	Hits                                                                    [][][2]any
}

func environment(t testing.TB, name string) string {
	t.Helper()
	v := os.Getenv(name)
	if v == "" {
		t.Fatalf("%s is not set: tools/e2e/replay_targets.sh sets it", name)
	}
	return v
}

func (a *recordedSearch) element() dist.Element {
	return map[string]dist.Element{
		"float": dist.Float32, "float16": dist.Float16, "binary": dist.Bit, "sparse": dist.Sparse,
	}[a.Element]
}

func keyOf(v any) engine.Key {
	if s, ok := v.(string); ok {
		return engine.TextKey(s)
	}
	return engine.NumberKey(int64(v.(float64)))
}

// vectors returns zeroed queries.
func (a *recordedSearch) vectors() (*engine.Vectors, error) {
	if a.element() == dist.Sparse {
		return engine.NewSparse(a.Sizes)
	}
	return engine.NewVectors(a.element(), a.Dim, a.NQ)
}

func (a *recordedSearch) request(t testing.TB) *load.Request {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(a.Queries)
	if err != nil {
		t.Fatal(err)
	}
	v, err := a.vectors()
	if err != nil {
		t.Fatal(err)
	}
	for i := range a.NQ {
		data = data[copy(v.Row(i), data):]
	}
	r := &load.Request{
		Vectors: v,
		SearchParams: engine.SearchParams{
			SparseParams: engine.SparseParams{DropRatio: a.Drop}, EF: a.EF, NProbe: a.NProbe,
		},
		K: a.K, Exclude: a.Exclude,
	}
	if a.Keys != nil {
		r.Keys = []engine.Key{}
		for _, k := range a.Keys {
			r.Keys = append(r.Keys, keyOf(k))
		}
	}
	return r
}

// convert converts a distance from the server's own client to Milvus's convention.
func convert(kind, metric string, d float64) float32 {
	switch kind {
	case "opensearch": // scores are float32, as defined in its documentation (k-NN spaces)
		switch d = float64(float32(d)); {
		case metric == "COSINE":
			d = 2*d - 1
		case metric == "IP" && d >= 1:
			d--
		case metric == "IP":
			d = 1 - 1/d
		default:
			d = 1/d - 1
		}
	case "pgvector", "mariadb":
		switch metric {
		case "L2":
			d *= d
		case "IP":
			d = -d
		case "COSINE":
			d = 1 - d
		}
	}
	return float32(d)
}

// differ returns the differences between two answers: different keys, or distances that are not equal to the bit.
func (a *recordedSearch) differ(kind string, answer *load.Answer) []string {
	var found []string
	if len(answer.Hits) != len(a.Hits) {
		return []string{fmt.Sprintf("%d answers, want %d", len(answer.Hits), len(a.Hits))}
	}
	for i, want := range a.Hits {
		got := answer.Hits[i]
		if len(got) != len(want) {
			found = append(found, fmt.Sprintf("query %d: %d hits, want %d", i, len(got), len(want)))
			continue
		}
		if a.Ties {
			sortTies(want, got)
		}
		for j, w := range want {
			if d := convert(kind, a.Metric, w[1].(float64)); got[j].Key != keyOf(w[0]) || got[j].Distance != d {
				found = append(found,
					fmt.Sprintf("query %d hit %d: %v %v, want %v %v", i, j, got[j].Key, got[j].Distance, w[0], d))
			}
		}
	}
	return found
}

// sortTies sorts hits of equal distance into the expected order, because servers define none. It also accepts
// other keys among the hits that share the last distance, because the server chooses which ones are within k.
func sortTies(want [][2]any, got []load.Hit) {
	for from := 0; from < len(got); {
		end := from
		for end < len(got) && got[end].Distance == got[from].Distance {
			end++
		}
		for i := from; i < end; i++ {
			for j := i; j < end; j++ {
				if got[j].Key == keyOf(want[i][0]) {
					got[i], got[j] = got[j], got[i]
				}
			}
			if end == len(got) {
				got[i].Key = keyOf(want[i][0])
			}
		}
		from = end
	}
}

// TestMatchesServerClient compares answers with the answers of the server's own client to the same queries.
func TestMatchesServerClient(t *testing.T) {
	target := environment(t, "KITESCOPE_E2E_TARGET")
	text, err := os.ReadFile(environment(t, "KITESCOPE_E2E_CASES"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []recordedSearch
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	queries, hits, bad := 0, 0, 0
	for i := range cases {
		a := &cases[i]
		open, err := live.Open(t.Context(), target, live.Options{
			Collection: a.Collection, Database: a.Database,
			Field:  map[bool]string{true: a.Field}[a.element() == dist.Bit],
			Metric: a.Metric, Dim: a.Dim, Element: a.element(), Deadline: 30 * time.Second,
			KeyField: os.Getenv("KITESCOPE_E2E_KEY"),
		})
		if err != nil {
			t.Errorf("%s: open: %v", a.Name, err)
			continue
		}
		d := open.Description()
		// Milvus before 2.2 reports no index instead of FLAT.
		if d.Dim != a.Dim || d.Field != a.Field || d.KeyField != a.Key || d.Metric != a.Metric ||
			!strings.EqualFold(d.Index, a.Index) && d.Index != "" {
			t.Errorf("%s: described as %+v", a.Name, d)
			continue
		}
		if i == 0 {
			t.Logf("%s: %+v", open.Name(), d)
		}
		s, err := open.Session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		answer, err := s.Ask(t.Context(), a.request(t))
		if err != nil {
			t.Errorf("%s: %v", a.Name, err)
			continue
		}
		if found := a.differ(d.Kind, answer); found != nil {
			bad += len(found)
			t.Errorf("%s: %d differ, first: %s", a.Name, len(found), found[0])
		}
		for _, h := range a.Hits {
			queries, hits = queries+1, hits+len(h)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d cases, %d queries, %d hits compared by key and by bits of the distance: %d differ", len(cases), queries,
		hits, bad)
}

// TestRefusals checks errors for missing objects and mismatches.
func TestRefusals(t *testing.T) {
	target := environment(t, "KITESCOPE_E2E_TARGET")
	for refusal := range strings.SplitSeq(environment(t, "KITESCOPE_E2E_REFUSALS"), ";") {
		// kind|collection|address. An empty collection or address selects the first case's collection or the target.
		part := strings.Split(refusal, "|")
		o := live.Options{Collection: part[1], Deadline: 3 * time.Second}
		if part[0] == "mismatch" {
			o.Dim, o.Element = 7, dist.Float32
		}
		from := time.Now()
		_, err := live.Open(t.Context(), cmp.Or(part[2], target), o)
		var f *live.FaultError
		if !errors.As(err, &f) || f.Kind.String() != part[0] || f.Hint() == "" ||
			strings.Contains(f.Reason+f.Hint(), "secret") || strings.Contains(f.Reason, "\n") {
			t.Errorf("%s: %v (%+v)", refusal, err, f)
			continue
		}
		t.Logf("%s after %s: %s (%s)", refusal, time.Since(from).Round(time.Millisecond), f.Reason, f.Hint())
	}
}

// TestRate logs the queries per second of the server with 1, 2 and 4 sessions that send single queries, and the
// CPU time of this client per query.
func TestRate(t *testing.T) {
	target := environment(t, "KITESCOPE_E2E_TARGET")
	const n = 10000
	for collection := range strings.SplitSeq(environment(t, "KITESCOPE_E2E_RATES"), ";") {
		open, err := live.Open(t.Context(), target, live.Options{Collection: collection})
		if err != nil {
			t.Fatal(err)
		}
		d := open.Description()
		v, err := engine.FromFloat32s(d.Dim, noise(n*d.Dim))
		if err != nil {
			t.Fatal(err)
		}
		for _, sessions := range []int{1, 2, 4} {
			took, cpu, all := drive(t, open, v, sessions, n)
			slices.Sort(all)
			at := func(q float64) time.Duration { return all[int(q*float64(len(all)-1))].Round(10 * time.Microsecond) }
			t.Logf("%s %s %s: %d sessions: %.0f QPS, p50 %s, p99 %s; CPU of this process %s a query", collection,
				d.Index, d.Metric, sessions,
				float64(n)/took.Seconds(), at(0.5), at(0.99), (cpu / n).Round(time.Microsecond))
		}
	}
}

// noise returns reproducible numbers around zero.
func noise(n int) []float32 {
	out := make([]float32, n)
	for i, x := 0, uint64(1); i < n; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		u := float64(x>>11) / (1 << 53)
		out[i] = float32(math.Tan((u - 0.5) * 2))
	}
	return out
}

func drive(
	t *testing.T, target load.Target, v *engine.Vectors, sessions, n int,
) (took, cpu time.Duration, all []time.Duration) {
	t.Helper()
	each := make([][]time.Duration, sessions)
	var wg sync.WaitGroup
	before, from := cpuTime(t), time.Now()
	for i := range sessions {
		s, err := target.Session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			for q := i; q < n; q += sessions {
				row, err := v.Slice(q, q+1)
				if err != nil {
					t.Error(err)
					return
				}
				at := time.Now()
				if _, err := s.Ask(context.Background(), &load.Request{
					Vectors: row, K: 10, SearchParams: engine.SearchParams{EF: 64, NProbe: 16},
				}); err != nil {
					t.Error(err)
					return
				}
				each[i] = append(each[i], time.Since(at))
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	return time.Since(from), cpuTime(t) - before, slices.Concat(each...)
}

func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
