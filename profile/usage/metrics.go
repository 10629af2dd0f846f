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
	"strings"
	"time"
)

// Bounds of one text of metrics. A large query node's has some megabytes.
const (
	maxMetricsBytes = 64 << 20
	maxMetricsLine  = 64 << 10
)

// The metrics of Prometheus's process collector (github.com/prometheus/client_golang, prometheus/process_collector.go), which
// Milvus registers from 2.1 on. They have no labels.
const (
	metricCPU   = "process_cpu_seconds_total"
	metricRSS   = "process_resident_memory_bytes"
	metricBegan = "process_start_time_seconds"
)

// Metrics is a process that tells what it uses in Prometheus's text format.
type Metrics struct {
	// Title is its Name.
	Title string
	// Get asks for the text.
	Get func(ctx context.Context) (io.ReadCloser, error)
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
	r, err := ReadMetrics(body)
	// The process looked at itself somewhere between the question and the answer.
	r.At = asked.Add(now().Sub(asked) / 2)
	return r, err
}

// ReadMetrics takes CPU and memory of a process out of a text of metrics, and skips all other lines. It is an error if the
// text has neither: then it is another kind of text.
func ReadMetrics(text io.Reader) (Reading, error) {
	r := Reading{Values: Unknown()}
	in := bufio.NewReaderSize(io.LimitReader(text, maxMetricsBytes+1), maxMetricsLine)
	for read := 0; ; {
		line, err := in.ReadSlice('\n')
		if read += len(line); read > maxMetricsBytes {
			return r, fmt.Errorf("read metrics: more than %d MiB", maxMetricsBytes>>20)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			return r, fmt.Errorf("read metrics: a line is longer than %d KiB", maxMetricsLine>>10)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return r, fmt.Errorf("read metrics: %w", err)
		}
		if problem := r.take(bytes.TrimSpace(line)); problem != nil {
			return r, fmt.Errorf("read metrics: %w", problem)
		}
		if err != nil {
			break
		}
	}
	if !r.Values.Known(CPU) && !r.Values.Known(RSS) {
		return r, errors.New("read metrics: no process_ metrics: resource use is unknown")
	}
	return r, nil
}

// maxSeconds is the last second since 1970 that nanoseconds can tell in an int64.
const maxSeconds = 9.2e9

// take reads one line: NAME VALUE [TIMESTAMP] (prometheus.io/docs/instrumenting/exposition_formats, "Text-based format").
func (r *Reading) take(line []byte) error {
	if !bytes.HasPrefix(line, []byte("process_")) {
		return nil
	}
	words := strings.Fields(string(line))
	switch words[0] {
	case metricCPU, metricRSS, metricBegan:
	default:
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
		return nil // no amount of anything
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
