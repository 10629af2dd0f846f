package read

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"

	"kitescope/profile/bench"
)

// goBenchmark reads the output of "go test -bench": https://golang.org/design/14313-benchmark-format.
func goBenchmark() format {
	return format{
		Format: Format{
			"go benchmark", "go test -bench: the n-th line of a benchmark is run n; keys (note: old) are sides",
		},
		sniff: func(d *doc) bool { return isGoBenchmark(d.head) },
		read:  readGoBenchmark,
	}
}

// isGoBenchmark reports whether a line begins like a result: "BenchmarkX  100  12.3 ns/op".
func isGoBenchmark(head string) bool {
	for line := range strings.Lines(head) {
		rest, ok := strings.CutPrefix(line, "Benchmark")
		if !ok {
			continue
		}
		fields := strings.Fields(rest)
		// A name alone on a line is a benchmark that printed something or did not finish.
		if len(fields) == 1 && fields[0] != "" || len(fields) >= 2 && isCount(fields[1]) {
			return true
		}
	}
	return false
}

func isCount(s string) bool { _, err := strconv.ParseUint(s, 10, 64); return err == nil }

// goResult is a result line. The name keeps the suffix with GOMAXPROCS ("-8"), because runs on 8 and on 16
// processors are not comparable. The suffix is not a number of clients.
type goResult struct {
	pkg, name string
	config    *goSettings
	values    []benchfmt.Value
}

func readGoBenchmark(d *doc) ([]*bench.Set, error) {
	results, units, err := scanGo(d)
	if err != nil {
		return nil, err
	}
	packages := map[string]bool{}
	for _, r := range results {
		packages[r.pkg] = true
	}
	varying := varyingConfig(results)
	all := sides{d: d}
	type counted struct{ side, of string }
	times := map[counted]int{}
	for _, r := range results {
		var config []string
		for _, key := range varying {
			config = append(config, key+"="+r.config.values[key])
		}
		side, of := strings.Join(config, " "), "Benchmark"+r.name
		if len(packages) > 1 && r.pkg != "" {
			of = r.pkg + "." + of
		}
		var setup *bench.Setup
		if d.o.Side { // NameSettings names settings that differ from the other side
			setup = &bench.Setup{Case: clean(of), Settings: r.config.distinguishing()}
			if side != "" {
				side, of = "", of+" "+side
			}
		}
		s, err := all.side(side)
		if err != nil {
			return nil, err
		}
		s.setup = setup
		times[counted{side, of}]++
		run := s.run(strconv.Itoa(times[counted{side, of}]))
		for _, v := range r.values {
			name, unit := goMetric(v.Unit)
			s.add(run, bench.Metric{Benchmark: of, Name: name, Unit: unit}, decimal(v.Value), goBetter(units, v.Unit))
		}
	}
	return all.sets()
}

// scanGo returns copies of the results, because benchfmt reuses its results for the next line.
func scanGo(d *doc) ([]goResult, benchfmt.UnitMetadataMap, error) {
	var results []goResult
	config := &goSettings{}
	reader := benchfmt.NewReader(bytes.NewReader(d.data), "")
	for reader.Scan() {
		switch r := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			d.skip("skipped a line that is not a result", fmt.Sprintf("line %d: %s", r.Line, r.Msg))
		case *benchfmt.Result:
			if len(results) >= maxValues {
				return nil, nil, fmt.Errorf("it has more than %d lines of results", maxValues)
			}
			config = goConfig(r, config)
			results = append(results, goResult{
				pkg: r.GetConfig("pkg"), name: r.Name.String(), config: config, values: slices.Clone(r.Values),
			})
		}
	}
	if err := reader.Err(); err != nil {
		return nil, nil, errors.New("a line is too long for a result of a Go benchmark")
	}
	return results, reader.Units(), nil
}

// goSettings holds the "key: value" lines above a result.
type goSettings struct{ values, cleaned map[string]string }

// distinguishing returns the settings that distinguish results.
func (g *goSettings) distinguishing() map[string]string {
	if g.cleaned == nil {
		g.cleaned = map[string]string{}
		for key, value := range g.values {
			if isDistinguishing(key) {
				g.cleaned[clean(key)] = clean(value)
			}
		}
	}
	return g.cleaned
}

// isDistinguishing reports whether a key distinguishes results. The package is handled elsewhere, and times are not
// settings.
func isDistinguishing(key string) bool {
	return key != "pkg" && !hasAny(wordsOf(key), " time ", " date ", " timestamp ", " run ", " upload ")
}

// goConfig returns the settings of a result, or before if its settings are equal.
func goConfig(r *benchfmt.Result, before *goSettings) *goSettings {
	const most = 100 // a dozen keys are usual
	config, same := &goSettings{values: map[string]string{}}, true
	for _, c := range r.Config[:min(len(r.Config), most)] {
		if c.File {
			config.values[c.Key] = string(c.Value)
			same = same && before.values[c.Key] == config.values[c.Key]
		}
	}
	if same && len(config.values) == len(before.values) {
		return before
	}
	return config
}

// varyingConfig returns the keys whose value is not the same in the whole file. Results with different values
// are different benchmarks, not repetitions.
func varyingConfig(results []goResult) []string {
	varies := map[string]bool{}
	for i := 1; i < len(results); i++ {
		a, b := results[i-1].config, results[i].config
		if a == b {
			continue
		}
		for _, keys := range []map[string]string{a.values, b.values} {
			for key := range keys {
				varies[key] = varies[key] || a.values[key] != b.values[key]
			}
		}
	}
	var keys []string
	for key, yes := range varies {
		if yes && isDistinguishing(key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// goMetric maps a benchmark unit, as tidied by benchunit, to a metric name and a unit of this package.
func goMetric(unit string) (name, stdUnit string) {
	switch unit {
	case "sec/op":
		return "time/op", "s"
	case "B/op":
		return "alloc/op", "B"
	case "allocs/op":
		return "allocs/op", ""
	case "B/s":
		return "speed", "B/s"
	}
	if isUnit(unit) {
		return unit, unit
	}
	// Custom metrics like "p99-ns", "ns/query" or "queries/s" include the metric name.
	if at := strings.LastIndexByte(unit, '-'); at > 0 && isUnit(unit[at+1:]) {
		return unit[:at], unit[at+1:]
	}
	if of, per, ok := strings.Cut(unit, "/"); ok && isUnit(of) {
		if of == "sec" {
			return "time/" + per, of
		}
		return unit, of
	}
	return unit, ""
}

// goBetter returns the direction from a "Unit" line, otherwise the usual direction of the unit.
func goBetter(units benchfmt.UnitMetadataMap, unit string) bench.Direction {
	switch units.GetBetter(unit) {
	case 1:
		return bench.HigherIsBetter
	case -1:
		return bench.LowerIsBetter
	}
	switch {
	case unit == "sec/op", unit == "B/op", unit == "allocs/op", strings.HasPrefix(unit, "sec/"):
		return bench.LowerIsBetter
	case strings.HasSuffix(unit, "/s"), strings.HasSuffix(unit, "/sec"):
		return bench.HigherIsBetter
	}
	return bench.Unknown
}
