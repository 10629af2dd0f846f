package read

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"kitescope/internal/hints"
	"kitescope/profile"
)

// readPerfReport reads the table that `perf report --stdio` prints, or with -t, separated. It has
// no stacks: each row becomes a sample of one frame, and the profile is marked as flat.
//
// A row's value is its period if there is such a column, else its share of the event count that stands
// above the table, else its share in hundredths of a percent. What the rows lack of all, as perf report
// leaves out small rows (--percent-limit) and people those at the end, is a row of its own. What a row has with
// those that it called, the column Children, is a type of its own (profile.ChildrenOf).
func readPerfReport(ctx context.Context, r io.Reader, o *Options) (*profile.Profile, error) {
	t := perfTable{o: o, b: newBuilder(o, samplesType), now: section{samples: -1, count: -1}}
	if err := newLines(ctx, r).each(&t.fit, t.line); err != nil {
		return nil, err
	}
	if err := t.endSection(); err != nil {
		return nil, err
	}
	return t.finish()
}

// section is the table of one event.
type section struct {
	event string
	// samples and count are of the event, -1 if not said; rough says that samples was rounded down.
	samples, count int64
	rough          bool
	layout         *tableLayout
	kind           int // index of the type of values
	children       int // and of those with what was called; 0 if the table does not tell
	// shown adds the values of the rows, uncertain what rounding may have taken from them.
	shown     int64
	uncertain float64
	rows      int64
	percent   int64 // of all rows, in hundredths
}

type perfTable struct {
	o       *Options
	b       *profile.Builder
	now     section
	seen    []section
	total   int64
	fit     fit
	skipped int64
	first   int
	groups  bool
	graph   bool // what was last is a line of a call graph
	kinds   int
	counted bool // there is a column of samples
}

func (t *perfTable) line(line []byte) error {
	switch {
	case len(bytes.TrimSpace(line)) == 0:
		t.graph = false
		return nil
	case line[0] == '#':
		return t.comment(line)
	case screenHeader.Match(line):
		return t.comment(append([]byte("# "), line...))
	}
	if t.now.layout == nil {
		t.now.layout = guessLayout(line)
	}
	if t.now.layout == nil {
		t.skip(line)
		return nil
	}
	ok, err := t.row(line)
	if !ok {
		t.skip(line)
	}
	return err
}

// skip passes over a line that is no row: a line of a call graph, mostly, which is indented, or begins with a drawn line
// and goes on to an empty one.
func (t *perfTable) skip(line []byte) {
	const indent = "      "
	if t.skipped++; t.skipped == 1 {
		t.first = t.fit.number
	}
	t.graph = t.graph || bytes.HasPrefix(line, []byte(indent)) || bytes.ContainsAny(bytes.TrimSpace(line)[:1], "|-")
	if !t.graph {
		t.fit.strange()
	}
}

func (t *perfTable) comment(line []byte) error {
	text := string(bytes.TrimSpace(line[1:]))
	switch {
	case strings.HasPrefix(text, "Samples:"):
		if err := t.endSection(); err != nil {
			return err
		}
		t.now = section{samples: -1, count: -1}
		text, count, _ := strings.Cut(text, eventCount)
		t.samples(strings.TrimSpace(strings.TrimPrefix(text, "Samples:")))
		t.count(count)
	case strings.HasPrefix(text, eventCount):
		t.count(text)
	case reportHeader.Match(line):
		if strings.Contains(text, " ") && !strings.Contains(text, "  ") && !strings.ContainsAny(text, ",;|\t:!") {
			return hints.Errorf("copy it as perf printed it, or print it with perf report -t,", "its columns have lost the spaces between them")
		}
		if t.now.layout != nil { // a table without a line of samples
			if err := t.endSection(); err != nil {
				return err
			}
			t.now = section{samples: -1, count: -1}
		}
		t.now.layout = newLayout(line)
	case t.now.layout != nil && strings.Trim(text, ". ") == "" && text != "":
		t.now.layout.widths(line)
	}
	return nil
}

// eventCount begins what perf says of the whole: on a line of its own, or, on the screen of perf report, behind the samples.
const eventCount = "Event count"

