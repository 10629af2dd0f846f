// Package bench holds results of benchmarks, and says what changed between two sets of them, and what
// of it chance alone would do.
//
// What enters is Sets of Runs, which profile/bench/read reads of the files of many programs, or
// profile/trial measures; what leaves is a Comparison: for each metric the change, how sure it is,
// and a verdict, for package render.
//
//  1. A Set is one side: runs that measured the same thing, each with some values.
//  2. Compare pairs what belongs together, tests each metric, and corrects for how many there are.
package bench

import (
	"fmt"
	"strings"
)

// Direction says which of two values of a metric is the better one.
type Direction int8

// The directions.
const (
	Unknown Direction = iota
	LowerIsBetter
	HigherIsBetter
	// Neither is of what describes a run, such as the number of queries.
	Neither
)

// Metric is what was measured. Two values may be compared if their Metrics are equal.
type Metric struct {
	// Of is what was run, "" if there is only one thing: "BenchmarkEncode/large", "search k=10".
	Of string
	// Name is the figure's: "QPS", "p99 latency", "cpu per query".
	Name string
	// Unit is of values as they are kept, without a prefix: "s", "B", "1/s", "%", "" for a plain number.
	Unit string
	// Concurrency is how many clients ran at a time, 0 if the file does not say or it is all the same.
	Concurrency int
}

// String is how a person calls it: "search k=10: p99 latency, 8 clients".
func (m Metric) String() string {
	var b strings.Builder
	if m.Of != "" {
		b.WriteString(m.Of + ": ")
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

// names are what a user may call it, the most exact first: in full, without the number of clients, by the figure alone.
func (m Metric) names() []string { return []string{m.String(), m.Of + ": " + m.Name, m.Name} }

// Said is the direction that a user gave a metric, by one of its names: "search k=10: p99 latency, 8 clients",
// "search k=10: p99 latency" or "p99 latency".
func Said(better map[string]Direction, m Metric) (Direction, bool) {
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
	// Load is the load that was set and is not part of the Metric, "" if none is known: "target_throughput=100". Values
	// measured under different loads are not judged.
	Load string
	// Setup is what was run, if its settings are known.
	Setup *Setup
}

// Run is one independent measurement: a start of the program, not a request of many.
type Run struct {
	// Name tells it from others of its Set: a file, "3", an id.
	Name string
	// Pair names what it was run together with on the other side, "" if it was not: runs of both Sets
	// with the same Pair were made one after the other under the same conditions.
	Pair   string
	Values []Value
	// Failed is why there are no values; "" if it went well. Such a run is counted and not compared.
	Failed string
}

// Set is one side of a comparison.
type Set struct {
	// Name is what a person calls it: "before", a file, a folder.
	Name string
	// Format is the reader's word: "go benchmark", "hyperfine".
	Format string
	Runs   []Run
	// Notes are what the reader found odd and went on.
	Notes []string
}
