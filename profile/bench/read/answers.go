package read

import (
	"fmt"

	"kitescope/profile/bench"
)

// What load generators call requests that went wrong: those without an answer, and answers that say so.
const (
	unanswered = "failed requests"
	badAnswers = "non-2xx responses"
)

// answered counts the requests of one run and those whose answer was an error.
type answered struct{ all, bad float64 }

// note warns of a rate that is one of errors: a server that says no at once is the fastest of all.
func (a answered) note(s *sheet, run int) {
	const few = 0.01
	if run >= 0 && a.bad > few*a.all {
		s.d.skip("answers were errors, and the rate and the times are of those too", fmt.Sprintf("run %s: %.0f of %.0f", s.set.Runs[run].Name, a.bad, a.all))
	}
}

// none adds a count that a program prints only if it is not 0, to a run that is known to be complete so far.
func (s *sheet) none(run int, m bench.Metric) {
	if run >= 0 && !s.has(run, m) {
		s.add(run, m, 0, bench.LowerIsBetter)
	}
}

// fail makes a run one that failed.
func (s *sheet) fail(run int, why string) {
	if run >= 0 {
		r := &s.set.Runs[run]
		r.Values, r.Failed = nil, why
	}
}
