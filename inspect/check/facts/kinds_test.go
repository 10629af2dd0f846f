package facts

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/meta"
)

// TestKindsByRelease compares the list with the grammar of keys. A kind belongs to the version of its oldest
// layout, and is not in the list if 2.1 has it. Keys below config are left out because users write them in any
// version. Absolute keys belong to Woodpecker and are left out because another program may write them to the same
// etcd.
func TestKindsByRelease(t *testing.T) {
	first := map[string]string{}
	for _, k := range meta.Kinds() {
		if strings.HasPrefix(k.Pattern, "/") {
			continue
		}
		old, seen := first[k.Name]
		if !seen || k.Since == "" || old != "" && older(k.Since, old) {
			first[k.Name] = k.Since
		}
	}
	want := map[string][]string{}
	for name, since := range first {
		if since != "" {
			want[since] = append(want[since], name)
		}
	}
	got := map[string][]string{}
	for _, n := range KindsByRelease() {
		got[n.Since()] = append(got[n.Since()], n.Kinds...)
	}
	for _, all := range []map[string][]string{want, got} {
		for list := range maps.Values(all) {
			slices.Sort(list)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kinds by the release that has them first (-grammar +list):\n%s", diff)
	}
	if len(got) < 6 {
		t.Errorf("only %d releases", len(got))
	}
	if !slices.IsSortedFunc(KindsByRelease(), func(a, b NewKinds) int {
		if older(b.Since(), a.Since()) {
			return -1
		}
		return 1
	}) {
		t.Error("the newest is not first")
	}
}

func older(a, b string) bool {
	x, y := ParseRelease(a), ParseRelease(b)
	return x.Before(y) || x == y && ParsePatch(a) < ParsePatch(b)
}
