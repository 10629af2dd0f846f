package live

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"kitescope/inspect/model"
)

// Bounds of a scrape. A large query node has about ten thousand series without buckets.
const (
	maxMetricsBytes  = 128 << 20
	maxMetricsLine   = 64 << 10
	maxMetricsSeries = 200_000 // lines that are not of a bucket
	maxMetricsLabels = 20      // of a single series; Milvus has at most ten
	maxMetricsKept   = 64 << 20
)

// The approximate memory of parts of a scrape, in bytes.
const (
	weightFamily = 500
	weightSeries = 120 // initially, because slices grow by doubling
	weightBucket = 40
	weightLabels = 80 // of a label set, without its text
	weightLabel  = 32
	weightText   = 64 // of a new value, without its bytes
)

// ParseMetrics parses the text of a process's /metrics: Prometheus's text format, version 0.0.4
// (prometheus.io/docs/instrumenting/exposition_formats), without quoted names, which Milvus does not write. If
// the text is broken or exceeds the limits, it returns the part that could be read and an error.
func ParseMetrics(text io.Reader, at time.Time) (*model.Metrics, error) {
	return NewDecoder().parseMetrics(text, at)
}

func (d *Decoder) parseMetrics(text io.Reader, at time.Time) (*model.Metrics, error) {
	p := scrape{d: d, families: map[string]*familyText{}}
	err := p.read(text)
	m := &model.Metrics{At: at, Families: make(map[string]*model.Family, len(p.families)), Partial: err != nil}
	for _, f := range p.order {
		if family := f.finish(&d.metrics); family != nil {
			m.Families[family.Name] = family
		}
	}
	switch {
	case err != nil:
		err = fmt.Errorf("read metrics: %w", err)
	case len(m.Families) == 0:
		err = errors.New("read metrics: none in the text")
	}
	d.used += p.weight
	return m, err
}

// scrape is the text of /metrics being parsed for a Decoder.
type scrape struct {
	d        *Decoder
	families map[string]*familyText
	order    []*familyText
	current  *familyText // family of the last sample
	part     samplePart  // the part of the family that the last sample is
	// prefix is the start, up to the bound, of all bucket lines of the last sample's series; "" if it was not a
	// bucket.
	prefix []byte
	labels []rawLabel // scratch
	weight int64      // of the retained data
	number int        // of the line
	bytes  int64
	series int
}

// read parses a text line by line, until it ends, is broken, or exceeds the limits.
func (p *scrape) read(text io.Reader) error {
	in := bufio.NewReaderSize(text, maxMetricsLine)
	for {
		line, err := in.ReadSlice('\n')
		p.number++
		p.bytes += int64(len(line))
		switch {
		case p.number == 1 && bytes.HasPrefix(bytes.TrimSpace(line), []byte("<")):
			return errors.New("the answer is an HTML page, not metrics: check what is in front of the process")
		case p.number == 1 && bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")):
			return errors.New("the answer is JSON, not metrics: check what is in front of the process")
		case errors.Is(err, io.EOF) && len(bytes.TrimSpace(line)) == 0:
			return nil
		case errors.Is(err, io.EOF):
			return fmt.Errorf("the text ends within line %d", p.number) // a truncated number is a different number
		case errors.Is(err, bufio.ErrBufferFull):
			return fmt.Errorf("a line is longer than %d bytes", maxMetricsLine)
		case err != nil:
			return err
		case p.bytes > maxMetricsBytes:
			return fmt.Errorf("the text is longer than %s", mebibytes(maxMetricsBytes))
		}
		if err := p.add(line); err != nil {
			return err
		}
		if err := p.afford(); err != nil {
			return err
		}
	}
}

// afford returns an error if no more of a scrape can be retained.
func (p *scrape) afford() error {
	const part = 4 // one scrape gets 1/part of the room of all responses, so that it leaves room for others
	limit, most := p.d.limit, int64(maxMetricsKept)
	if limit > 0 {
		most = min(most, limit/part)
	}
	switch {
	case p.weight > most:
		return newFailure(model.TooLarge, "the series take more than %s of memory", mebibytes(most))
	case limit > 0 && p.d.used+p.weight > limit:
		return overLimit(limit)
	}
	return nil
}

// add parses one line.
func (p *scrape) add(line []byte) error {
	if len(p.prefix) > 0 && bytes.HasPrefix(line, p.prefix) && p.addNextBucket(line[len(p.prefix):]) {
		return nil
	}
	line = bytes.Trim(line, " \t\r\n")
	switch {
	case len(line) == 0:
		return nil
	case line[0] == '#':
		return p.addComment(line)
	}
	err := p.addSample(line)
	if err != nil && !errors.Is(err, errTooMany) {
		return fmt.Errorf("line %d %w", p.number, err)
	}
	return err
}

