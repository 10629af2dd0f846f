package live

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	prometheus "github.com/prometheus/common/model"

	"kitescope/inspect/model"
)

// Bounds of one scrape. A large query node has some ten thousand series without buckets.
const (
	maxMetricsBytes  = 128 << 20
	maxMetricsLine   = 64 << 10
	maxMetricsSeries = 200_000
	maxMetricsLabels = 200 // of one series; Milvus has ten at most
)

// ParseMetrics reads the text of a process's /metrics. Of broken text, and of more than
// the limits, what could be read is returned together with an error.
func ParseMetrics(text io.Reader, at time.Time) (*model.Metrics, error) {
	return NewDecoder().parseMetrics(text, at)
}

func (d *Decoder) parseMetrics(text io.Reader, at time.Time) (*model.Metrics, error) {
	m := &model.Metrics{At: at, Families: map[string][]model.Sample{}}
	lines := newMetricsLines(text)
	families, err := parseText(lines)
	if lines.err != nil {
		err = lines.err // the cause; what the parser says follows from it
	}
	if err != nil {
		err = fmt.Errorf("read metrics: %w", err)
	}
	if f := d.afford(min(lines.weight, maxDecoded)); f != nil {
		return m, f
	}
	d.kept += keptOf(lines.weight)
	for name, f := range families {
		d.addFamily(m, d.text(name), f)
	}
	if err == nil && len(m.Families) == 0 {
		err = errors.New("read metrics: there is none in the text")
	}
	return m, err
}

// parseText keeps a panic of the parser, which broken text can lead to, from being one of ours.
func parseText(text io.Reader) (families map[string]*dto.MetricFamily, err error) {
	defer func() {
		if r := recover(); r != nil {
			families, err = nil, errors.New("the text is broken")
		}
	}()
	parser := expfmt.NewTextParser(prometheus.UTF8Validation)
	return parser.TextToMetricFamilies(text)
}

// addFamily adds a metric's samples; of a histogram its sum and count, of a summary the quantiles too.
func (d *Decoder) addFamily(m *model.Metrics, name string, f *dto.MetricFamily) {
	for _, x := range f.GetMetric() {
		labels := d.labels(x.GetLabel())
		add := func(suffix string, value float64) {
			if math.IsNaN(value) || math.IsInf(value, 0) {
				return // no number is no fact: the quantile of nothing
			}
			key := name
			if suffix != "" {
				key = d.text(name + suffix)
			}
			m.Families[key] = append(m.Families[key], model.Sample{Labels: labels, Value: value})
		}
		switch {
		case x.Counter != nil:
			add("", x.Counter.GetValue())
		case x.Gauge != nil:
			add("", x.Gauge.GetValue())
		case x.Untyped != nil:
			add("", x.Untyped.GetValue())
		case x.Histogram != nil:
			add("_sum", x.Histogram.GetSampleSum())
			add("_count", cmp.Or(x.Histogram.GetSampleCountFloat(), float64(x.Histogram.GetSampleCount())))
		case x.Summary != nil:
			add("_sum", x.Summary.GetSampleSum())
			add("_count", float64(x.Summary.GetSampleCount()))
			for _, q := range x.Summary.GetQuantile() {
				if math.IsNaN(q.GetValue()) || math.IsInf(q.GetValue(), 0) {
					continue
				}
				with := append(slices.Clone(labels), model.Pair{Key: "quantile", Value: d.text(strconv.FormatFloat(q.GetQuantile(), 'g', -1, 64))})
				slices.SortFunc(with, byKey)
				m.Families[name] = append(m.Families[name], model.Sample{Labels: with, Value: q.GetValue()})
			}
		}
	}
}

func byKey(a, b model.Pair) int { return cmp.Compare(a.Key, b.Key) }

func (d *Decoder) labels(pairs []*dto.LabelPair) []model.Pair {
	if len(pairs) == 0 {
		return nil
	}
	labels := make([]model.Pair, len(pairs))
	for i, p := range pairs {
		labels[i] = model.Pair{Key: d.text(p.GetName()), Value: d.text(safePair(p.GetName(), p.GetValue()))}
	}
	slices.SortFunc(labels, byKey)
	return labels
}

