// Package report computes tables from profiles: where the time goes, what changed, and which node differs.
//
// What enters are Profiles and Options; what leaves are tables of typed numbers, without layout.
//
//  1. Options choose the sample type, a filter and what samples are added up by.
//  2. NewTop works on one Profile, NewComparison on two, NewNodes on those of several processes at one time, NewGrowth on
//     dumps of goroutines, NewWaits on a mutex profile.
package report

import (
	"math"
	"time"

	"kitescope/profile"
)

// Options say what is added up. The zero Options are pprof's defaults: the profile's default
// type, by function.
type Options struct {
	// SampleIndex names a type ("cpu", "inuse_space") or is its number; "" is the default type.
	SampleIndex string
	By          profile.By
	Filter      profile.Filter
	// SortCum orders by cum instead of flat.
	SortCum bool
	// FoldPreempt counts runtime.asyncPreempt leaves for the function that was preempted.
	FoldPreempt bool
}

// Header is what a table is of.
type Header struct {
	Origin profile.Origin
	Type   profile.ValueType
	// Total is what percentages refer to, in the type's unit, and Samples how many events were
	// sampled: the sum of samples/count, or of values over the period. -1: unknown, as of heap profiles.
	Total, Samples int64
	Time           time.Time
	Duration       time.Duration
	BuildIDs       []string
	Notes          []profile.Note
}

// Entry is one line of a table.
type Entry struct {
	// Function is the name, of whatever it is added up by.
	Function  string
	File      string
	Class     profile.Class
	Flat, Cum int64
	// FlatSamples and CumSamples are events, -1 if unknown.
	FlatSamples, CumSamples int64
}

// Top is where the time goes, largest first: all entries, however small.
type Top struct {
	Header
	Entries []Entry
}

// Percent is a value in percent of the total, 0 where the total is 0.
func (h *Header) Percent(value int64) float64 {
	if h.Total == 0 {
		return 0
	}
	return 100 * float64(value) / float64(h.Total)
}

// Verdict says what a difference is worth.
type Verdict uint8

// Verdicts.
const (
	// Undecided: the counts are unknown, so nothing can be said of significance.
	Undecided Verdict = iota
	// Noise: two samplings of the same program could differ as much.
	Noise
	// More and Less: they could not.
	More
	Less
)

var verdictNames = [...]string{"undecided", "noise", "more", "less"}

func (v Verdict) String() string { return verdictNames[v] }

// Comparison is what changed between two Profiles of one kind.
type Comparison struct {
	Base, New Header
	Type      profile.ValueType
	// Total is what percentages refer to: the base's total, as with pprof's -diff_base; where that is 0, the sum of absolute
	// differences, and OfBase is false.
	Total  int64
	OfBase bool
	// Factor is what the new values were multiplied by: 1 unless Normalized.
	Normalized bool
	Factor     float64
	// Hypothesis is what was tested, and Level the chance of a wrong verdict over all entries.
	Hypothesis Hypothesis
	Level      float64
	Changes    []Change
}

// Change is how much one entry changed.
type Change struct {
	Entry // Flat and Cum are new minus base, as pprof prints them
	// Before and After are the values of each; After is normalized where that was asked for.
	FlatBefore, FlatAfter, CumBefore, CumAfter int64
	// The same in events, never normalized; -1 if unknown.
	FlatEventsBefore, FlatEventsAfter, CumEventsBefore, CumEventsAfter int64
	// FlatP and CumP are the chances of as large a change of this entry under Comparison.Hypothesis.
	// The corrected ones, which verdicts follow from at its Level, are the chances of any such among
	// the entries that were compared. NaN if undecided.
	FlatP, CumP                   float64
	FlatCorrectedP, CumCorrectedP float64
	FlatVerdict, CumVerdict       Verdict
}

// CompareOptions say how two Profiles are compared.
type CompareOptions struct {
	Options
	// Normalize scales the new profile's total to the base's first, as pprof's -normalize.
	Normalize bool
}

// Mismatch is two profiles that cannot be compared, and what to do.
type Mismatch struct{ What, Advice string } //nolint:errname // what it is, and not that it is an error

func (m *Mismatch) Error() string { return m.What }

// Hint implements hints.Hinter.
func (m *Mismatch) Hint() string { return m.Advice }

// VerdictOf says what a change is worth, by the corrected p value of it.
func VerdictOf(p, level, change float64) Verdict {
	switch {
	case math.IsNaN(p):
		return Undecided
	case p >= level || change == 0:
		return Noise
	case change > 0:
		return More
	}
	return Less
}
