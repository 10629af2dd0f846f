package read

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"kitescope/profile/bench"
)

// perfStat is what "perf stat" prints, as text, with -x as CSV, with -j as lines of JSON: print_counter_value_std, _csv and
// _json, and print_footer, in https://github.com/torvalds/linux/blob/master/tools/perf/util/stat-display.c. With -r N the figures are means
// over N runs, which are one figure; only --table prints the time of each.
func perfStat() format {
	return format{
		Format: Format{"perf stat", "perf stat (also -x, -j) next to a result: cpu, switches per query"},
		sniff: func(d *doc) bool {
			return hasAny(d.head, "Performance counter stats for") || perfIntervals(d) || perfJSON(d) || perfSeparator(d) != ""
		},
		read:     readPerfStat,
		observes: true,
	}
}

// perfIntervals recognises the heading of -I.
func perfIntervals(d *doc) bool {
	for line := range strings.Lines(d.head) {
		if isIntervalHeading(line) {
			return true
		}
	}
	return false
}

func isIntervalHeading(line string) bool {
	fields := strings.Fields(line)
	return len(fields) == 5 && fields[0] == "#" && strings.Join(fields[1:], " ") == "time counts unit events"
}

func perfJSON(d *doc) bool {
	return strings.Contains(d.head, `"counter-value"`) && strings.Contains(d.head, `"event"`)
}

// perfSeparator finds what -x was, of a file each of whose first lines is value, unit, event and more; "" if it is none.
func perfSeparator(d *doc) string {
	for _, sep := range []string{",", ";", "\t", "|"} {
		found := 0
		for line := range strings.Lines(d.head) {
			if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
				continue
			}
			fields := strings.Split(line, sep)
			if fields = withoutInterval(fields); len(fields) < 5 || !isPerfCount(fields[0]) || !isPerfEvent(fields[2]) {
				found = 0
				break
			}
			if found++; found > 20 {
				break
			}
		}
		if found > 0 {
			return sep
		}
	}
	return ""
}

// withoutInterval takes the time off a line of -I: "1.000123,390.1,msec,task-clock,...".
func withoutInterval(fields []string) []string {
	if len(fields) > 5 && isPerfCount(fields[1]) && isPerfEvent(fields[3]) && !isPerfEvent(fields[1]) && (fields[2] == "" || isUnit(fields[2])) {
		if _, ok := plainNumber(strings.TrimSpace(fields[0])); ok {
			return fields[1:]
		}
	}
	return fields
}

func isPerfCount(s string) bool {
	_, ok := plainNumber(s)
	return ok || s == "<not supported>" || s == "<not counted>"
}

// isPerfEvent reports whether a text is a name of an event: "task-clock", "cycles:u", "cpu_core/cycles/".
func isPerfEvent(s string) bool {
	return s != "" && (s[0] >= 'a' && s[0] <= 'z' || s[0] >= 'A' && s[0] <= 'Z') && !strings.ContainsAny(s, " <>{}\"")
}

// perfReport is one report while its lines are read.
type perfReport struct {
	s   *sheet
	run int
	// means says over how many runs the figures are means; table that the times of each follow.
	means int
	table []float64
	in    bool
	// intervals says that each event is there once for each interval, of which the sum is the run's.
	intervals bool
	elapsed   float64 // the end of the last interval
	sums      map[string]*perfSum
	order     []string
}

type perfSum struct {
	unit string
	x    float64
}

func readPerfStat(d *doc) ([]*bench.Set, error) {
	s := newSheet(d)
	r := &perfReport{s: s, run: -1}
	separator, isJSON := perfSeparator(d), perfJSON(d)
	for n, line := range d.lines() {
		text := strings.TrimSpace(line)
		switch {
		case strings.Contains(line, "Performance counter stats for"):
			r.begin(text)
		case text == "":
		case isIntervalHeading(text):
			if r.run < 0 {
				r.run = s.begin("")
			}
			r.intervals = true
		case separator != "" || isJSON:
			if r.run < 0 {
				r.run = s.begin("")
			}
			if text[0] != '#' {
				r.machine(n, text, separator)
			}
		case r.run >= 0:
			r.line(text)
		}
		if s.err != nil {
			return nil, s.err
		}
	}
	r.end()
	return s.one()
}

// begin begins a report: several stand in a file that was appended to.
func (r *perfReport) begin(heading string) {
	r.end()
	r.run, r.means, r.table, r.in = r.s.begin(""), 0, nil, false
	if at := strings.LastIndex(heading, " ("); at > 0 && strings.HasSuffix(heading, " runs):") {
		r.means, _ = strconv.Atoi(strings.TrimSuffix(heading[at+2:], " runs):"))
	}
}

// end replaces the mean by the times of each run, where they were printed.
func (r *perfReport) end() {
	for _, event := range r.order {
		name, _, _ := strings.Cut(event, ":")
		r.named(name, event, r.sums[event].unit, r.sums[event].x)
	}
	if r.elapsed > 0 && r.run >= 0 {
		r.s.add(r.run, bench.Metric{Name: "elapsed", Unit: "s"}, r.elapsed, bench.LowerIsBetter)
	}
	switch {
	case r.run < 0 || r.means < 2:
		return
	case len(r.table) < 2:
		r.s.d.note(fmt.Sprintf("perf stat -r printed means over %d runs, one value; run it that often without -r", r.means))
		return
	}
	r.s.d.note("perf stat -r --table: the time of each run is compared; the other figures are means over all, and were left out")
	r.s.set.Runs[r.run].Values, r.s.filled[r.run] = nil, map[bench.Metric]bool{}
	for i, x := range r.table {
		at := r.run
		if i > 0 {
			at = r.s.begin("")
		}
		r.s.add(at, bench.Metric{Name: "elapsed", Unit: "s"}, x, bench.LowerIsBetter)
	}
}