// count reads "Event count (approx.): 550727450".
func (t *perfTable) count(text string) {
	_, number, _ := strings.Cut(text, ":")
	if n, ok := perfCount([]byte(strings.TrimSpace(number))); ok {
		t.now.count = n
	}
}

// samples reads "707  of event 'cycles'" and "12K of events 'anon group { cycles, instructions }'".
func (t *perfTable) samples(text string) {
	number, rest, _ := strings.Cut(text, " ")
	scale := int64(1)
	switch {
	case strings.HasSuffix(number, "K"):
		scale = 1000
	case strings.HasSuffix(number, "M"):
		scale = 1000_000
	case strings.HasSuffix(number, "G"):
		scale = 1000_000_000
	}
	if n, ok := perfCount([]byte(strings.TrimRight(number, "KMG"))); ok && n < math.MaxInt64/scale {
		t.now.samples, t.now.rough = n*scale, scale > 1
	}
	if _, name, ok := strings.Cut(rest, "'"); ok {
		name, _, _ = strings.Cut(name, "'")
		t.now.event = string(imprecise([]byte(name)))
	}
	t.groups = t.groups || strings.Contains(rest, "of events")
}

// column is what a column of the table holds.
type column uint8

const (
	columnOther column = iota
	columnPercent
	columnChildren
	columnSamples
	columnPeriod
	columnCommand
	columnObject
	columnSymbol
)

func (t *perfTable) row(line []byte) (ok bool, err error) {
	if t.groups {
		return false, hints.Errorf("print each event alone: perf report --no-group -g none", "the table has several events in a row")
	}
	r, ok := t.now.layout.row(line)
	if !ok {
		return false, nil
	}
	t.fit.read++
	t.graph = false
	s := &t.now
	if s.rows == 0 {
		s.kind, s.children = t.kind(&r)
	}
	value, slack := r.value(s.count)
	s.rows++
	s.percent += r.percent
	if value == 0 && (s.children == 0 || r.children == 0) {
		return true, nil
	}
	s.uncertain += slack
	s.shown += value
	if t.total, err = plus(t.total, value); err != nil {
		return true, err
	}
	values := make([]int64, t.kinds+1)
	values[s.kind] = value
	if s.children > 0 {
		values[s.children] = max(value, of(r.children, s.count))
	}
	if r.samples > 0 {
		values[0], t.counted = r.samples, true
	}
	var labels []profile.Label
	if r.command != "" {
		labels = append(labels, profile.Label{Key: profile.CommandLabel, Str: r.command})
	}
	return true, t.b.Sample([]uint32{t.location(&r)}, values, labels...)
}

// kind is the type of the section's values, and that of values with what was called, 0 if its rows do not tell: of
// periods, the count that percentages refer to is only in the header.
func (t *perfTable) kind(r *tableRow) (own, children int) {
	e := eventWeight{name: t.now.event}
	v := profile.ValueType{Type: e.word(), Unit: e.unit()}
	if t.now.count < 0 && r.period < 0 {
		v.Unit = profile.HundredthsOfPercent
	}
	own = t.addType(v)
	if r.children >= 0 && (r.period < 0 || t.now.count >= 0) {
		children = t.addType(profile.ChildrenOf(v))
	}
	return own, children
}

func (t *perfTable) addType(v profile.ValueType) int {
	for i, known := range t.b.Meta().Types {
		if i > 0 && known == v {
			return i
		}
	}
	t.b.AddType(v, -1)
	t.kinds++
	return t.kinds
}

// location is that of a row. An object is a base name here, unless -v was given.
func (t *perfTable) location(r *tableRow) uint32 {
	mapping := int32(profile.NoMapping)
	if r.object != "" && r.object != unknown {
		mapping = t.b.Mapping(profile.Mapping{File: r.object, HasFunctions: r.symbol != ""})
	}
	if r.symbol == "" {
		return t.b.Location(mapping, 0)
	}
	return t.b.Frame(r.symbol, mapping)
}

// leftOut is the name of what perf report did not print.
const leftOut = "[rows that perf report left out]"

