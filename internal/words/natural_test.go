package words

import (
	"cmp"
	"slices"
	"testing"
)

// TestNatural checks the order of texts in pairs, each text against each other.
func TestNatural(t *testing.T) {
	ordered := []string{
		"", "-", "0", "00", "1", "2", "9", "10", "10a", "a", "a0", "a00b1", "a0b1", "a01", "a1", "a2b10", "a2b10c",
		"a02b11", "b", "by-dev-rootcoord-dml_0_4705v0", "by-dev-rootcoord-dml_1_4705v1",
		"by-dev-rootcoord-dml_2_4705v0", "by-dev-rootcoord-dml_10_4705v0", "z99999999999999999999999999999",
		"z100000000000000000000000000000", "é1",
	}
	for i, a := range ordered {
		for j, b := range ordered {
			if got, want := CompareNatural(a, b), cmp.Compare(i, j); got != want && a != b {
				t.Errorf("CompareCompareNatural(%q, %q) = %d, want %d", a, b, got, want)
			}
		}
	}
	shuffled := slices.Clone(ordered)
	slices.Reverse(shuffled)
	slices.SortFunc(shuffled, CompareNatural)
	if !slices.Equal(shuffled, ordered) {
		t.Errorf("sorted: %q", shuffled)
	}
}
