// Package bench holds benchmark results and compares two sets of them.
//
// Sets of Runs come from profile/bench/read, which reads the files of many programs, or from profile/trial,
// which measures. Compare returns a Comparison for package render. For each metric it has the change, its
// confidence interval and p-value, and a verdict.
//
//  1. A Set is one side: runs that measured the same thing, each with some values.
//  2. Compare pairs runs, tests each metric, and corrects the p-values for the number of metrics.
package bench

import (
	"fmt"
	"strings"
)

// Direction is the direction in which a metric improves.
type Direction int8

// The directions.
const (
	Unknown Direction = iota
	LowerIsBetter
	HigherIsBetter
	// Neither is for values that describe a run, such as the number of queries.
	Neither
)

// Metric identifies a measured figure. Two values may be compared if their Metrics are equal.
type Metric struct {
	// Benchmark is the benchmark, e.g. "BenchmarkEncode/large" or "search k=10"; "" if there is only one.
	Benchmark string
	// Name is the name of the figure, e.g. "QPS", "p99 latency" or "cpu per query".
	Name string
	// Unit is the unit of values as stored, without a prefix: "s", "B", "1/s", "%", or "" for a plain number.
	Unit string
	// Concurrency is the number of concurrent clients; 0 if unknown, or if it is the same for all values.
	Concurrency int
}

// String returns the display name, e.g. "search k=10: p99 latency, 8 clients".
func (m Metric) String() string {
	var b strings.Builder
	if m.Benchmark != "" {
		b.WriteString(m.Benchmark + ": ")
	}
	b.WriteString(m.Name)
	switch {
	case m.Concurrency == 1:
		b.WriteString(", 1 client")
	case m.Concurrency > 1:
		fmt.Fprintf(&b, ", %d clients", m.Concurrency)
	}
	return b.String()
}

// names returns the names that a user may give, most specific first: the full name, the name without clients,
// and the figure alone.
func (m Metric) names() []string { return []string{m.String(), m.Benchmark + ": " + m.Name, m.Name} }

// DirectionFor returns the direction that the user set in better for a metric, by one of its names: "search k=10: p99
// latency, 8 clients", "search k=10: p99 latency" or "p99 latency".
func DirectionFor(better map[string]Direction, m Metric) (Direction, bool) {
	if len(better) > 0 {
		for _, name := range m.names() {
			if d, ok := better[name]; ok {
				return d, true
			}
		}
	}
	return Unknown, false
}

// Value is one measured figure.
type Value struct {
	Metric
	Better Direction
	X      float64
	// Load is the load set for the run if it is not part of the Metric, e.g. "target_throughput=100"; "" if
	// unknown. Values measured under different loads are not judged.
	Load string
	// Setup is the benchmark and its settings, if known.
	Setup *Setup
}

// Run is one independent measurement: a start of the program, not one request of many.
type Run struct {
	// Name identifies the run within its Set, e.g. a file, "3" or an id.
	Name string
	// Pair identifies the conditions of the run; "" if it is not paired. Runs of both Sets with the same Pair
	// were made one after the other under the same conditions.
	Pair   string
	Values []Value
	// Failed is the reason why the run has no values, or "" for success. Failed runs are counted and not
	// compared.
	Failed string
}

// Set is one side of a comparison.
type Set struct {
	// Name is the display name, e.g. "before", a file or a folder.
	Name string
	// Format is the name of the file format, e.g. "go benchmark" or "hyperfine".
	Format string
	Runs   []Run
	// Notes lists oddities that did not stop the reader.
	Notes []string
}
