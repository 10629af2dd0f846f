package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"kitescope/tools/bench/document"
	"kitescope/tools/bench/measure"
)

// report holds all results. Parts that did not run are nil.
type report struct {
	machine         string
	commands, large *commandTable
	start           *startResult
	ui              *uiResult
}

func (r *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured by `make bench-inspect` on %s.\n", r.machine)
	r.commands.write(&b)
	r.large.write(&b)
	r.start.write(&b)
	r.ui.write(&b)
	return b.String()
}

func (t *commandTable) write(b *strings.Builder) {
	if t == nil {
		return
	}
	fmt.Fprintf(b, "\n### Commands, %s segments\n\nMedian of %d rounds, minimum and maximum in brackets; commands "+
		"run in turn.\n\n", thousands(t.shape.Segments), t.rounds)
	b.WriteString("| command | wall | ratio | CPU | peak RSS | target | |\n|---|---|---|---|---|---|---|\n")
	for _, r := range t.rows {
		walls := measure.Walls(r.costs)
		var cpu []time.Duration
		for _, c := range r.costs {
			cpu = append(cpu, c.CPU)
		}
		ratio, asked, result := t.judge(r)
		fmt.Fprintf(b, "| %s | %s (%s to %s) | %s | %s | %s | %s | %s |\n", r.what,
			seconds(measure.Median(walls)), seconds(measure.Quantile(walls, 0)), seconds(measure.Quantile(walls, 1)),
			ratio, seconds(measure.Median(cpu)), megabytes(measure.PeakRSS(r.costs)), asked, result)
	}
}

// judge compares a row with its bar. It returns the row's ratio, the bar and the verdict as text.
func (t *commandTable) judge(r *row) (ratio, asked, result string) {
	wall := measure.Median(measure.Walls(r.costs))
	if floor := t.find(rowFloor); r.bar.against == "" {
		return fmt.Sprintf("%.2fx floor", quotient(wall, measure.Median(measure.Walls(floor.costs)))), "", ""
	}
	other := measure.Median(measure.Walls(t.find(r.bar.against).costs))
	name := map[string]string{rowFloor: "floor", rowEmpty: "startup", rowJSON: "live", rowTable: "live"}[r.bar.against]
	var ok bool
	if r.bar.extra > 0 {
		ratio = fmt.Sprintf("+%s over %s", seconds(wall-other), name)
		asked = fmt.Sprintf("+%s over %s", seconds(r.bar.extra), name)
		ok = wall-other <= r.bar.extra
	} else {
		ratio = fmt.Sprintf("%.2fx %s", quotient(wall, other), name)
		asked = fmt.Sprintf("%.1fx %s", r.bar.ratio, name)
		ok = quotient(wall, other) <= r.bar.ratio
	}
	if r.bar.peakRSS > 0 {
		asked += ", " + megabytes(r.bar.peakRSS)
		ok = ok && measure.PeakRSS(r.costs) <= r.bar.peakRSS
	}
	return ratio, asked, document.Verdict(ok)
}

const (
	barFirstOutput = 30 * time.Millisecond
	barBinary      = 57 * megabyte
)

func (s *startResult) write(b *strings.Builder) {
	if s == nil {
		return
	}
	fmt.Fprintf(b, "\n### Startup, %d segments\n\nMedian of %d runs; output goes to a pipe.\n\n", smallSegments,
		startRuns)
	b.WriteString("| command | first output | p95 | peak RSS | target | |\n|---|---|---|---|---|---|\n")
	for _, r := range s.commands {
		first := r.firstBytes()
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", r.what, millis(measure.Median(first)),
			millis(measure.Quantile(first, 0.95)),
			megabytes(measure.PeakRSS(r.costs)), millis(barFirstOutput),
			document.Verdict(measure.Median(first) <= barFirstOutput))
	}
	kind := ""
	if s.static != nil {
		kind = map[bool]string{true: ", static", false: ", not static"}[*s.static]
	}
	ok := s.binary <= barBinary && (s.static == nil || *s.static)
	fmt.Fprintf(b, "| the binary | %s%s | | | %s, static | %s |\n", megabytes(s.binary), kind, megabytes(barBinary),
		document.Verdict(ok))
}

func (u *uiResult) write(b *strings.Builder) {
	if u == nil {
		return
	}
	fmt.Fprintf(b,
		"\n### Terminal UI, %s segments\n\nOn a pseudo terminal of %dx%d that answers queries; %d starts, %d cursor "+
			"moves, %d keys in the filter.\n\n",
		thousands(u.segments), uiColumns, uiRows, len(u.firstFrame), len(u.cursor), len(u.filter))
	b.WriteString("| action | p50 | p95 | target | |\n|---|---|---|---|---|\n")
	line := func(what string, values []time.Duration, p50, p95 time.Duration) {
		a, z := measure.Median(values), measure.Quantile(values, 0.95)
		asked, result := "", ""
		if p50 > 0 {
			asked, result = millis(p50), document.Verdict(a <= p50 && (p95 == 0 || z <= p95))
			if p95 > 0 {
				asked += " / " + millis(p95)
			}
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", what, millis(a), millis(z), asked, result)
	}
	line("first frame, before data", u.firstFrame, 50*time.Millisecond, 0)
	line("rows of segments on screen", []time.Duration{u.data}, 0, 0)
	line("cursor: key to first output", u.cursor, 10*time.Millisecond, 20*time.Millisecond)
	line("filter: key to first output", u.filter, 16*time.Millisecond, 0)
	line("filter: key to last screen change", u.filterResult, 0, 0)
	fmt.Fprintf(b, "| memory afterwards, and peak | %s | %s | | |\n", megabytes(u.rss), megabytes(u.peak))
	fmt.Fprintf(b, "| bytes written in %v idle | %d | | 0 | %s |\n", idleTime, u.idleBytes,
		document.Verdict(u.idleBytes == 0))
}

func quotient(a, b time.Duration) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }
func millis(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}
func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/megabyte) }

func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
