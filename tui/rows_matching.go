package tui

import (
	"slices"
	"sync/atomic"
	"time"

	"kitescope/inspect/view"
)

// rowMatching is a filter on its way through the rows of a table, in pieces that are
// short enough for the loop to stay free and the first screenful to come at once.
type rowMatching struct {
	// Serial is the number of the page's request; Newest is the number of its newest, an
	// outdated one stops.
	Serial  int64
	Newest  *atomic.Int64
	Filter  rowFilter
	Table   view.Table
	Columns []int
	// Order has the candidates; nil is every row in turn.
	Order  []int32
	Total  int     // candidates in all
	next   int     // candidates before it are decided
	Found  []int32 // rows that stay, so far
	Screen int     // rows that fill the screen
	Now    func() time.Time
}

// How long one piece of a matching may take: the first is for the eye.
const (
	firstPiece = 5 * time.Millisecond
	laterPiece = 40 * time.Millisecond
	// matchStride is how many rows are decided between two looks at the clock.
	matchStride = 256
)

// Step decides candidates until the time is up, or, in the first piece, until the screen is full.
func (j rowMatching) Step() rowMatching {
	x := newMatcher(&j.Filter, j.Table, j.Columns)
	budget, first := laterPiece, j.next == 0
	if first {
		budget = firstPiece
	}
	start := j.Now()
	for j.next < j.Total && j.Serial == j.Newest.Load() {
		end := min(j.next+matchStride, j.Total)
		for ; j.next < end; j.next++ {
			if row := j.candidate(j.next); x.match(int(row)) {
				if len(j.Found) == cap(j.Found) {
					j.Found = slices.Grow(j.Found, max(matchStride, len(j.Found)))
				}
				j.Found = append(j.Found, row)
			}
		}
		if j.Now().Sub(start) >= budget || first && len(j.Found) >= j.Screen {
			break
		}
	}
	return j
}

// candidate is the row of the i-th candidate.
func (j *rowMatching) candidate(i int) int32 {
	if j.Order != nil {
		return j.Order[i]
	}
	return int32(i)
}

// Done reports whether all are decided.
func (j *rowMatching) Done() bool { return j.next == j.Total }

// Progress is how much is decided, in percent.
func (j *rowMatching) Progress() int {
	if j.Total == 0 {
		return 100
	}
	return 100 * j.next / j.Total
}
