package read

import (
	"math"
	"strconv"

	"kitescope/internal/hints"
	"kitescope/profile/bench"
)

// sheet builds one Set within the limits.
type sheet struct {
	d       *doc
	set     *bench.Set
	metrics map[bench.Metric]bool
	runs    map[string]int
	// filled holds the metrics of each run.
	filled []map[bench.Metric]bool
	// load and setup belong to the values being added.
	load  string
	setup *bench.Setup
	err   error
}

func newSheet(d *doc) *sheet {
	return &sheet{d: d, set: &bench.Set{}, metrics: map[bench.Metric]bool{}, runs: map[string]int{}}
}

// run returns the index of a run by its name, and begins the run if it does not exist. It returns -1 if there
// are too many runs.
func (s *sheet) run(name string) int {
	name = clean(name)
	if at, ok := s.runs[name]; ok {
		return at
	}
	return s.begin(name)
}

// begin begins a run and returns its index, or -1 if there are too many runs.
func (s *sheet) begin(name string) int {
	if len(s.set.Runs) >= maxRuns {
		s.err = hints.Errorf("is each line a run, and not a request?", "it has more than %d runs", maxRuns)
		return -1
	}
	if name == "" {
		name = strconv.Itoa(len(s.set.Runs) + 1)
	}
	at := len(s.set.Runs)
	s.runs[name] = at
	s.set.Runs = append(s.set.Runs, bench.Run{Name: name})
	s.filled = append(s.filled, map[bench.Metric]bool{})
	return at
}

// add adds a value to a run, in the unit of the file.
func (s *sheet) add(run int, m bench.Metric, x float64, better bench.Direction) {
	if run < 0 || s.err != nil {
		return
	}
	m.Benchmark, m.Name = clean(m.Benchmark), clean(m.Name)
	x, m.Unit = normalize(x, clean(m.Unit))
	switch {
	case m.Name == "":
		s.d.skip("a figure without a name was left out", "run "+s.set.Runs[run].Name)
		return
	case math.IsNaN(x) || math.IsInf(x, 0):
		s.d.skip("a figure that is not a finite number was left out", m.String())
		return
	case s.filled[run][m]:
		s.d.skip("a duplicate figure of a run was left out", m.String())
		return
	}
	if !s.metrics[m] && len(s.metrics) >= maxMetrics {
		s.err = hints.Errorf("is it a result of a benchmark?", "it has more than %d metrics", maxMetrics)
		return
	}
	if s.d.values++; s.d.values > maxValues {
		s.err = hints.Errorf("is it a result of a benchmark?", "it has more than %d figures", maxValues)
		return
	}
	s.metrics[m], s.filled[run][m] = true, true
	if better == bench.Unknown {
		better = direction(m)
	}
	r := &s.set.Runs[run]
	r.Values = append(r.Values, bench.Value{Metric: m, Better: better, X: x, Load: s.load, Setup: s.setup})
}

// has reports whether a run has a metric, given as stored.
func (s *sheet) has(run int, m bench.Metric) bool { return run >= 0 && s.filled[run][m] }

// sides holds the sheets of a file with several sides, in the order in which they begin.
type sides struct {
	d    *doc
	list []*sheet
}

// side returns the sheet for a side, adding it if necessary.
func (s *sides) side(name string) (*sheet, error) {
	name = clean(name)
	for _, sheet := range s.list {
		if sheet.set.Name == name {
			return sheet, nil
		}
	}
	if len(s.list) >= maxNotes {
		return nil, hints.Errorf("split the file into one for each side", "it has more than %d sides", maxNotes)
	}
	sheet := newSheet(s.d)
	sheet.set.Name = name
	s.list = append(s.list, sheet)
	return sheet, nil
}

// sets returns the sides, or the first error.
func (s *sides) sets() ([]*bench.Set, error) {
	var all []*bench.Set
	for _, sheet := range s.list {
		if sheet.err != nil {
			return nil, sheet.err
		}
		all = append(all, sheet.set)
	}
	return all, nil
}

// onlySet returns the sheet as the only Set.
func (s *sheet) onlySet() ([]*bench.Set, error) {
	if s.err != nil {
		return nil, s.err
	}
	return []*bench.Set{s.set}, nil
}