// line reads "1,234.5 msec task-clock  # 0.9 CPUs utilized ( +- 0.1% )" and the lines below the table.
func (r *perfReport) line(text string) {
	if strings.HasPrefix(text, "#") {
		r.in = strings.HasPrefix(text, "# Table of individual")
		return
	}
	if r.in {
		if x, ok := firstNumber(text); ok && strings.Contains(text, "(") {
			r.table = append(r.table, x)
		}
		return
	}
	counted, _, _ := strings.Cut(text, "#")
	fields := strings.Fields(counted)
	if r.intervals && len(fields) > 1 {
		r.elapsed, _ = plainNumber(fields[0])
		fields, text = fields[1:], strings.TrimSpace(strings.TrimPrefix(text, fields[0]))
	}
	if len(fields) > 3 && fields[1] == "+-" {
		fields = append(fields[:1:1], fields[3:]...) // "1.0013 +- 0.0002 seconds time elapsed"
	}
	if len(fields) < 2 {
		return
	}
	x, ok := plainNumber(fields[0])
	switch {
	case !ok && strings.HasPrefix(text, "<not"):
		r.s.d.skip("skipped an event that was not counted", fields[len(fields)-1])
	case !ok:
	case fields[1] == "seconds" && len(fields) >= 3:
		r.seconds(strings.Join(fields[2:], " "), x)
	case len(fields) >= 3 && isUnit(fields[1]):
		r.event(fields[2], fields[1], x)
	case isPerfEvent(fields[1]):
		r.event(fields[1], "", x)
	}
}

func (r *perfReport) seconds(what string, x float64) {
	switch {
	case strings.HasPrefix(what, "time elapsed"):
		r.s.add(r.run, bench.Metric{Name: "elapsed", Unit: "s"}, x, bench.LowerIsBetter)
	case what == "user":
		r.s.add(r.run, bench.Metric{Name: "user time", Unit: "s"}, x, bench.LowerIsBetter)
	case what == "sys":
		r.s.add(r.run, bench.Metric{Name: "system time", Unit: "s"}, x, bench.LowerIsBetter)
	}
}

// machine reads a line that is meant for programs.
func (r *perfReport) machine(n int, text, separator string) {
	var value, unit, event string
	if separator == "" {
		var line struct {
			Value string `json:"counter-value"`
			Unit  string `json:"unit"`
			Event string `json:"event"`
		}
		if json.Unmarshal([]byte(text), &line) != nil {
			r.s.d.skipLine("skipped a line that is not a counter", fmt.Sprintf("line %d", n))
			return
		}
		value, unit, event = line.Value, line.Unit, line.Event
	} else {
		fields := strings.Split(text, separator)
		if whole := len(fields); whole > 0 {
			at := fields[0]
			if fields = withoutInterval(fields); len(fields) < whole {
				r.intervals = true
				r.elapsed, _ = plainNumber(strings.TrimSpace(at))
			}
		}
		if len(fields) < 3 {
			r.s.d.skipLine("skipped a line that is not a counter", fmt.Sprintf("line %d", n))
			return
		}
		value, unit, event = fields[0], fields[1], fields[2]
		if len(fields) > 3 && strings.HasSuffix(fields[3], "%") && r.means == 0 {
			r.means = 1
			r.s.d.note("perf stat -r printed means over its runs, one value; run it that often without -r")
		}
	}
	x, ok := plainNumber(value)
	switch {
	case strings.HasPrefix(value, "<not"):
		r.s.d.fit++
		r.s.d.skip("skipped an event that was not counted", event)
	case !ok || !isPerfEvent(event):
		r.s.d.skipLine("skipped a line that is not a counter", fmt.Sprintf("line %d", n))
	default:
		r.s.d.fit++
		r.event(event, unit, x)
	}
}

// event adds a counter, with a name of ours where there is one. Without a modifier: ":u" is what an unprivileged
// user can count, and the other side was counted alike.
func (r *perfReport) event(event, unit string, x float64) {
	name, _, _ := strings.Cut(event, ":")
	if r.intervals {
		r.sum(event, unit, x)
		return
	}
	r.named(name, event, unit, x)
}

// sum adds a counter of an interval.
func (r *perfReport) sum(event, unit string, x float64) {
	if r.sums == nil {
		r.sums = map[string]*perfSum{}
	}
	if r.sums[event] == nil {
		if len(r.sums) >= maxMetrics {
			return
		}
		r.sums[event] = &perfSum{unit: unit}
		r.order = append(r.order, event)
	}
	r.sums[event].x += x
}

func (r *perfReport) named(name, event, unit string, x float64) {
	switch strings.Trim(name, "/") {
	case "task-clock", "cpu-clock":
		if unit == "" {
			unit = "ms" // old versions print milliseconds, and no unit
		}
		r.s.add(r.run, bench.Metric{Name: cpuSeconds, Unit: unit}, x, bench.LowerIsBetter)
	case "duration_time":
		r.s.add(r.run, bench.Metric{Name: "elapsed", Unit: "ns"}, x, bench.LowerIsBetter)
	case "context-switches", "cs":
		r.s.add(r.run, bench.Metric{Name: switches}, x, bench.LowerIsBetter)
	default:
		r.s.add(r.run, bench.Metric{Name: event, Unit: unit}, x, bench.Unknown)
	}
}
