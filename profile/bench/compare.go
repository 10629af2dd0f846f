package bench

// Options control how two sets are compared.
type Options struct {
	// Level is the probability, over all metrics together, of reporting noise as a change; 0 means 0.05.
	Level float64
	// Effect is the smallest change that counts, as a share; 0 means 0.01, and a negative value means any change.
	Effect float64
	// Pairing selects which runs are paired.
	Pairing Pairing
	// Control holds two sets of runs of the first program, which are compared to measure the noise; both are
	// nil without a control. A change is reported only if its whole interval exceeds the change of the control.
	Control [2]*Set
	// Better overrides directions, by a name of a metric (see DirectionFor).
	Better map[string]Direction
}

// Pairing selects which runs are paired.
type Pairing uint8

// The pairings.
const (
	// ByName pairs runs with equal Pair. Without such runs, the test is unpaired.
	ByName Pairing = iota
	// ByOrder pairs runs by their position. The user asserts that they were made in this order.
	ByOrder
	// Unpaired does not pair runs.
	Unpaired
)

// Verdict is the result of comparing a metric.
type Verdict uint8

// The verdicts.
const (
	// TooFew means that there are so few runs that no change, however large, would be significant.
	TooFew Verdict = iota
	// NoDifference means that no difference was shown. A difference may still exist.
	NoDifference
	Better
	Worse
	// Changed means that the metric changed and the better direction is unknown.
	Changed
	// OneSide means that only one side has the metric.
	OneSide
	// NotJudged is for metrics that describe a run and are neither good nor bad, or were measured under different
	// loads.
	NotJudged
)

var verdictNames = [...]string{
	"too few runs", "no difference shown", "better", "worse", "changed", "one side only", "not judged",
}

func (v Verdict) String() string { return verdictNames[v] }

// IsChange reports whether a difference was shown.
func (v Verdict) IsChange() bool { return v == Better || v == Worse || v == Changed }

// Comparison is the result of comparing A with B.
type Comparison struct {
	A, B   *Set
	Paired bool
	Level  float64
	// Effect is the smallest change that counts, as a share; 0 means any change.
	Effect float64
	// Lines has one element for each metric, in the order of the files.
	Lines []Line
	// Control is the comparison of the two sets of the control; nil without a control.
	Control *Comparison
	// Failed counts the runs without values of each side. Unmatched counts those without a partner, if runs are
	// paired.
	Failed, Unmatched [2]int
	// Notes apply to the whole comparison, e.g. the values that were not compared, and the reason.
	Notes []string
}

// Line is the comparison of a metric.
type Line struct {
	Metric
	Better Direction
	// A and B are the values by run. If the Comparison is Paired, A[i] and B[i] are a pair.
	A, B []float64
	// Before and After are the medians, or NaN without values.
	Before, After float64
	// Ratio is the median of After/Before, by pairs if there are pairs, and Low and High are its 95% interval. They
	// are NaN if unknown. A ratio of 1.02 is a change of +2%. The estimate belongs to the test (Hodges and Lehmann),
	// so it may differ from the ratio of the medians. It is 1 if both are 0, and infinite if only Before is 0.
	Ratio, Low, High float64
	// P is the p-value of the difference, and Corrected is P corrected for all metrics; NaN if unknown.
	P, Corrected float64
	// Test is "Wilcoxon signed-rank" or "Mann-Whitney", or "" without a test.
	Test    string
	Verdict Verdict
	// Remark explains the verdict, e.g. "needs at least 6 pairs"; "" if no explanation is needed.
	Remark string
}
