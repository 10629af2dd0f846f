package read

import (
	"fmt"
	"strings"

	"kitescope/profile/bench"
)

// vmstatText reads the output of "vmstat 1" during a measurement: src/vmstat.c of procps,
// https://gitlab.com/procps-ng/procps. The column headings are repeated on each screen. The first line of figures is
// skipped because it has averages since boot (vmstat(8)). The value of the run is the mean of the other lines.
func vmstatText() format {
	return format{
		Format: Format{"vmstat", "vmstat N next to a result of the same run: cpu, switches per query"},
		sniff: func(d *doc) bool {
			for line := range strings.Lines(d.head) {
				if isVmstatHeader(strings.Fields(line)) {
					return true
				}
			}
			return false
		},
		read:     readVmstat,
		observes: true,
	}
}

// isVmstatHeader reports whether a line is the second line of the heading, wide (-w) or not, with or without -a and
// -t.
func isVmstatHeader(fields []string) bool {
	return len(fields) >= 16 && fields[0] == "r" && fields[1] == "b" && fields[2] == "swpd" &&
		indexOf(fields, "cs") > 0 && indexOf(fields, "us") > 0
}

func indexOf(fields []string, name string) int {
	for i, f := range fields {
		if f == name {
			return i
		}
	}
	return -1
}

// vmstatColumns lists the columns that are reported. Memory and writes are states of the machine, not of a run.
var vmstatColumns = []struct {
	column, name, unit string
	better             bench.Direction
}{
	{"us", "cpu user", "%", bench.Neither},
	{"sy", "cpu system", "%", bench.Neither},
	{"id", "cpu idle", "%", bench.Neither},
	{"wa", "cpu iowait", "%", bench.LowerIsBetter},
	{"st", "cpu steal", "%", bench.LowerIsBetter},
	{"cs", switchRate, "1/s", bench.Neither},
	{"in", "interrupts per second", "1/s", bench.Neither},
	{"r", "runnable processes", "", bench.Neither},
}

func readVmstat(d *doc) ([]*bench.Set, error) {
	var header []string
	sums, n, first := []float64(nil), 0, true
	for at, line := range d.lines() {
		fields := strings.Fields(line)
		switch {
		case isVmstatHeader(fields):
			if header != nil && strings.Join(header, " ") != strings.Join(fields, " ") {
				return nil, fmt.Errorf("line %d: the columns change", at)
			}
			header = fields
			if sums == nil {
				sums = make([]float64, len(header))
			}
		case header == nil || len(fields) == 0 || strings.HasPrefix(fields[0], "procs") ||
			strings.HasPrefix(fields[0], "--"):
		default:
			row, ok := vmstatRow(fields, len(header))
			if !ok {
				return nil, malformedLine(at, "is not from vmstat")
			}
			if first {
				first = false // averages since boot
				continue
			}
			n++
			for i := range row {
				sums[i] += row[i]
			}
		}
	}
	s := newSheet(d)
	if n == 0 {
		d.note("vmstat printed only its first line: averages since boot")
		return s.onlySet()
	}
	run := s.begin("")
	mean := func(column string) (float64, bool) {
		i := indexOf(header, column)
		if i < 0 {
			return 0, false
		}
		return sums[i] / float64(n), true
	}
	us, _ := mean("us")
	sy, _ := mean("sy")
	s.add(run, bench.Metric{Name: cpuShare, Unit: "%"}, us+sy, bench.Neither)
	for _, c := range vmstatColumns {
		if x, ok := mean(c.column); ok {
			s.add(run, bench.Metric{Name: c.name, Unit: c.unit}, x, c.better)
		}
	}
	return s.onlySet()
}

// vmstatRow parses a line. It ignores the time that -t adds at the end.
func vmstatRow(fields []string, columns int) ([]float64, bool) {
	row := make([]float64, columns)
	if len(fields) < min(columns, 16) {
		return nil, false
	}
	for i := range min(columns, len(fields)) {
		x, ok := plainNumber(fields[i])
		if !ok {
			if i < 16 {
				return nil, false
			}
			continue
		}
		row[i] = x
	}
	return row, true
}