func (t *perfTable) endSection() error {
	s := t.now
	t.now = section{samples: -1, count: -1}
	if s.rows == 0 {
		return nil
	}
	if missing := s.missing(); missing > 0 {
		values := make([]int64, t.kinds+1)
		values[s.kind] = missing
		if s.children > 0 {
			values[s.children] = missing
		}
		var err error
		if t.total, err = plus(t.total, missing); err != nil {
			return err
		}
		if err := t.b.Sample([]uint32{t.b.Frame(leftOut, profile.NoMapping)}, values); err != nil {
			return err
		}
		t.b.Note(fmt.Sprintf("%.1f%% are of rows that perf report left out; print all with --percent-limit 0",
			100*float64(missing)/float64(missing+s.shown)), 1)
	}
	t.seen = append(t.seen, s)
	return nil
}

// missing is what the rows lack of the whole: of the event count, or, where it is not said, of the 100% that the rows
// are parts of.
func (s *section) missing() int64 {
	switch missing := s.count - s.shown; {
	case s.count > 0:
		if float64(missing) > s.uncertain {
			return missing
		}
	case s.percent > 0 && s.percent < hundred-s.rows: // each is rounded
		rest := float64(s.shown) * float64(hundred-s.percent) / float64(s.percent)
		return int64(math.Round(min(rest, math.MaxInt64/2)))
	}
	return 0
}

func (t *perfTable) finish() (*profile.Profile, error) {
	if len(t.seen) == 0 || t.total == 0 {
		return nil, hints.Errorf("print it with: perf report -i perf.data --stdio --no-children -g none > FILE.txt", "there is no row in the table")
	}
	if err := t.fit.check("perf report"); err != nil {
		return nil, err
	}
	p := t.b.Meta()
	p.Origin.Format, p.Origin.Flat = "perf report", true
	p.DefaultType = p.Types[t.seen[0].kind].Type
	if s := t.seen[0]; len(t.seen) == 1 && s.count > 0 {
		p.PeriodType = p.Types[s.kind]
		if s.samples > 0 {
			p.Period = max(1, s.count/s.samples)
			if s.rough && !t.counted {
				t.b.Note("the number of samples is known roughly: perf report printed it rounded down; -n prints it for each row", 1)
			}
		}
	}
	for _, s := range t.seen {
		if !s.layout.has(columnPeriod) {
			t.b.Note(fmt.Sprintf("values of %s are percentages of two decimals; --show-total-period prints exact ones", p.Types[s.kind].Type), 1)
		}
	}
	t.b.Note(t.cumNote(), 1)
	if t.skipped > 0 {
		t.b.Note(fmt.Sprintf("skipped lines that are not rows (first: line %d); perf report -g none avoids them", t.first), t.skipped)
	}
	q := t.b.Profile()
	if !t.counted {
		return withoutFirstType(q), nil
	}
	return q, nil
}

// cumNote says what CUM is, of a table that has no stacks.
func (t *perfTable) cumNote() string {
	for _, s := range t.seen {
		switch {
		case s.children > 0:
			return "CUM of functions is the sum of column Children over rows of the same name and may be too low; otherwise CUM is FLAT"
		case s.layout.has(columnChildren):
			return "column Children skipped: the table does not say what it is a share of (line \"Event count\")"
		}
	}
	return "CUM equals FLAT: a table has no stacks; perf report --children adds callees"
}

// withoutFirstType drops the count of samples where no column had it.
func withoutFirstType(p *profile.Profile) *profile.Profile {
	n := len(p.Types)
	q := *p
	q.Types = p.Types[1:]
	q.Values = make([]int64, 0, p.Len()*(n-1))
	for i := range p.Len() {
		q.Values = append(q.Values, p.Values[i*n+1:(i+1)*n]...)
	}
	return &q
}

var errPercent = errors.New("no percentage")

// parsePercent reads "20.51%" in hundredths, with whatever stands for the point.
func parsePercent(s string) (hundredths int64, err error) {
	s, ok := strings.CutSuffix(strings.TrimSpace(s), "%")
	if !ok {
		return 0, errPercent
	}
	s = strings.TrimRight(s, " \u00a0\u202f")
	f, err := strconv.ParseFloat(strings.Replace(s, ",", ".", 1), 64)
	if err != nil || f < 0 || f > 1000 || math.IsNaN(f) {
		return 0, errPercent
	}
	return int64(math.Round(f * 100)), nil
}
