package read

import (
	"fmt"
	"strconv"
	"strings"

	"kitescope/internal/redact"
	"kitescope/profile/bench"
)

// apacheBench reads the output of "ab": output_results in https://github.com/apache/httpd/blob/trunk/support/ab.c.
func apacheBench() format {
	return format{
		Format: Format{"ab", "text of ab (ApacheBench): each printed result is a run"},
		sniff: func(d *doc) bool {
			return hasAny(d.head, "Concurrency Level:", "This is ApacheBench") &&
				hasAny(string(d.data), "Requests per second:", "Time taken for tests:")
		},
		read: readApacheBench,
	}
}

// abLines lists the figures that ab prints after a label, with their unit.
var abLines = []struct {
	label, name, unit string
	better            bench.Direction
}{
	{"Time taken for tests:", "time taken", "s", bench.LowerIsBetter},
	{"Complete requests:", "requests", "", bench.Neither},
	{"Failed requests:", failedRequests, "", bench.LowerIsBetter},
	{"Write errors:", "write errors", "", bench.LowerIsBetter},
	{"Non-2xx responses:", errorResponses, "", bench.LowerIsBetter},
	{"Requests per second:", "requests per second", "1/s", bench.HigherIsBetter},
	{"Transfer rate:", "transfer rate", "KiB/s", bench.HigherIsBetter}, // "Kbytes" are 1024 bytes in ab
}

// abResult is a printed result whose lines are being read.
type abResult struct {
	s           *sheet
	run         int
	path        string
	concurrency int
	percentiles bool
	requests    requestCounts
}

func readApacheBench(d *doc) ([]*bench.Set, error) {
	s := newSheet(d)
	r := &abResult{s: s, run: -1}
	for n, line := range d.lines() {
		switch {
		case strings.HasPrefix(line, "Document Path:"):
			r.path = redact.Text(strings.TrimSpace(strings.TrimPrefix(line, "Document Path:")))
		case strings.HasPrefix(line, "Concurrency Level:"):
			// This is the first line of a result that is not about the server.
			r.run, r.percentiles, r.requests = s.begin(""), false, requestCounts{}
			r.concurrency, _ = strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(line, "Concurrency Level:")))
		case r.run < 0 && strings.HasPrefix(line, "Time taken for tests:"):
			r.run = s.begin("") // the head of the result was cut off
			r.line(n, line)
		case r.run < 0:
		case strings.HasPrefix(line, "Percentage of the requests served"):
			r.percentiles = true
		case r.percentiles:
			r.percentile(line)
		default:
			r.line(n, line)
		}
		if s.err != nil {
			return nil, s.err
		}
	}
	return s.onlySet()
}

func (r *abResult) line(n int, line string) {
	for _, known := range abLines {
		rest, ok := strings.CutPrefix(line, known.label)
		if !ok {
			continue
		}
		x, ok := firstNumber(rest)
		if !ok {
			r.s.d.skip("skipped values that are not numbers", fmt.Sprintf("line %d: %q", n, line))
			return
		}
		switch known.name {
		case "requests":
			r.requests.all = x
		case errorResponses:
			r.requests.bad = x
		case "requests per second":
			// The lines before this one are printed only if their count is not 0.
			r.s.addZero(r.run, r.metric(errorResponses, ""))
			r.requests.note(r.s, r.run)
		}
		r.add(known.name, known.unit, x, known.better)
		return
	}
	if rest, ok := strings.CutPrefix(line, "Time per request:"); ok && !strings.Contains(rest, "across all") {
		if x, ok := firstNumber(rest); ok {
			r.add("mean latency", "ms", x, bench.LowerIsBetter)
		}
	}
}

// percentile reads "  50%    120" and " 100%   3000 (longest request)". The heading has the unit, milliseconds.
func (r *abResult) percentile(line string) {
	fields := strings.Fields(line)
	if len(fields) < 2 || !strings.HasSuffix(fields[0], "%") {
		r.percentiles = len(fields) == 0
		return
	}
	x, ok := plainNumber(fields[1])
	p := strings.TrimSuffix(fields[0], "%")
	if !ok || !isCount(p) {
		return
	}
	r.add(percentileName(p), "ms", x, bench.LowerIsBetter)
}

func (r *abResult) add(name, unit string, x float64, better bench.Direction) {
	r.s.add(r.run, r.metric(name, unit), x, better)
}

func (r *abResult) metric(name, unit string) bench.Metric {
	return bench.Metric{Benchmark: r.path, Name: name, Unit: unit, Concurrency: max(r.concurrency, 0)}
}

// percentileName returns the name of a percentile, which is the same for all programs, e.g. "p99 latency". The
// 100th is "max latency".
func percentileName(p string) string {
	if x, err := strconv.ParseFloat(p, 64); err == nil {
		if x == 100 {
			return "max latency"
		}
		p = strconv.FormatFloat(x, 'f', -1, 64)
	}
	return "p" + p + " latency"
}

// firstNumber returns the number at the beginning of text, after spaces.
func firstNumber(text string) (float64, bool) {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return 0, false
	}
	x, _, ok := number(fields[0])
	return x, ok
}

// Names of the counts of failed requests: requests without a response, and error responses.
const (
	failedRequests = "failed requests"
	errorResponses = "non-2xx responses"
)

// requestCounts counts the requests and the error responses of a run.
type requestCounts struct{ all, bad float64 }

// note adds a note if more than 1% of the responses were errors, because a server that rejects requests at once looks
// fastest.
func (a requestCounts) note(s *sheet, run int) {
	const few = 0.01
	if run >= 0 && a.bad > few*a.all {
		s.d.skip("some responses were errors: the rate and the times include them",
			fmt.Sprintf("run %s: %.0f of %.0f", s.set.Runs[run].Name, a.bad, a.all))
	}
}

// addZero adds a count of 0 to a run, for a count that a program prints only if it is not 0. The caller must have
// read the output up to the place where the program would print the count.
func (s *sheet) addZero(run int, m bench.Metric) {
	if run >= 0 && !s.has(run, m) {
		s.add(run, m, 0, bench.LowerIsBetter)
	}
}
