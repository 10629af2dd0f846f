package read

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"kitescope/profile/bench"
)

// heyText is what "hey" prints: print in https://github.com/rakyll/hey/blob/master/requester/print.go, all times in seconds.
func heyText() format {
	return format{
		Format: Format{"hey", "text of hey: each printed summary is a run"},
		sniff: func(d *doc) bool {
			return strings.Contains(d.head, "Summary:") && strings.Contains(d.head, "Requests/sec:") && strings.Contains(d.head, "Slowest:")
		},
		read: readHey,
	}
}

// heyCSV is what "hey -o csv" prints: a line for each request, so the file is one run. What it does not say is how long
// the test took, so there is no rate.
func heyCSV() format {
	return format{
		Format: Format{"hey csv", "hey -o csv: a file is a run, the percentiles of its requests the figures"},
		sniff:  func(d *doc) bool { return strings.HasPrefix(d.head, "response-time,DNS+dialup,DNS,") },
		read:   readHeyCSV,
	}
}

// heySummary is one printed summary while its lines are read.
type heySummary struct {
	s        *sheet
	run      int
	part     string // the heading that was last
	codes    bool   // the distribution of status codes was printed
	requests answered
	errors   float64 // requests without an answer
}

func readHey(d *doc) ([]*bench.Set, error) {
	s := newSheet(d)
	h := &heySummary{s: s, run: -1}
	for _, line := range d.lines() {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 1 && fields[0] == "Summary:":
			h.end()
			h = &heySummary{s: s, run: s.begin("")}
		case h.run < 0 || len(fields) < 2:
		case strings.HasSuffix(line, " distribution:") || strings.HasSuffix(line, " histogram:"):
			h.part = fields[0]
			h.codes = h.codes || h.part == "Status"
		default:
			h.line(fields)
		}
		if s.err != nil {
			return nil, s.err
		}
	}
	h.end()
	return s.one()
}

func (h *heySummary) line(fields []string) {
	switch {
	case h.part == "Status" || h.part == "Error":
		h.count(fields)
	case fields[0] == "Requests/sec:":
		heyAdd(h.s, h.run, "requests per second", "1/s", fields[1], bench.HigherIsBetter)
	case fields[len(fields)-1] == "secs" && len(fields) == 3:
		if name := heyTimes(fields[0]); name != "" {
			heyAdd(h.s, h.run, name, "s", fields[1], bench.LowerIsBetter)
		}
	case len(fields) == 4 && fields[1] == "in" && fields[3] == "secs":
		// "%%" stands there in versions whose format string is doubled.
		heyAdd(h.s, h.run, percentileName(strings.TrimRight(fields[0], "%")), "s", fields[2], bench.LowerIsBetter)
	}
}

// count reads "[404]  200 responses", and "[200]  Get ...: connection refused", where the number in brackets is how often.
func (h *heySummary) count(fields []string) {
	code := strings.Trim(fields[0], "[]")
	if h.part == "Error" {
		if n, ok := plainNumber(code); ok && strings.HasPrefix(fields[0], "[") {
			h.errors += n
		}
		return
	}
	n, ok := plainNumber(fields[1])
	if !ok || len(fields) != 3 || fields[2] != "responses" {
		return
	}
	h.requests.all += n
	if !strings.HasPrefix(code, "2") {
		h.requests.bad += n
	}
}

// end tells what went wrong, where the summary was printed that far. Without any answer there is nothing that was measured, though
// hey prints times of 0 and the rate at which it failed.
func (h *heySummary) end() {
	if h.run < 0 || !h.codes {
		return
	}
	h.s.add(h.run, bench.Metric{Name: unanswered}, h.errors, bench.LowerIsBetter)
	h.s.add(h.run, bench.Metric{Name: badAnswers}, h.requests.bad, bench.LowerIsBetter)
	h.requests.note(h.s, h.run)
	if h.requests.all == 0 && h.errors > 0 {
		h.s.fail(h.run, fmt.Sprintf("all of its %.0f requests failed", h.errors))
	}
}

// heyStep is what hey rounds all times to, in seconds.
const heyStep = 1e-4

// heyTimes are the lines of the summary.
func heyTimes(label string) string {
	switch label {
	case "Total:":
		return "time taken"
	case "Slowest:":
		return "max latency"
	case "Fastest:":
		return "min latency"
	case "Average:":
		return "mean latency"
	}
	return ""
}

func heyAdd(s *sheet, run int, name, unit, text string, better bench.Direction) {
	x, ok := plainNumber(text)
	if !ok {
		s.d.skip("skipped values that are not numbers", text)
		return
	}
	step := 0.0
	if unit == "s" {
		step = heyStep
	}
	s.addRounded(run, bench.Metric{Name: name, Unit: unit}, x, step, better)
}

func readHeyCSV(d *doc) ([]*bench.Set, error) {
	r := csv.NewReader(bytes.NewReader(d.data))
	r.FieldsPerRecord, r.ReuseRecord = -1, true
	var times []float64
	var requests answered
	status := -1
	for first := true; ; first = false {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if first {
			status = slices.Index(row, "status-code")
			continue
		}
		x, ok := math.NaN(), false
		if err == nil {
			x, ok = plainNumber(row[0])
		}
		if !ok || math.IsInf(x, 0) {
			d.skipLine("skipped a line that is not a request", strings.Join(row, ","))
			continue
		}
		d.fit++
		times = append(times, x)
		if requests.all++; status >= 0 && status < len(row) && !strings.HasPrefix(row[status], "2") {
			requests.bad++
		}
	}
	s := newSheet(d)
	if len(times) == 0 {
		return s.one()
	}
	run := s.begin("")
	for _, f := range distribution(times) {
		s.addRounded(run, bench.Metric{Name: f.name, Unit: "s"}, f.x, heyStep, bench.LowerIsBetter)
	}
	s.add(run, bench.Metric{Name: requestsCounted}, requests.all, bench.Neither)
	if status >= 0 {
		s.add(run, bench.Metric{Name: badAnswers}, requests.bad, bench.LowerIsBetter)
		requests.note(s, run)
	}
	return s.one()
}

type figure struct {
	name string
	x    float64
}

// distribution is what a program would have printed of all times of requests.
func distribution(times []float64) []figure {
	times = slices.Sorted(slices.Values(times))
	sum := 0.0
	for _, x := range times {
		sum += x
	}
	at := func(percent float64) float64 {
		return times[min(len(times)-1, int(float64(len(times))*percent/100))]
	}
	return []figure{
		{"mean latency", sum / float64(len(times))},
		{"p50 latency", at(50)},
		{"p90 latency", at(90)},
		{"p95 latency", at(95)},
		{"p99 latency", at(99)},
		{"max latency", times[len(times)-1]},
	}
}
