package render

import "testing"

// TestAffixes checks that names are cut where they are all the same, and not where they differ.
func TestAffixes(t *testing.T) {
	middle := func(s string, n int) string { return ShortenMiddle(s, n, "…") }
	for _, x := range []struct {
		names []string
		cells int
		want  string // of the first name
	}{
		{
			[]string{"by-dev-rootcoord-dml_3_4511v0", "by-dev-rootcoord-dml_4_4511v0"},
			40,
			"by-dev-rootcoord-dml_3_4511v0",
		},
		{[]string{"by-dev-rootcoord-dml_3_4511v0", "by-dev-rootcoord-dml_4_4511v0"}, 15, "…d-dml_3_4511v0"},
		{[]string{"by-dev-rootcoord-dml_3_4511v0", "by-dev-rootcoord-dml_14_4511v0"}, 8, "…3_4511…"},
		{[]string{"by-dev-rootcoord-dml_13_4511v0", "by-dev-rootcoord-dml_14_4511v0"}, 5, "…13_…"},
		{[]string{"470596287784226368", "470596287784226369"}, 8, "…4226368"},
		{[]string{"tenant_a_orders", "tenant_b_orders"}, 10, "…_a_orders"},
		{[]string{"only-one-name-that-is-long"}, 10, "onl…s-long"},
		{[]string{"runtime.mallocgc"}, 2, "r…"},
		{[]string{"wörter_eins", "wörter_zwei"}, 8, "wö…_eins"},
		{[]string{"", "abcdefghijkl"}, 6, ""},
	} {
		var a Affixes
		for _, name := range x.names {
			a.Add(name)
		}
		if got := a.Cut(x.names[0], x.cells, "…", middle); got != x.want || Cells(got) > x.cells {
			t.Errorf("%q in %d cells: %q, want %q", x.names, x.cells, got, x.want)
		}
	}
}
