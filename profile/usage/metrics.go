package usage

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// Bounds of a /metrics response. A large query node returns some megabytes.
const (
	maxMetricsBytes = 64 << 20
	maxMetricsLine  = 64 << 10
)

// The metrics of Prometheus's process collector (github.com/prometheus/client_golang,
// prometheus/process_collector.go). Milvus registers them since 2.1. They have no labels.
const (
	metricCPU   = "process_cpu_seconds_total"
	metricRSS   = "process_resident_memory_bytes"
	metricBegan = "process_start_time_seconds"
)

// Metrics is a process that reports its usage in Prometheus's text format.
type Metrics struct {
	// Title is the result of Name.
	Title string
	// Get requests the text.
	Get func(ctx context.Context) (io.ReadCloser, error)
	// Now is the clock.
	Now func() time.Time
}

// Name implements Target.
func (m *Metrics) Name() string { return m.Title }

// Read implements Target.
func (m *Metrics) Read(ctx context.Context) (Reading, error) {
	begin := m.Now()
	body, err := m.Get(ctx)
	if err != nil {
		return Reading{}, err
	}
	defer body.Close()
	r, err := ReadMetrics(body)
	r.At = begin.Add(m.Now().Sub(begin) / 2) // the process measured itself between request and response
	return r, err
}

// ReadMetrics reads CPU and memory of a process from a /metrics response, and skips all other lines. It returns
// an error if the response has neither.
func ReadMetrics(text io.Reader) (Reading, error) {
	r := Reading{Values: Unknown()}
	limited := &io.LimitedReader{R: text, N: maxMetricsBytes + 1}
	lines := bufio.NewScanner(limited)
	lines.Buffer(nil, maxMetricsLine)
	for lines.Scan() {
		if err := r.parseLine(lines.Text()); err != nil {
			return r, fmt.Errorf("read metrics: %w", err)
		}
	}
	if err := lines.Err(); err != nil {
		return r, fmt.Errorf("read metrics: %w", err)
	}
	if limited.N == 0 {
		return r, fmt.Errorf("read metrics: more than %d MiB", maxMetricsBytes>>20)
	}
	if !r.Values.Known(CPU) && !r.Values.Known(RSS) {
		return r, errors.New("read metrics: no process_ metrics: resource use is unknown")
	}
	return r, nil
}

// maxSeconds bounds seconds since 1970 so that they fit into an int64 of nanoseconds.
const maxSeconds = 9.2e9

// parseLine parses a line: NAME VALUE [TIMESTAMP].
func (r *Reading) parseLine(line string) error {
	words := strings.Fields(line)
	if len(words) == 0 || words[0] != metricCPU && words[0] != metricRSS && words[0] != metricBegan {
		return nil
	}
	if len(words) < 2 {
		return fmt.Errorf("%s: it has no value", words[0])
	}
	value, err := strconv.ParseFloat(words[1], 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("%s: its value is not a number", words[0])
	}
	if math.IsNaN(value) || math.IsInf(value, 0) || value < 0 {
		return nil
	}
	switch words[0] {
	case metricCPU:
		r.Values[CPU] = value
	case metricRSS:
		r.Values[RSS] = value
	case metricBegan:
		if value < maxSeconds {
			r.Began = time.Unix(0, int64(value*1e9))
		}
	}
	return nil
}
