package view

import "testing"

// TestIDsInPrefix checks the number of ids in a prefix, under different root paths.
func TestIDsInPrefix(t *testing.T) {
	for prefix, want := range map[string]int{
		"by-dev/meta/":                            0,
		"by-dev/meta/datacoord-meta/binlog/1/2/":  2,
		"by-dev/meta/segment-index/1/2/3/":        3,
		"/kv/9/meta/statslog/1/":                  2,
		"woodpecker/logs/by-dev-rootcoord-dml_0/": 0,
	} {
		if got := idsIn(prefix); got != want {
			t.Errorf("%s: %d ids, want %d", prefix, got, want)
		}
	}
}
