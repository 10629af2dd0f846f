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
	maxMetricsLabels = 20 // of one series; Milvus has ten at most
	maxMetricsKept   = 32 << 20
)

// ParseMetrics reads the text of a process's /metrics. Of broken text, and of more than
// the limits, what could be read is returned together with an error.
func ParseMetrics(text io.Reader, at time.Time) (*model.Metrics, error) {
	return NewDecoder().parseMetrics(text, at)
}

func (d *Decoder) parseMetrics(text io.Reader, at time.Time) (*model.Metrics, error) {
	return d.parseLines(newMetricsLines(text), at)
}

func (d *Decoder) parseLines(lines *metricsLines, at time.Time) (*model.Metrics, error) {
	p := scrape{d: d, m: &model.Metrics{At: at, Families: map[string][]model.Sample{}}}
	var err error
	for err == nil && lines.more() {
		var families map[string]*dto.MetricFamily
		families, err = parseText(lines)
		for name, f := range families {
			p.addFamily(d.text(name), f)
		}
		if err == nil {
			err = p.afford()
		}
	}
	if lines.err != nil {
		err = lines.err // the cause; what the parser says follows from it
	}
	switch {
	case err != nil:
		err = fmt.Errorf("read metrics: %w", err)
	case len(p.m.Families) == 0:
		err = errors.New("read metrics: there is none in the text")
	}
	d.kept += p.weight
	return p.m, err
}

// scrape is the text of /metrics on its way into a Decoder.
type scrape struct {
	d      *Decoder
	m      *model.Metrics
	weight int64 // of what is kept of it
}

// afford says why no more of a scrape is kept, nil if there is room.
func (p *scrape) afford() error {
	if p.weight > maxMetricsKept {
		return failed(model.TooLarge, "the series take more than %s of memory", mebibytes(maxMetricsKept))
	}
	if limit := p.d.limit; limit > 0 && p.d.kept+p.weight > limit {
		return overLimit(limit)
	}
	return nil
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
func (p *scrape) addFamily(name string, f *dto.MetricFamily) {
	for _, x := range f.GetMetric() {
		labels := p.labels(x.GetLabel())
		add := func(suffix string, value float64) {
			if math.IsNaN(value) || math.IsInf(value, 0) {
				return // no number is no fact: the quantile of nothing
			}
			if suffix == "_count" && value > 1<<53 {
				return // it was negative
			}
			key := name
			if suffix != "" {
				key = p.d.text(name + suffix)
			}
			p.add(key, model.Sample{Labels: labels, Value: value})
		}
		switch {
		case x.Counter != nil:
			add("", x.Counter.GetValue())
		case x.Gauge != nil:
			add("", x.Gauge.GetValue())
		case x.Untyped != nil:
			add("", x.Untyped.GetValue())
		case x.Histogram != nil:
			if x.Histogram.SampleSum != nil {
				add("_sum", x.Histogram.GetSampleSum())
			}
			if h := x.Histogram; h.SampleCount != nil || h.SampleCountFloat != nil {
				add("_count", cmp.Or(h.GetSampleCountFloat(), float64(h.GetSampleCount())))
			}
		case x.Summary != nil:
			if x.Summary.SampleSum != nil {
				add("_sum", x.Summary.GetSampleSum())
			}
			if x.Summary.SampleCount != nil {
				add("_count", float64(x.Summary.GetSampleCount()))
			}
			for _, q := range x.Summary.GetQuantile() {
				if math.IsNaN(q.GetValue()) || math.IsInf(q.GetValue(), 0) {
					continue
				}
				with := append(slices.Clone(labels), model.Pair{Key: "quantile", Value: p.d.text(strconv.FormatFloat(q.GetQuantile(), 'g', -1, 64))})
				slices.SortFunc(with, byKey)
				p.add(name, model.Sample{Labels: with, Value: q.GetValue()})
			}
		}
	}
}

func (p *scrape) add(name string, s model.Sample) {
	const perSample, perLabel = 48, 40 // as lists grow by doubling, at first
	p.m.Families[name] = append(p.m.Families[name], s)
	p.weight += perSample + perLabel*int64(len(s.Labels))
}

func byKey(a, b model.Pair) int { return cmp.Compare(a.Key, b.Key) }

func (p *scrape) labels(pairs []*dto.LabelPair) []model.Pair {
	if len(pairs) == 0 {
		return nil
	}
	labels := make([]model.Pair, len(pairs))
	for i, pair := range pairs {
		value := safePair(pair.GetName(), pair.GetValue())
		if _, known := p.d.texts[value]; !known {
			const perText = 64 // in the table of texts, which may know its name as well
			p.weight += perText + int64(len(value))
		}
		labels[i] = model.Pair{Key: p.d.text(pair.GetName()), Value: p.d.text(value)}
	}
	slices.SortFunc(labels, byKey)
	return labels
}

// metricsLines hands text on line by line without the buckets of histograms, which are
// nine tenths of it, and ends where a limit is reached. It is read in parts, each to its
// io.EOF: what the parser makes of a part takes many times its size.
type metricsLines struct {
	in        *bufio.Reader
	out       []byte // the rest of a line that was not read yet
	kind      []byte // the last line "# TYPE NAME KIND"
	whole     bool   // what it describes must not be cut in two
	histogram []byte // its name, if it is a histogram
	size      int    // of a part, about
	part      int    // bytes of this part
	ended     bool   // this part
	later     []byte // what the next part begins with
	bytes     int64
	number    int
	series    int
	err       error // why reading ended, nil at the end of the text
	done      bool
}

// metricsPart is how large a part is, about.
const metricsPart = 256 << 10

func newMetricsLines(r io.Reader) *metricsLines {
	return &metricsLines{in: bufio.NewReaderSize(r, maxMetricsLine), size: metricsPart}
}

// more begins the next part, and reports whether there is one.
func (l *metricsLines) more() bool {
	l.out, l.later, l.part, l.ended = l.later, nil, 0, false
	return !l.done || len(l.out) > 0
}

func (l *metricsLines) Read(p []byte) (int, error) {
	for len(l.out) == 0 {
		if l.done || l.ended {
			return 0, io.EOF
		}
		l.next()
		switch {
		case l.part < l.size || len(l.out) == 0:
		case l.out[0] == '#':
			l.ended, l.later, l.out = true, l.out, nil
		case !l.whole:
			l.ended, l.later = true, l.kind
		}
	}
	n := copy(p, l.out)
	l.out, l.part = l.out[n:], l.part+n
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
		// The parser compares each with each, which takes long with many.
		l.stop(fmt.Errorf("line %d has more than %d labels", l.number, maxMetricsLabels))
	default:
		l.series++
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
	l.kind = slices.Clone(line)
	l.histogram, l.whole = nil, false
	switch strings.ToLower(string(fields[3])) {
	case "histogram", "gauge_histogram", "gaugehistogram":
		l.histogram, l.whole = slices.Clone(fields[2]), true
	case "summary":
		l.whole = true // its sum and its quantiles are one
	}
	l.out = line
}

// maxRoles is how many sessions one process may have: a standalone has eight.
const maxRoles = 64

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
	if len(found) > maxRoles {
		return nil // these are not its own
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
