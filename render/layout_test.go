package render

import (
	"slices"
	"testing"

	"kitescope/inspect/model/modeltest"
	"kitescope/inspect/view"
)

// TestLayoutKeepsColumns checks that rows written later without a header keep the columns and widths of
// the first table, even if fewer and shorter texts leave room for more.
func TestLayoutKeepsColumns(t *testing.T) {
	for _, r := range view.Resources {
		g, err := view.Select(r.Table(view.NewEnv(modeltest.Small(), modeltest.Now)), view.Query{})
		if err != nil {
			t.Fatal(err)
		}
		for _, width := range []int{0, 40, 60, 80, 120} {
			o := Options{Width: width, Layout: new(Layout)}
			first := newTable(&g.Grid, &o, "")
			titles := func(table *textTable) (list []string) {
				for _, c := range table.columns {
					list = append(list, c.Title)
				}
				return list
			}
			o.NoHeader = true
			for n := range min(3, g.Len()) {
				part := *g
				part.Rows = []int32{int32(g.Row(n))}
				later := newTable(&part.Grid, &o, "")
				if !slices.Equal(titles(first), titles(later)) {
					t.Errorf("%s, %d cells: columns %q, and later %q", r.Name, width, titles(first), titles(later))
				}
				for j := range min(len(first.columns), len(later.columns)) {
					if first.columns[j].width != later.columns[j].width {
						t.Errorf("%s, %d cells: %s is %d wide, and later %d", r.Name, width, first.columns[j].Title,
							first.columns[j].width, later.columns[j].width)
					}
				}
			}
		}
	}
}
