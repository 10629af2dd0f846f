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

// recorded returns a recorded response of a process of a real Milvus 2.3.5.
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

func TestReadMetrics(t *testing.T) {
	r, err := ReadMetrics(recorded(t, "t3-proxy"))
	if err != nil {
		t.Fatal(err)
	}
	want := Unknown()
	want[CPU], want[RSS] = 19.12, 2.159616e+08
	for m := range Measures {
		almostEqual(t, "measure", r.Values[m], want[m])
	}
	if got := r.Began.UTC().Format(time.RFC3339); got != "2026-11-20T07:42:39Z" {
		t.Errorf("began %s", got)
	}
}

// TestTwoRecordings checks the usage of a real node between two recordings against their texts.
func TestTwoRecordings(t *testing.T) {
	times := map[string]time.Time{
		"t3": time.Date(2026, 11, 20, 7, 53, 56, 86e6, time.UTC),
		"t6": time.Date(2026, 11, 20, 8, 11, 25, 651e6, time.UTC),
	}
	node := NewSeries("querynode1")
	for _, at := range []string{"t3", "t6"} {
		r, err := ReadMetrics(recorded(t, at+"-querynode1"))
		if err != nil {
			t.Fatal(err)
		}
		r.At = times[at]
		node.Add(r)
	}
	almostEqual(t, "CPU", node.Totals[CPU].Total, 57.36-19.99)
	almostEqual(t, "cores", node.Points[1].Values[CPU], (57.36-19.99)/1049.565)
}

func TestReadBrokenMetrics(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"nothing":       {"", "resource use is unknown"},
		"a page":        {"<html>404</html>\n", "resource use is unknown"},
		"other metrics": {"up 1\n", "resource use is unknown"},
		"no value":      {"process_cpu_seconds_total \n", "process_cpu_seconds_total: it has no value"},
		"no number": {
			"process_cpu_seconds_total many\n", "process_cpu_seconds_total: its value is not a number",
		},
		"a line too long":  {strings.Repeat("x", maxMetricsLine+1), "token too long"},
		"negative, NaN":    {"process_resident_memory_bytes 1 1795165596187\nprocess_cpu_seconds_total NaN\n", ""},
		"labels of others": {`process_cpu_seconds_total{job="x"} 5` + "\n", "resource use is unknown"},
	} {
		_, err := ReadMetrics(strings.NewReader(tt.text))
		if tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
	if _, err := ReadMetrics(&endless{}); err == nil || !strings.Contains(err.Error(), "more than 64 MiB") {
		t.Errorf("an endless text: %v", err)
	}
}

// endless is an infinite text.
type endless struct{ at int }

func (e *endless) Read(p []byte) (int, error) {
	const line = "# no end to it\n"
	for i := range p {
		p[i] = line[e.at%len(line)]
		e.at++
	}
	return len(p), nil
}

func TestMetricsTarget(t *testing.T) {
	clock := begin
	now := func() time.Time { clock = clock.Add(time.Second); return clock }
	m := &Metrics{
		Title: "proxy-1", Now: now,
		Get: func(context.Context) (io.ReadCloser, error) { return recorded(t, "t3-proxy"), nil },
	}
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
	f.Add(string(text))
	f.Add("process_cpu_seconds_total{a=\"\\")
	f.Add("process_start_time_seconds 1e300\nprocess_resident_memory_bytes 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ReadMetrics(strings.NewReader(text))
		if err != nil {
			return
		}
		for m, v := range r.Values {
			if v < 0 || math.IsInf(v, 0) {
				t.Errorf("measure %d is %v", m, v)
			}
		}
		NewSeries("x").Add(r)
	})
}
