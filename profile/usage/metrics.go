package usage

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"
)

// Bounds of one text of metrics. A large query node's has some megabytes.
const (
	maxMetricsBytes = 64 << 20
	maxMetricsLine  = 64 << 10
)

// The names of metrics that every Go program has that registers the Prometheus client's process and Go collectors
// (github.com/prometheus/client_golang, prometheus/process_collector.go and go_collector.go). Milvus registers both in
// its own registry (pkg/metrics, internal/http), from 2.1 to 2.6. None of them counts context switches.
const (
	metricCPU        = "process_cpu_seconds_total"
	metricRSS        = "process_resident_memory_bytes"
	metricBegan      = "process_start_time_seconds"
	metricGoroutines = "go_goroutines"
	metricThreads    = "go_threads"
	metricGCs        = "go_gc_duration_seconds_count"
	metricGCPause    = "go_gc_duration_seconds_sum"
	metricHeap       = "go_memstats_heap_alloc_bytes"
	metricAllocated  = "go_memstats_alloc_bytes_total"
)

// Metrics is a process that tells what it uses in Prometheus's text format.
type Metrics struct {
	// Title is its Name.
	Title string
	// Get asks for the text.
	Get func(ctx context.Context) (io.ReadCloser, error)
	// Counter is the query counter, nil for none.
	Counter *Selector
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// Name implements Target.
func (m *Metrics) Name() string { return m.Title }

// Read implements Target.
func (m *Metrics) Read(ctx context.Context) (Reading, error) {
	now := m.Now
	if now == nil {
		now = time.Now
	}
	asked := now()
	body, err := m.Get(ctx)
	if err != nil {
		return Reading{}, err
	}
	defer body.Close()
	r, err := ReadMetrics(body, m.Counter)
	// The process looked at itself somewhere between the question and the answer.
	r.At = asked.Add(now().Sub(asked) / 2)
	return r, err
}

// ReadMetrics takes out of a text of metrics what a process uses. Lines about other things are not looked at. It is an
// error if there is no such line: then it is another kind of text.
func ReadMetrics(text io.Reader, counter *Selector) (Reading, error) {
	s := scan{r: Reading{Values: Unknown()}, counter: counter}
	in := bufio.NewReaderSize(io.LimitReader(text, maxMetricsBytes+1), maxMetricsLine)
	for read := 0; ; {
		line, err := in.ReadSlice('\n')
		if read += len(line); read > maxMetricsBytes {
			return s.r, fmt.Errorf("read metrics: more than %d MiB", maxMetricsBytes>>20)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			return s.r, fmt.Errorf("read metrics: a line is longer than %d KiB", maxMetricsLine>>10)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return s.r, fmt.Errorf("read metrics: %w", err)
		}
		if problem := s.line(bytes.TrimSpace(line)); problem != nil {
			return s.r, fmt.Errorf("read metrics: %w", problem)
		}
		if err != nil {
			break
		}
	}
	if s.found == 0 {
		return s.r, errors.New("read metrics: no process_ or go_ metrics: resource use is unknown")
	}
	return s.r, nil
}

// scan is a text that is being read.
type scan struct {
	r       Reading
	counter *Selector
	found   int
}

// line looks at one line: a comment, or NAME{LABELS} VALUE [TIMESTAMP]
// (prometheus.io/docs/instrumenting/exposition_formats, "Text-based format").
func (s *scan) line(line []byte) error {
	if len(line) == 0 || line[0] == '#' {
		return nil
	}
	end := bytes.IndexAny(line, "{ \t")
	if end <= 0 {
		return nil
	}
	name := string(line[:end])
	measure, own := measures[name]
	counted := s.counter != nil && name == s.counter.Name
	if !own && !counted && name != metricBegan {
		return nil
	}
	labels, rest, err := labelsOf(line[end:])
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	value, err := valueOf(rest)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if math.IsNaN(value) || math.IsInf(value, 0) || value < 0 {
		return nil // no amount of anything
	}
	if own && len(labels) == 0 {
		s.r.Values[measure] = value
		s.found++
	}
	if name == metricBegan && value < maxSeconds {
		s.r.Began = time.Unix(0, int64(value*1e9))
	}
	if counted && s.counter.matches(labels) {
		if !s.r.Values.Known(Queries) {
			s.r.Values[Queries] = 0
		}
		s.r.Values[Queries] += value
	}
	return nil
}

// maxSeconds is the last second since 1970 that nanoseconds can tell in an int64.
const maxSeconds = 9.2e9

var measures = map[string]Measure{
	metricCPU: CPU, metricRSS: RSS, metricGoroutines: Goroutines, metricThreads: Threads, metricGCs: GCs,
	metricGCPause: GCPause, metricHeap: Heap, metricAllocated: Allocated,
}

// label is one of a metric's.
type label struct{ name, value string }

var errLabels = errors.New("its labels are broken")

// labelsOf reads {NAME="VALUE",...} and returns what follows it.
func labelsOf(text []byte) (labels []label, rest []byte, err error) {
	if len(text) == 0 || text[0] != '{' {
		return nil, text, nil
	}
	text = bytes.TrimLeft(text[1:], " \t,")
	for len(text) > 0 && text[0] != '}' {
		name, after, ok := bytes.Cut(text, []byte("="))
		after = bytes.TrimLeft(after, " \t")
		if !ok || len(after) == 0 || after[0] != '"' {
			return nil, nil, errLabels
		}
		value, next, ok := unquote(after[1:])
		if !ok {
			return nil, nil, errLabels
		}
		labels = append(labels, label{string(bytes.TrimSpace(name)), value})
		text = bytes.TrimLeft(next, " \t,")
	}
	if len(text) == 0 {
		return nil, nil, errLabels
	}
	return labels, text[1:], nil
}

// unquote reads up to the closing quote. A backslash stands before a backslash, a quote, and the n of a line break.
func unquote(text []byte) (value string, rest []byte, ok bool) {
	var b []byte
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"':
			return string(b), text[i+1:], true
		case '\\':
			if i++; i == len(text) {
				return "", nil, false
			}
			if c = text[i]; c == 'n' {
				c = '\n'
			}
			b = append(b, c)
		default:
			b = append(b, c)
		}
	}
	return "", nil, false
}

func valueOf(text []byte) (float64, error) {
	fields := bytes.Fields(text)
	if len(fields) == 0 {
		return 0, errors.New("it has no value")
	}
	v, err := strconv.ParseFloat(string(fields[0]), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, errors.New("its value is not a number")
	}
	return v, nil
}
