package bench

// Options say how two sets are compared.
type Options struct {
	// Level is the chance, over all metrics together, of calling noise a change: 0.05 if 0.
	Level float64
	// Effect is the least change that counts, as a share: 0.01 if 0; negative: any.
	Effect float64
	// Pairing says which runs belong together.
	Pairing Pairing
	// Control are two sets of runs of the first program, compared as if it had changed; nil: none. What it differs from itself by
	// is not called a change of the other.
	Control [2]*Set
	// Better overrides directions, by a name of a metric (Said).
	Better map[string]Direction
}

// Pairing says which runs belong together.
type Pairing uint8

// The pairings.
const (
	// ByName pairs runs whose Pair is equal, and tests unpaired where there are none.
	ByName Pairing = iota
	// ByOrder pairs the first with the first: the user says that they were made so.
	ByOrder
	// Unpaired pairs nothing.
	Unpaired
)

// Verdict is what a metric's change comes to.
type Verdict uint8

// The verdicts.
const (
	// TooFew: with so few runs no change, however large, would be one.
	TooFew Verdict = iota
	// NoDifference says that none was shown, not that there is none.
	NoDifference
	Better
	Worse
	// Changed is a change of a metric of which nothing says which direction is better.
	Changed
	// OneSide: the other side does not have it.
	OneSide
	// NotJudged is of what describes a run and is neither good nor bad, or was measured under different loads.
	NotJudged
)

var verdictNames = [...]string{"too few runs", "no difference shown", "better", "worse", "changed", "one side only", "not judged"}

func (v Verdict) String() string { return verdictNames[v] }

// IsChange reports whether a difference was shown.
func (v Verdict) IsChange() bool { return v == Better || v == Worse || v == Changed }

// Comparison is what changed from A to B.
type Comparison struct {
	A, B   *Set
	Paired bool
	Level  float64
	// Effect is the least change that counts, as a share; 0: any.
	Effect float64
	// Lines are one for each metric, in the order of the files.
	Lines []Line
	// Control is the comparison of the control with itself; nil if there is none.
	Control *Comparison
	// Failed are runs without values, of each side; Unmatched those without a partner, where runs are paired.
	Failed, Unmatched [2]int
	// Notes are about the whole: what was not compared, and why.
	Notes []string
}

// Line is one metric, before and after.
type Line struct {
	Metric
	Better Direction
	// A and B are the values by run; where the Comparison is Paired, A[i] belongs to B[i].
	A, B []float64
	// Before and After are medians; NaN where there are no values.
	Before, After float64
	// Ratio is the median of After/Before, by pairs where there are pairs, and Low and High its 95% interval;
	// NaN where it is unknown. A ratio of 1.02 is a change of +2%. It is the estimate that belongs to the test (Hodges and Lehmann),
	// so it need not be that of the two medians. It is 1 where both are 0, and infinite where only Before is.
	Ratio, Low, High float64
	// P is the chance of such a difference without a change, Corrected that over all metrics; NaN if unknown.
	P, Corrected float64
	// Test is "Wilcoxon signed-rank" or "Mann-Whitney", "" if there was none.
	Test    string
	Verdict Verdict
	// Remark explains the verdict, "" if there is nothing to explain: "needs at least 6 pairs".
	Remark string
}
