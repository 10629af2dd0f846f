package usage

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// recorded is what a process of a real Milvus 2.3.5 said.
func recorded(t testing.TB, name string) io.ReadCloser {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".txt.gz"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func selector(t *testing.T, text string) *Selector {
	t.Helper()
	s, err := ParseSelector(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestReadMetrics(t *testing.T) {
	r, err := ReadMetrics(recorded(t, "t3-proxy"), selector(t, `milvus_proxy_sq_latency_count{query_type="search"}`))
	if err != nil {
		t.Fatal(err)
	}
	want := Unknown()
	want[CPU], want[RSS], want[Goroutines], want[Threads] = 19.12, 2.159616e+08, 122, 13
	want[GCs], want[GCPause], want[Queries] = 83, 0.043117906, 2115
	want[Heap], want[Allocated] = 8.3011456e+07, 3.212079984e+09
	for m := range Measures {
		near(t, "measure", r.Values[m], want[m])
	}
	if got := r.Began.UTC().Format(time.RFC3339); got != "2026-11-20T07:42:39Z" {
		t.Errorf("began %s", got)
	}
}

// TestTwoRecordings works out what a real cluster used between two moments, against what its texts say: 37.37 s and 27.03 s
// of CPU for 3964 searches.
func TestTwoRecordings(t *testing.T) {
	times := map[string]time.Time{"t3": time.Date(2026, 11, 20, 7, 53, 56, 86e6, time.UTC), "t6": time.Date(2026, 11, 20, 8, 11, 25, 651e6, time.UTC)}
	counter := selector(t, `milvus_proxy_sq_latency_count{query_type="search"}`)
	u := &Usage{Counter: counter.String()}
	for _, name := range []string{"proxy", "querynode1"} {
		s := NewSeries(name, 0)
		for _, at := range []string{"t3", "t6"} {
			r, err := ReadMetrics(recorded(t, at+"-"+name), counter)
			if err != nil {
				t.Fatal(err)
			}
			r.At = times[at]
			s.Add(r)
		}
		u.Series = append(u.Series, s)
	}
	node := u.Series[1]
	near(t, "CPU", node.Totals[CPU].Total, 57.36-19.99)
	near(t, "cores", node.Points[1].Values[CPU], (57.36-19.99)/1049.565)
	near(t, "collections", node.Totals[GCs].Total, 276-112)
	q, ok := u.PerQuery()
	if !ok || q.Queries != 3964 {
		t.Fatalf("%+v", q)
	}
	near(t, "CPU of a search", q.CPU, (57.36-19.99+46.15-19.12)/3964)
	near(t, "context switches, of which metrics say nothing", q.Switches, math.NaN())
}

func TestReadBrokenMetrics(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"nothing":          {"", "resource use is unknown"},
		"a page":           {"<html>404</html>\n", "resource use is unknown"},
		"other metrics":    {"up 1\n", "resource use is unknown"},
		"no value":         {"process_cpu_seconds_total\n", "resource use is unknown"},
		"an empty value":   {"process_cpu_seconds_total \n", "resource use is unknown"},
		"no number":        {"process_cpu_seconds_total many\n", "process_cpu_seconds_total: its value is not a number"},
		"open labels":      {`process_cpu_seconds_total{a="b` + "\n", "its labels are broken"},
		"a line too long":  {strings.Repeat("x", maxMetricsLine+1), "a line is longer"},
		"negative, NaN":    {"process_cpu_seconds_total -1\ngo_goroutines NaN\n", ""},
		"labels of others": {`process_cpu_seconds_total{job="x"} 5` + "\n", "resource use is unknown"},
	} {
		_, err := ReadMetrics(strings.NewReader(tt.text), nil)
		if tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
	if _, err := ReadMetrics(&endless{}, nil); err == nil || !strings.Contains(err.Error(), "more than 64 MiB") {
		t.Errorf("an endless text: %v", err)
	}
}

// endless is a text that does not end.
type endless struct{ at int }

func (e *endless) Read(p []byte) (int, error) {
	const line = "# no end to it\n"
	for i := range p {
		p[i] = line[e.at%len(line)]
		e.at++
	}
	return len(p), nil
}

func TestMetricsOddities(t *testing.T) {
	text := "# HELP go_goroutines x\n  go_goroutines 7 1795165596187\nprocess_cpu_seconds_total 1.5e1\n" +
		`queries_total{a="x\"\\\n",b="}"} 3` + "\n" + `queries_total{a="y",} 4` + "\nqueries_total 5\nqueries_total_other 100\n"
	for counter, want := range map[string]float64{
		`queries_total`:                12,
		`queries_total{a="y"}`:         4,
		`queries_total{a!="y"}`:        8,
		`queries_total{a=""}`:          5,
		`queries_total{a=~"x.*|y",}`:   4, // . is not a line break
		`queries_total{b="}",a!~"y+"}`: 3,
		`queries_total{a="z"}`:         math.NaN(),
		`other`:                        math.NaN(),
	} {
		r, err := ReadMetrics(strings.NewReader(text), selector(t, counter))
		if err != nil {
			t.Fatal(err)
		}
		near(t, counter, r.Values[Queries], want)
		near(t, "goroutines", r.Values[Goroutines], 7)
		near(t, "CPU", r.Values[CPU], 15)
	}
}

func TestParseSelectorErrors(t *testing.T) {
	for _, text := range []string{"", "{}", "1x", "a-b", "a{", "a{b}", `a{b=c}`, `a{b="c`, `a{b="c"`, `a{b="c"}x`, `a{b=~"("}`, `a{1="x"}`, `a{b=="x"}`, `a{b!"x"}`} {
		if s, err := ParseSelector(text); err == nil {
			t.Errorf("%q is taken for %+v", text, s)
		}
	}
}

func TestMetricsTarget(t *testing.T) {
	clock := begin
	now := func() time.Time { clock = clock.Add(time.Second); return clock }
	m := &Metrics{Title: "proxy-1", Now: now, Get: func(context.Context) (io.ReadCloser, error) { return recorded(t, "t3-proxy"), nil }}
	r, err := m.Read(t.Context())
	if err != nil || m.Name() != "proxy-1" || !r.At.Equal(begin.Add(1500*time.Millisecond)) {
		t.Errorf("%+v %v", r, err)
	}
	m.Get = func(context.Context) (io.ReadCloser, error) { return nil, errors.New("connection refused") }
	if _, err := m.Read(t.Context()); err == nil || err.Error() != "connection refused" {
		t.Errorf("refused: %v", err)
	}
}

func FuzzReadMetrics(f *testing.F) {
	text, _ := io.ReadAll(recorded(f, "t3-querynode1"))
	f.Add(string(text), `milvus_proxy_sq_latency_count{query_type="search"}`)
	f.Add("process_cpu_seconds_total{a=\"\\", `a{b=~"c",d!="e"}`)
	f.Add("process_start_time_seconds 1e300\ngo_goroutines 1\n", "go_goroutines")
	f.Fuzz(func(t *testing.T, text, counter string) {
		s, err := ParseSelector(counter)
		if err != nil {
			s = nil
		}
		r, err := ReadMetrics(strings.NewReader(text), s)
		if err != nil {
			return
		}
		for m, v := range r.Values {
			if v < 0 || math.IsInf(v, 0) && Measure(m) != Queries {
				t.Errorf("measure %d is %v", m, v)
			}
		}
		NewSeries("x", 2).Add(r)
	})
}
