package table

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type fruit struct {
	name   string
	weight float64
	count  int64
}

func fruits() *Rows[fruit] {
	return New(Schema{
		Name: "fruits", Singular: "fruit", Names: []string{"name"}, Order: []string{"count", "name", "note"},
	},
		[]fruit{{"apple", 0.2, 3}, {"pear", 0.25, 1}, {"Apfel", 0.19, 0}},
		[]ColumnOf[fruit]{
			{Column: Column{Name: "name", Title: "NAME"}, Cell: func(f fruit) Cell { return Of(f.name) }},
			{
				Column: Column{Name: "weight", Kind: Number, Show: Hidden},
				Cell:   func(f fruit) Cell { return OfFloat(f.weight) },
			},
			{Column: Column{Name: "count", Title: "COUNT", Kind: Int}, Cell: func(f fruit) Cell {
				if f.count == 0 {
					return Cell{Absent: Unknown}
				}
				return OfInt(f.count)
			}},
			{
				Column: Column{Name: "note", Title: "NOTE", For: People},
				Shown:  func(f fruit) string { return "a " + f.name },
			},
		})
}

// TestThousands checks that digits in groups of three are parsed as one number, as tables write it, unless a
// blank follows a comma.
func TestThousands(t *testing.T) {
	counts := New(Schema{Name: "counts"}, []int64{5, 840, 5840, 1234567},
		[]ColumnOf[int64]{{Column: Column{Name: "rows", Kind: Int}, Cell: OfInt[int64]}})
	for word, want := range map[string][]int64{
		"rows=5,840": {5840}, "rows!=5,840": {5, 840, 1234567}, "rows=1,234,567": {1234567}, "rows=5, 840": {5, 840},
		"rows=840,5": {5, 840}, "rows=5,84,840": {5, 840},
	} {
		where, err := ParseSelection(counts.Schema(), []string{word})
		if err != nil {
			t.Fatal(err)
		}
		g, err := Select(counts, Query{Where: where})
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for i := range g.Len() {
			got = append(got, counts.At(g.Row(i)))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", word, got, want)
		}
	}
}

// TestSelectOfRows checks that queries of a slice of rows work like queries of resources.
func TestSelectOfRows(t *testing.T) {
	rows := fruits()
	for _, c := range []struct {
		where, sort, columns []string
		show                 Show
		limit                int
		want, titles         []string
	}{
		{want: []string{"apple", "pear", "Apfel"}, titles: []string{"count", "name", "note"}},
		{show: Hidden, want: []string{"apple", "pear", "Apfel"}, titles: []string{"name", "weight", "count"}},
		{where: []string{"a*"}, columns: []string{"weight"}, want: []string{"apple"}, titles: []string{"weight"}},
		{
			where: []string{"weight>=0.2"}, sort: []string{"-weight"}, want: []string{"pear", "apple"},
			titles: []string{"count", "name", "note"},
		},
		{where: []string{"weight=0.19"}, want: []string{"Apfel"}, titles: []string{"count", "name", "note"}},
		{
			sort: []string{"-count"}, columns: []string{"+weight"}, limit: 2, want: []string{"apple", "pear"},
			titles: []string{"count", "name", "note", "weight"},
		},
		{where: []string{"note~pear"}, want: []string{"pear"}, titles: []string{"count", "name", "note"}},
	} {
		where, err := ParseSelection(rows.Schema(), c.where)
		if err != nil {
			t.Fatal(err)
		}
		g, err := Select(rows, Query{Where: where, Sort: c.sort, Columns: c.columns, Show: c.show, Limit: c.limit})
		if err != nil {
			t.Fatal(err)
		}
		var names, titles []string
		for i := range g.Len() {
			names = append(names, rows.At(g.Row(i)).name)
		}
		for j := range g.Columns {
			titles = append(titles, g.Column(j).Name)
		}
		if diff := cmp.Diff([][]string{c.want, c.titles}, [][]string{names, titles}); diff != "" {
			t.Errorf("%q %q %q (-want +got):\n%s", c.where, c.sort, c.columns, diff)
		}
	}
	if _, err := ParseSelection(rows.Schema(), []string{"wieght>1"}); err == nil ||
		err.Error() != `selector "wieght>1": unknown column of fruits "wieght"; did you mean weight?` {
		t.Errorf("%v", err)
	}
}

// TestSortOrdersAsComparing checks the radix sort against a comparison sort.
func TestSortOrdersAsComparing(t *testing.T) {
	keys := []uint64{5, 1 << 60, 5, 0, 1<<64 - 1, 70000, 5, 1 << 17, 0}
	rows := make([]int32, len(keys))
	for i := range rows {
		rows[i] = int32(i)
	}
	want := slices.Clone(rows)
	slices.SortStableFunc(want, func(a, b int32) int {
		switch {
		case keys[a] < keys[b]:
			return -1
		case keys[a] > keys[b]:
			return 1
		}
		return 0
	})
	sortByRank(rows, slices.Clone(keys))
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]string{
		"90": "1m30s", "90s": "1m30s", "5m": "5m0s", "2h30m": "2h30m0s", "3d": "72h0m0s", "1d12h": "36h0m0s",
		"2w": "336h0m0s", "1w1d": "192h0m0s", "1.5d": "36h0m0s",
	} {
		d, err := ParseDuration(text)
		if err != nil || d.String() != want {
			t.Errorf("%s: %v, %v; want %s", text, d, err, want)
		}
	}
	for _, text := range []string{"", "x", "d", "5 apples", "NaN", "1e300"} {
		if d, err := ParseDuration(text); err == nil {
			t.Errorf("%q is %v", text, d)
		}
	}
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"a*", "abc", true},
		{"*c", "abc", true},
		{"a*c", "abc", true},
		{"a*c", "ac", true},
		{"a*a", "a", false},
		{"*b*", "abc", true},
		{"*x*", "abc", false},
		{"a*b*c", "a1b2c", true},
		{"a*b*c", "acb", false},
		{"*", "", true},
	} {
		if got := newGlob(c.pattern).match(c.text); got != c.want {
			t.Errorf("%s on %s: %v", c.pattern, c.text, got)
		}
	}
}

// TestOmits checks that descriptions omit missing values of rare columns, but not unknown values.
func TestOmits(t *testing.T) {
	for _, c := range []struct {
		column Column
		cell   Cell
		want   bool
	}{
		{Column{Rare: true}, OfNone(), true},
		{Column{Rare: true}, Cell{Text: "s3://bucket"}, false},
		{Column{Rare: true}, Cell{Absent: Unknown}, false},
		{Column{Rare: true, Kind: Bool}, Cell{}, true},
		{Column{Rare: true, Kind: Bool}, Cell{Int: 1}, false},
		{Column{Rare: true, Kind: Int}, Cell{}, false}, // a number, which can explain a problem even if it is 0
		{Column{Rare: true, Kind: Int}, OfNone(), true},
		{Column{Rare: true, Kind: Int}, Cell{Absent: Unknown}, false},
		{Column{Rare: true, Kind: List}, Cell{}, true},
		{Column{Rare: true, Kind: Pairs}, Cell{List: []string{"zone", "a"}}, false},
		{Column{}, OfNone(), false},
		{Column{Kind: Bool}, Cell{}, false},
	} {
		if got := c.column.Omits(c.cell); got != c.want {
			t.Errorf("%+v %+v: %v, want %v", c.column, c.cell, got, c.want)
		}
	}
}