// metricsLines hands text on line by line without the buckets of histograms, which are
// nine tenths of it, and ends where a limit is reached.
type metricsLines struct {
	in        *bufio.Reader
	out       []byte // the rest of a line that was not read yet
	histogram []byte // the name in the last "# TYPE NAME histogram"
	bytes     int64
	number    int
	series    int
	weight    int64 // of what was handed on, when it is parsed
	err       error // why reading ended, nil at the end of the text
	done      bool
}

func newMetricsLines(r io.Reader) *metricsLines {
	return &metricsLines{in: bufio.NewReaderSize(r, maxMetricsLine)}
}

func (l *metricsLines) Read(p []byte) (int, error) {
	for len(l.out) == 0 {
		if l.done {
			return 0, io.EOF
		}
		l.next()
	}
	n := copy(p, l.out)
	l.out = l.out[n:]
	return n, nil
}

// next reads one line and decides what to hand on.
func (l *metricsLines) next() {
	line, err := l.in.ReadSlice('\n')
	if err != nil {
		l.done = true
		if errors.Is(err, bufio.ErrBufferFull) {
			l.err = fmt.Errorf("a line is longer than %d bytes", maxMetricsLine)
			return
		}
		if !errors.Is(err, io.EOF) {
			l.err = err
		}
		if len(line) == 0 {
			return
		}
		line = append(slices.Clone(line), '\n')
	}
	l.bytes += int64(len(line))
	l.number++
	switch {
	case l.bytes > maxMetricsBytes:
		l.stop(fmt.Errorf("the text is longer than %s", mebibytes(maxMetricsBytes)))
	case line[0] == '#':
		l.comment(line)
	case len(l.histogram) > 0 && bytes.HasPrefix(line, l.histogram) && bytes.HasPrefix(line[len(l.histogram):], []byte("_bucket")):
	case len(bytes.TrimSpace(line)) > 0 && !startsAsSample(line):
		// Names in braces, which other programs write, are not Milvus's, and bring the parser down.
		l.stop(fmt.Errorf("line %d is no sample", l.number))
	case l.series >= maxMetricsSeries:
		l.stop(fmt.Errorf("there are more than %d series", maxMetricsSeries))
	case bytes.Count(line, []byte("=")) > maxMetricsLabels:
		// The parser compares each with each.
		l.stop(fmt.Errorf("line %d has more than %d labels", l.number, maxMetricsLabels))
	case l.weight > maxDecoded:
		l.stop(fmt.Errorf("the series have too many labels: they would take more than %s of memory", mebibytes(maxDecoded)))
	default:
		const perSeries, perLabel = 256, 192
		l.series++
		l.weight += perSeries + perLabel*int64(bytes.Count(line, []byte("="))) + 2*int64(len(line))
		l.out = line
	}
}

func (l *metricsLines) stop(err error) { l.err, l.done = err, true }

// comment notes the type of what follows. HELP is for people.
func (l *metricsLines) comment(line []byte) {
	fields := bytes.Fields(line)
	if len(fields) < 4 || string(fields[1]) != "TYPE" {
		return
	}
	l.histogram = nil
	if string(fields[3]) == "histogram" {
		l.histogram = slices.Clone(fields[2])
	}
	l.out = line
}

// namesItself finds the sessions of the process that a scrape is from. From 2.2 on each
// role says so: milvus_num_node{role_name, node_id} (pkg/metrics: NumNodes). Before, only
// roles that put their own id, and no other, on all of their metrics can be told.
func namesItself(m *model.Metrics) map[sessionKey]bool {
	found := map[sessionKey]bool{}
	for _, s := range m.Families["milvus_num_node"] {
		if id, err := strconv.ParseInt(s.Label("node_id"), 10, 64); err == nil && s.Value > 0 && s.Label("role_name") != "" {
			found[sessionKey{s.Label("role_name"), model.NodeID(id)}] = true
		}
	}
	if len(found) > 0 {
		return found
	}
	for _, role := range []string{"querynode", "datanode", "indexnode", "proxy", "streamingnode"} {
		ids := map[string]bool{}
		for name, samples := range m.Families {
			if !strings.HasPrefix(name, "milvus_"+role+"_") {
				continue
			}
			for _, s := range samples {
				if id := s.Label("node_id"); id != "" {
					ids[id] = true
				}
			}
		}
		for text := range ids {
			if id, err := strconv.ParseInt(text, 10, 64); err == nil && len(ids) == 1 {
				found[sessionKey{role, model.NodeID(id)}] = true
			}
		}
	}
	return found
}