// addComment stores the type of the family that follows. It ignores HELP.
func (p *scrape) addComment(line []byte) error {
	fields := bytes.Fields(line[1:])
	if len(fields) < 3 || string(fields[0]) != "TYPE" || !plainName(string(fields[1])) {
		return nil
	}
	kind := model.MetricUntyped
	switch string(bytes.ToLower(fields[2])) {
	case "counter":
		kind = model.MetricCounter
	case "gauge":
		kind = model.MetricGauge
	case "histogram", "gauge_histogram", "gaugehistogram":
		kind = model.MetricHistogram
	case "summary":
		kind = model.MetricSummary
	}
	p.prefix = p.prefix[:0]
	if f := p.families[string(fields[1])]; f == nil {
		p.begin(string(fields[1]), kind)
	} else if f.kind != kind {
		return fmt.Errorf("line %d: type of %s is %s, before it was %s", p.number, fields[1], kind, f.kind)
	}
	return nil
}

func (p *scrape) begin(name string, kind model.MetricKind) *familyText {
	f := p.d.metrics.family(p.d.text(name), kind)
	p.families[f.name] = f
	p.order = append(p.order, f)
	p.weight += weightFamily + int64(len(name))
	return f
}

// addSample parses NAME{LABELS} VALUE TIME, where labels and time may be missing.
func (p *scrape) addSample(line []byte) error {
	p.prefix = p.prefix[:0]
	end := nameEnd(line)
	if end == 0 || end == len(line) || line[0] >= '0' && line[0] <= '9' ||
		line[end] != '{' && line[end] != ' ' && line[end] != '\t' {
		return errNoSample
	}
	p.setFamily(line[:end])
	if p.part != partBucket {
		if p.series++; p.series > maxMetricsSeries {
			return errTooMany
		}
	}
	labels, rest, err := cutLabels(line[end:])
	if err != nil {
		return err
	}
	value, err := sampleValue(rest)
	if err != nil {
		return err
	}
	set, special, err := p.sampleLabels(labels)
	if err != nil {
		return err
	}
	if p.part == partBucket && special.plain {
		// start of the bound: LABELS end in its quote and a brace
		start := len(line) - len(rest) - 1 - len(special.text) - 1
		p.prefix = append(p.prefix, line[:start]...)
	}
	p.put(set, special, value)
	return nil
}

// setFamily sets the family of a sample and its part of the family. As in Prometheus, a family with exactly the
// name takes precedence.
func (p *scrape) setFamily(name []byte) {
	if f := p.families[string(name)]; f != nil {
		p.current, p.part = f, partValue
		return
	}
	for _, x := range suffixes {
		of, is := bytes.CutSuffix(name, []byte(x.suffix))
		if !is {
			continue
		}
		if f := p.families[string(of)]; f != nil &&
			(f.kind == model.MetricHistogram || f.kind == model.MetricSummary && x.part != partBucket) {
			p.current, p.part = f, x.part
			return
		}
	}
	p.current, p.part = p.begin(string(name), model.MetricUntyped), partValue
}

// samplePart is the part of its family that a sample is.
type samplePart uint8

const (
	partValue samplePart = iota // the value; of a summary, a quantile
	partSum
	partCount
	partBucket
)

var suffixes = [...]struct {
	suffix string
	part   samplePart
}{{"_bucket", partBucket}, {"_sum", partSum}, {"_count", partCount}}

// put adds a value to its series. It ignores NaN and infinities, e.g. the mean of nothing, and negative counts.
func (p *scrape) put(set *labelSet, special specialLabel, value float64) {
	f := p.current
	number := !math.IsNaN(value) && !math.IsInf(value, 0)
	if f.kind < model.MetricHistogram {
		if number {
			f.series = append(f.series, model.Series{Labels: set.pairs, Value: value})
			p.weight += weightSeries
		}
		return
	}
	at, added := f.seriesIndex(set)
	if added {
		p.weight += weightSeries
	}
	s := &f.series[at]
	switch {
	case p.part == partSum && number:
		s.Value = value
	case p.part == partCount && value >= 0 && value <= 1<<53:
		s.Count = value
	case f.kind == model.MetricSummary && p.part == partValue && special.present && number &&
		!math.IsNaN(special.number):
		s.Quantiles = append(s.Quantiles, model.Quantile{Share: special.number, Value: value})
		p.weight += weightBucket
	case f.kind == model.MetricHistogram && p.part != partSum && p.part != partCount && special.present:
		f.addBucket(at, special.number, value)
		p.weight += weightBucket
	}
}

// addNextBucket parses a bucket of the last sample's series, from its bound on. It returns false without
// changes if the line is not in the format of the client libraries.
func (p *scrape) addNextBucket(rest []byte) bool {
	text, after, quoted := bytes.Cut(rest, []byte(`"`))
	if !quoted || len(after) == 0 || after[0] != '}' {
		return false
	}
	bound, err := parseNumber(text)
	if err != nil {
		return false
	}
	value, err := sampleValue(bytes.TrimRight(after[1:], " \t\r\n"))
	if err != nil {
		return false
	}
	p.current.addBucket(p.current.lastAt, bound, value)
	p.weight += weightBucket
	return true
}
