package report

import (
	"cmp"
	"slices"

	"kitescope/profile"
)

// NewTop sums up samples as `go tool pprof -top` with -nodecount=0 and -nodefraction=0 does. Values, names and
// order are those of pprof (google/pprof internal/graph and internal/report), which has no counterpart of
// ByPackage, ByMapping, ByClass and ByNode. For ByClass the flat values are those of profile.SampleKinds, and add up
// to the total.
func NewTop(p *profile.Profile, o Options) (*Top, error) {
	v, err := newView(p, o)
	if err != nil {
		return nil, err
	}
	t := v.tally(nil)
	top := &Top{Header: v.header}
	for _, id := range v.order(t, o.SortCum) {
		top.Entries = append(top.Entries, v.entry(id, &t[id]))
	}
	return top, nil
}

// order returns the ids with a value other than 0, largest first, equal ones by name.
func (v *view) order(t []entrySums, byCum bool) []uint32 {
	ids := make([]uint32, 0, len(t))
	for i := range t {
		if t[i].flat != 0 || t[i].cum != 0 {
			ids = append(ids, uint32(i))
		}
	}
	slices.SortFunc(ids, func(a, b uint32) int {
		first, second := [2]int64{abs(t[a].flat), abs(t[b].flat)}, [2]int64{abs(t[a].cum), abs(t[b].cum)}
		if byCum {
			first, second = second, first
		}
		return cmp.Or(
			cmp.Compare(first[1], first[0]), cmp.Compare(v.group.names[a], v.group.names[b]),
			cmp.Compare(second[1], second[0]), cmp.Compare(a, b))
	})
	return ids
}
