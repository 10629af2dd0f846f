package read

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"kitescope/profile/bench"
)

// hyperfine reads the output of "hyperfine --export-json". Its fields are those of BenchmarkResult in
// https://github.com/sharkdp/hyperfine/blob/master/src/benchmark/benchmark_result.rs, in seconds and bytes.
func hyperfine() format {
	return format{
		Format: Format{"hyperfine", "hyperfine --export-json: each time is a run; two commands are two sides"},
		sniff:  func(d *doc) bool { return has(d.object, "results") && isHyperfine(d) },
		read:   readHyperfine,
	}
}

type hyperfineFile struct {
	Results []hyperfineResult `json:"results"`
}

type hyperfineResult struct {
	Command    string            `json:"command"`
	Mean       *float64          `json:"mean"`
	User       *float64          `json:"user"`
	System     *float64          `json:"system"`
	Times      []float64         `json:"times"`
	Memory     []float64         `json:"memory_usage_byte"`
	ExitCodes  []*int            `json:"exit_codes"`
	Parameters map[string]string `json:"parameters"`
}

// isHyperfine distinguishes hyperfine results from other files with a "results" key.
func isHyperfine(d *doc) bool {
	return strings.HasPrefix(strings.TrimSpace(string(d.object["results"])), "[") &&
		strings.Contains(d.head, `"command"`)
}

func readHyperfine(d *doc) ([]*bench.Set, error) {
	var file hyperfineFile
	if err := d.decode(&file); err != nil {
		return nil, err
	}
	if len(file.Results) > maxRuns {
		return nil, fmt.Errorf("it has more than %d commands", maxRuns)
	}
	commands := map[string]int{}
	for _, r := range file.Results {
		commands[r.Command]++
	}
	if d.o.Side && len(file.Results) > 1 {
		s := newSheet(d)
		for _, r := range file.Results {
			r.addTo(s, r.name(commands))
		}
		return s.onlySet()
	}
	var sets []*bench.Set
	for _, r := range file.Results {
		s := newSheet(d)
		r.addTo(s, "")
		if s.err != nil {
			return nil, s.err
		}
		if len(file.Results) > 1 {
			s.set.Name = clean(r.name(commands))
		}
		sets = append(sets, s.set)
	}
	return sets, nil
}

// name returns the command followed by its parameters. It omits a parameter whose value is in the command,
// unless several results have the same command: a command name set by the user does not necessarily show the
// parameters.
func (r *hyperfineResult) name(commands map[string]int) string {
	words := strings.FieldsFunc(r.Command, func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '.'
	})
	hidden := maps.Clone(r.Parameters)
	maps.DeleteFunc(hidden, func(_, value string) bool {
		return commands[r.Command] == 1 &&
			(slices.Contains(words, value) || strings.Contains(" "+r.Command+" ", " "+value+" "))
	})
	return r.Command + settings(hidden)
}

// settings formats parameters sorted by name, each preceded by a blank.
func settings(params map[string]string) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(params)) {
		b.WriteString(" " + key + "=" + params[key])
	}
	return b.String()
}

func (r *hyperfineResult) addTo(s *sheet, benchmark string) {
	elapsed := bench.Metric{Benchmark: benchmark, Name: "time", Unit: "s"}
	if len(r.Times) == 0 && r.Mean != nil {
		s.d.skip("it has only the mean of all runs: one value", r.Command)
		s.add(s.run("mean"), elapsed, *r.Mean, bench.LowerIsBetter)
	}
	failed := 0
	for i, t := range r.Times {
		run := s.run(strconv.Itoa(i + 1))
		s.add(run, elapsed, t, bench.LowerIsBetter)
		if i < len(r.Memory) {
			s.add(run, bench.Metric{Benchmark: benchmark, Name: "peak memory", Unit: "B"}, r.Memory[i],
				bench.LowerIsBetter)
		}
		if i < len(r.ExitCodes) && (r.ExitCodes[i] == nil || *r.ExitCodes[i] != 0) {
			failed++
		}
	}
	if failed > 0 {
		s.d.note(fmt.Sprintf("%d of %d runs of %q ended with an error and were timed anyway", failed, len(r.Times),
			clean(r.Command)))
	}
	// User and system time are means over all runs, so they belong to a run only if there is exactly one.
	if len(r.Times) == 1 && r.User != nil && r.System != nil {
		s.add(0, bench.Metric{Benchmark: benchmark, Name: "cpu time", Unit: "s"}, *r.User+*r.System,
			bench.LowerIsBetter)
	}
}
