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

// goBenchmark is what "go test -bench" prints: https://golang.org/design/14313-benchmark-format.
func goBenchmark() format {
	return format{
		Format: Format{"go benchmark", "go test -bench: the n-th line of a benchmark is run n; keys (note: old) are sides"},
		sniff:  func(d *doc) bool { return isGoBenchmark(d.head) },
		read:   readGoBenchmark,
	}
}

// isGoBenchmark looks for a line that begins as a result does: "BenchmarkX  100  12.3 ns/op".
func isGoBenchmark(head string) bool {
	for line := range strings.Lines(head) {
		rest, ok := strings.CutPrefix(line, "Benchmark")
		if !ok {
			continue
		}
		fields := strings.Fields(rest)
		// A name alone begins a benchmark that prints something, or did not end.
		if len(fields) == 1 && fields[0] != "" || len(fields) >= 2 && isCount(fields[1]) {
			return true
		}
	}
	return false
}

func isCount(s string) bool { _, err := strconv.ParseUint(s, 10, 64); return err == nil }

// goResult is a line of a result. The name keeps the processors that end it ("-8"): a run on 8 is not to be compared with
// one on 16, and neither is a number of clients.
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
			config = append(config, key+"="+r.config.of[key])
		}
		side, of := strings.Join(config, " "), "Benchmark"+r.name
		if len(packages) > 1 && r.pkg != "" {
			of = r.pkg + "." + of
		}
		var setup *bench.Setup
		if d.o.Side { // a setting that differs from the other side is named there
			setup = &bench.Setup{Of: clean(of), Settings: r.config.shown()}
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
			s.add(run, bench.Metric{Of: of, Name: name, Unit: unit}, decimal(v.Value), goBetter(units, v.Unit))
		}
	}
	return all.sets()
}

// scanGo takes a copy of what benchfmt reads, which is its own until the next line.
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
			results = append(results, goResult{pkg: r.GetConfig("pkg"), name: r.Name.String(), config: config, values: slices.Clone(r.Values)})
		}
	}
	if err := reader.Err(); err != nil {
		return nil, nil, errors.New("a line is too long for a result of a Go benchmark")
	}
	return results, reader.Units(), nil
}

// goSettings are the "key: value" lines above a result, each key with its value.
type goSettings struct{ of, cleaned map[string]string }

// shown returns the settings that tell results apart.
func (g *goSettings) shown() map[string]string {
	if g.cleaned == nil {
		g.cleaned = map[string]string{}
		for key, value := range g.of {
			if tellsApart(key) {
				g.cleaned[clean(key)] = clean(value)
			}
		}
	}
	return g.cleaned
}

// tellsApart reports whether a key is a setting: the package has a place of its own, and a time says nothing.
func tellsApart(key string) bool {
	return key != "pkg" && !hasAny(wordsOf(key), " time ", " date ", " timestamp ", " run ", " upload ")
}

// goConfig are the settings of a result: those before it, where they are the same.
func goConfig(r *benchfmt.Result, before *goSettings) *goSettings {
	const most = 100 // a dozen keys are usual
	config, same := &goSettings{of: map[string]string{}}, true
	for _, c := range r.Config[:min(len(r.Config), most)] {
		if c.File {
			config.of[c.Key] = string(c.Value)
			same = same && before.of[c.Key] == config.of[c.Key]
		}
	}
	if same && len(config.of) == len(before.of) {
		return before
	}
	return config
}

// varyingConfig are the keys that do not have the same value all through the file: results with different values are
// different things that were measured, and no repetition.
func varyingConfig(results []goResult) []string {
	varies := map[string]bool{}
	for i := 1; i < len(results); i++ {
		a, b := results[i-1].config, results[i].config
		if a == b {
			continue
		}
		for _, keys := range []map[string]string{a.of, b.of} {
			for key := range keys {
				varies[key] = varies[key] || a.of[key] != b.of[key]
			}
		}
	}
	var keys []string
	for key, yes := range varies {
		if yes && tellsApart(key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// goMetric gives a unit of a benchmark, as benchunit tidied it, a name and a unit of ours.
func goMetric(unit string) (name, kept string) {
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
	// Custom metrics are "p99-ns", "ns/query", "queries/s": what is measured is in the name.
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

// goBetter is what a "Unit" line says, else what everybody knows.
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
