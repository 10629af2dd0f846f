package read

import (
	"strconv"
	"strings"

	"kitescope/profile/bench"
)

// wrkText is what "wrk" and "wrk2" print: main and print_stats in https://github.com/wg/wrk/blob/master/src/wrk.c, the units in
// src/units.c; the latencies of wrk2 (print_hdr_latency in https://github.com/giltene/wrk2/blob/master/src/wrk.c) have more
// digits. Times are "1.23ms", "12.30us", "1.50s", "2.00m"; sizes and counts have a letter, of 1024 or 1000.
func wrkText() format {
	return format{
		Format: Format{"wrk", "text of wrk and wrk2 (--latency for percentiles): each result is a run"},
		sniff: func(d *doc) bool {
			return strings.Contains(d.head, "threads and") && strings.Contains(d.head, "connections") && hasAny(string(d.data), "Requests/sec:", "Thread Stats")
		},
		read: readWrk,
	}
}

type wrkResult struct {
	s           *sheet
	run         int
	connections int
	latencies   bool
	requests    answered
}

func readWrk(d *doc) ([]*bench.Set, error) {
	s := newSheet(d)
	r := &wrkResult{s: s, run: -1}
	for _, line := range d.lines() {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 5 && fields[1] == "threads" && fields[4] == "connections":
			r.run, r.latencies, r.requests = s.begin(""), false, answered{}
			n, _ := strconv.Atoi(fields[3])
			r.connections = max(n, 0)
		case r.run < 0 || len(fields) == 0:
			if len(fields) == 0 {
				r.latencies = false
			}
		default:
			r.line(line, fields)
		}
		if s.err != nil {
			return nil, s.err
		}
	}
	return s.one()
}

func (r *wrkResult) line(line string, fields []string) {
	switch {
	case strings.Contains(line, "Latency Distribution"):
		// wrk2 -U prints a second table of latencies that are not corrected; it has the same rows, and loses to the first.
		r.latencies = !strings.Contains(line, "Uncorrected")
	case fields[0] == "Latency" && len(fields) >= 4:
		r.time("mean latency", fields[1])
		r.time("max latency", fields[3])
	case r.latencies && strings.HasSuffix(fields[0], "%") && len(fields) == 2:
		// The last row of wrk2 is the maximum, which "Latency" gave with fewer digits.
		if p := strings.TrimSuffix(fields[0], "%"); percentileName(p) != "max latency" {
			r.time(percentileName(p), fields[1])
		}
	case fields[0] == "Requests/sec:" && len(fields) == 2:
		// The two counts stand above this line if they are not 0.
		r.s.none(r.run, r.metric("socket errors", ""))
		r.s.none(r.run, r.metric(badAnswers, ""))
		r.requests.note(r.s, r.run)
		r.add("requests per second", "1/s", fields[1], bench.HigherIsBetter)
	case fields[0] == "Transfer/sec:" && len(fields) == 2:
		r.size("transfer rate", strings.TrimSuffix(fields[1], "B"))
	case len(fields) >= 4 && fields[1] == "requests" && fields[2] == "in":
		r.requests.all, _ = plainNumber(fields[0])
		r.add(requestsCounted, "", fields[0], bench.Neither)
	case strings.HasPrefix(strings.TrimSpace(line), "Socket errors:"):
		r.errors(fields)
	case strings.HasPrefix(strings.TrimSpace(line), "Non-2xx or 3xx responses:"):
		r.requests.bad, _ = plainNumber(fields[len(fields)-1])
		r.add(badAnswers, "", fields[len(fields)-1], bench.LowerIsBetter)
	}
}

// errors reads "Socket errors: connect 0, read 0, write 0, timeout 3".
func (r *wrkResult) errors(fields []string) {
	total := 0.0
	for _, f := range fields {
		if x, ok := plainNumber(strings.TrimSuffix(f, ",")); ok {
			total += x
		}
	}
	r.s.add(r.run, r.metric("socket errors", ""), total, bench.LowerIsBetter)
}

func (r *wrkResult) time(name, text string) {
	x, unit, ok := number(text)
	if _, known := unitTable(unit); ok && known && unit != "" {
		r.s.addRounded(r.run, r.metric(name, unit), x, printedStep(text), bench.LowerIsBetter)
		return
	}
	r.s.d.skip("skipped a value that is not a time", text)
}

// size reads "676.14K": the letter is a power of 1024, as format_binary writes it.
func (r *wrkResult) size(name, text string) {
	x, letter, ok := number(text)
	power := 0
	if letter != "" {
		power = strings.Index(" KMGTP", letter)
	}
	if !ok || len(letter) > 1 || power < 0 {
		r.s.d.skip("skipped a value that is not a size", text)
		return
	}
	step := printedStep(text)
	for range power {
		x, step = x*1024, step*1024
	}
	r.s.addRounded(r.run, r.metric(name, "B/s"), x, step, bench.HigherIsBetter)
}

func (r *wrkResult) add(name, unit, text string, better bench.Direction) {
	x, ok := plainNumber(text)
	if !ok {
		r.s.d.skip("skipped values that are not numbers", text)
		return
	}
	r.s.addRounded(r.run, r.metric(name, unit), x, printedStep(text), better)
}

func (r *wrkResult) metric(name, unit string) bench.Metric {
	return bench.Metric{Name: name, Unit: unit, Concurrency: r.connections}
}
