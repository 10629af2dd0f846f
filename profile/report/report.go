// Package report computes tables from profiles: where the time goes, what changed, and which node differs. The
// tables hold typed numbers, without layout.
//
//  1. Options select the sample type, a filter and the granularity.
//  2. NewTop reports on one Profile, and NewComparison on two. NewNodes compares processes at the same time,
//     NewGrowth compares goroutine dumps, and NewWaits reads a mutex profile.
package report

import (
	"math"
	"time"

	"kitescope/profile"
)

// Options configures the aggregation. The zero Options are pprof's defaults: the profile's default type, by
// function.
type Options struct {
	// SampleIndex is the name of a type ("cpu", "inuse_space") or its number. "" is the default type.
	SampleIndex string
	By          profile.Granularity
	Filter      profile.Filter
	// SortCum sorts by cum instead of flat.
	SortCum bool
	// FoldPreempt attributes runtime.asyncPreempt leaves to the preempted function.
	FoldPreempt bool
}

// Header describes the profile of a table.
type Header struct {
	Origin profile.Origin
	Type   profile.ValueType
	// Total is the value of 100 %, in the type's unit. Samples is the number of sampled events: the sum of
	// samples/count, or of values divided by the period. It is -1 if unknown, as for heap profiles.
	Total, Samples int64
	Time           time.Time
	Duration       time.Duration
	BuildIDs       []string
	Notes          []profile.Note
}

// Entry is a line of a table.
type Entry struct {
	// Function is the name at the chosen granularity, e.g. of a function or a package.
	Function  string
	File      string
	Class     profile.Class
	Flat, Cum int64
	// FlatSamples and CumSamples are numbers of events, -1 if unknown.
	FlatSamples, CumSamples int64
}

// Top is a table of all entries, largest first, however small.
type Top struct {
	Header
	Entries []Entry
}

// Percent returns value in percent of the total, 0 if the total is 0.
func (h *Header) Percent(value int64) float64 {
	if h.Total == 0 {
		return 0
	}
	return 100 * float64(value) / float64(h.Total)
}

// Verdict is the statistical conclusion on a difference.
type Verdict uint8

// Verdicts.
const (
	// Undecided: the number of events is unknown, so significance cannot be tested.
	Undecided Verdict = iota
	// Noise: the difference is within sampling noise.
	Noise
	// Increased and Decreased: the difference is significant.
	Increased
	Decreased
)

var verdictNames = [...]string{"undecided", "noise", "more", "less"}

func (v Verdict) String() string { return verdictNames[v] }

// Comparison holds the changes between two Profiles of the same kind.
type Comparison struct {
	Base, New Header
	Type      profile.ValueType
	// Total is the value of 100 %: the total of the base, as with pprof's -diff_base. If the base's total is 0,
	// it is the sum of absolute differences, and OfBase is false.
	Total  int64
	OfBase bool
	// Factor is the factor that was applied to the new values. It is 1 unless Normalized is set.
	Normalized bool
	Factor     float64
	// Hypothesis is the null hypothesis, and Level the probability of a wrong verdict over all entries.
	Hypothesis Hypothesis
	Level      float64
	Changes    []Change
}

// Change is the change of an entry.
type Change struct {
	Entry // Flat and Cum are new minus base, as printed by pprof
	// Before and After are the values of each side. After is normalized if Comparison.Normalized is set.
	FlatBefore, FlatAfter, CumBefore, CumAfter int64
	// FlatEventsBefore and the other fields are event counts, never normalized; -1 if unknown.
	FlatEventsBefore, FlatEventsAfter, CumEventsBefore, CumEventsAfter int64
	// FlatP and CumP are the p-values of this entry's change under Comparison.Hypothesis. The corrected values
	// account for the number of compared entries, and give the verdicts at Comparison.Level. All are NaN if
	// undecided.
	FlatP, CumP                   float64
	FlatCorrectedP, CumCorrectedP float64
	FlatVerdict, CumVerdict       Verdict
}

// CompareOptions configures a comparison of two Profiles.
type CompareOptions struct {
	Options
	// Normalize first scales the new profile to the base's total, like pprof's -normalize.
	Normalize bool
}

// Mismatch is the error for two profiles that cannot be compared, with advice.
type Mismatch struct{ What, Advice string } //nolint:errname // what it is, and not that it is an error

func (m *Mismatch) Error() string { return m.What }

// Hint implements hints.Hinter.
func (m *Mismatch) Hint() string { return m.Advice }

// VerdictOf returns the verdict on a change with the given corrected p-value.
func VerdictOf(p, level, change float64) Verdict {
	switch {
	case math.IsNaN(p):
		return Undecided
	case p >= level || change == 0:
		return Noise
	case change > 0:
		return Increased
	}
	return Decreased
}
