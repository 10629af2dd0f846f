package main

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kitescope/tools/bench/document"
)

// samples holds the values of benchmarks by name and unit, one value per round.
type samples map[figure][]float64

type figure struct{ bench, unit string }

// read parses the output of a test program and adds its values.
func (s samples) read(text string) error {
	for scan := bufio.NewScanner(strings.NewReader(text)); scan.Scan(); {
		fields := strings.Fields(scan.Text())
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name := fields[0]
		if i := strings.LastIndexByte(name, '-'); i > 0 { // GOMAXPROCS
			name = name[:i]
		}
		for i := 2; i+1 < len(fields); i += 2 {
			v, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return fmt.Errorf("read %q: %w", scan.Text(), err)
			}
			key := figure{name, fields[i+1]}
			s[key] = append(s[key], v)
		}
	}
	return nil
}

// line is one row of the table: a value, its unit in print, and its bar.
type line struct {
	what, bench, unit string
	scale             float64
	print             string
	bar               float64 // 0: no bar
}

func lines() []line {
	return []line{
		{"first run of all checks: CPU", "BenchmarkRun/first", "cpu-ms/op", 1e-3, "%.2f s", 0.5},
		{"first run of all checks: wall", "BenchmarkRun/first", "ns/op", 1e-9, "%.2f s", 0},
		{"rerun after one change: CPU", "BenchmarkRun/again", "cpu-ms/op", 1, "%.1f ms", 0},
		{"rerun after one change: wall", "BenchmarkRun/again", "ns/op", 1e-6, "%.1f ms", 50},
		{"rerun after new responses of all processes: CPU", "BenchmarkRun/asked", "cpu-ms/op", 1, "%.1f ms", 0},
		{"rerun after new responses of all processes: wall", "BenchmarkRun/asked", "ns/op", 1e-6, "%.1f ms", 0},
	}
}

type report struct {
	machine string
	found   samples
}

// markdown returns the table. It returns an error if a benchmark did not report an expected value, because an
// empty row would look like one without a bar.
func (r *report) markdown() (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured by `make bench-diagnose` on %s.\nMedian of the rounds, minimum and maximum in "+
		"brackets.\n\n", r.machine)
	b.WriteString("| operation | time | target | |\n|---|---|---|---|\n")
	for _, x := range lines() {
		list := slices.Clone(r.found[figure{x.bench, x.unit}])
		if len(list) == 0 {
			return "", fmt.Errorf("%s did not report %s", x.bench, x.unit)
		}
		slices.SortFunc(list, cmp.Compare[float64])
		value := func(i int) float64 { return list[i] * x.scale }
		middle := len(list) / 2
		asked, result := "", ""
		if x.bar > 0 {
			asked, result = fmt.Sprintf(x.print, x.bar), document.Verdict(value(middle) <= x.bar)
		}
		fmt.Fprintf(&b, "| %s | "+x.print+" ("+x.print+" to "+x.print+") | %s | %s |\n", x.what, value(middle),
			value(0), value(len(list)-1), asked, result)
	}
	return b.String(), nil
}
