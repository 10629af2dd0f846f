package check

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/model"
)

func TestTree(t *testing.T) {
	f := func(id, cause string) *Finding {
		if cause != "" {
			cause = "x nodes/" + cause
		}
		return &Finding{Check: "x", Object: model.Ref{Resource: "nodes", ID: id}, Cause: cause}
	}
	for _, x := range []struct {
		name     string
		findings []*Finding
		want     []string
	}{
		{"none", nil, []string{}},
		{"flat", []*Finding{f("a", ""), f("b", "")}, []string{"0 a 0", "0 b 0"}},
		{
			"chain",
			[]*Finding{f("c", "b"), f("a", ""), f("b", "a"), f("d", "a"), f("e", "")},
			[]string{"0 a 3", "1 b 1", "2 c 0", "1 d 0", "0 e 0"},
		},
		{"cause elsewhere", []*Finding{f("a", "gone")}, []string{"0 a 0"}},
		{"its own cause", []*Finding{f("a", "a")}, []string{"0 a 0"}},
		{"circle", []*Finding{f("a", "b"), f("b", "a"), f("c", "b")}, []string{"0 a 0", "0 b 0", "0 c 0"}},
		{"two of one key", []*Finding{f("a", ""), f("a", ""), f("b", "a")}, []string{"0 a 1", "1 b 0", "0 a 0"}},
	} {
		got := []string{}
		for _, b := range Tree(x.findings) {
			got = append(got, fmt.Sprint(b.Depth, " ", b.Object.ID, " ", b.Effects))
		}
		if diff := cmp.Diff(x.want, got); diff != "" {
			t.Errorf("%s:\n%s", x.name, diff)
		}
	}
}
