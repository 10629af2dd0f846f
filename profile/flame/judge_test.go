package flame_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"kitescope/profile"
	"kitescope/profile/flame"
	"kitescope/profile/report"
)

// TestVerdicts checks that a change within sampling noise is reported as noise, however large it looks.
func TestVerdicts(t *testing.T) {
	base := stacks(t, "a;hot 500", "a;rare 2", "a;gone 40", "a;rest 458")
	next := stacks(t, "a;hot 700", "a;rare 5", "a;rest 295")
	tree, err := flame.NewDiff(base, next, flame.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]report.Verdict{
		"hot": report.Increased, "rare": report.Noise, "gone": report.Decreased, "rest": report.Decreased,
		"a": report.Noise,
	}
	for name, verdict := range want {
		at := tree.Find([]string{"a", name})
		if name == "a" {
			at = 1
		}
		if got := tree.Verdict(at); got != verdict {
			t.Errorf("%s is %s, p %v; not %s", name, got, tree.PValues[at], verdict)
		}
	}
	if !math.IsNaN(tree.PValues[0]) {
		t.Errorf("the root's share was tested: %v", tree.PValues[0])
	}
	pruned := tree.Prune(3, 0)
	wellFormed(t, pruned)
	if at := pruned.Find([]string{"a", "hot"}); pruned.Verdict(at) != report.Increased {
		t.Error("pruning lost the verdicts")
	}

	base.Duration, next.Duration = 10*time.Second, 20*time.Second
	if tree, err = flame.NewDiff(base, next, flame.Options{}); err != nil {
		t.Fatal(err)
	}
	if tree.Hypothesis != report.EqualRates || tree.Verdict(0) != report.Decreased {
		t.Errorf("1000 in 10 s against 1000 in 20 s is %s, by %s", tree.Verdict(0), tree.Hypothesis)
	}
}

func TestDiffTypeMismatch(t *testing.T) {
	heap := profile.NewBuilder(profile.ValueType{Type: "inuse_space", Unit: "bytes"}).Profile()
	cpu := stacks(t, "a 1")
	var mismatch *report.Mismatch
	if _, err := flame.NewDiff(heap, cpu, flame.Options{}); !errors.As(err, &mismatch) || mismatch.Hint() == "" {
		t.Errorf("heap against cpu: %v", err)
	}
	if _, err := flame.NewDiff(stacks(t), cpu, flame.Options{Normalize: true}); !errors.As(err, &mismatch) ||
		mismatch.Hint() == "" {
		t.Errorf("normalized to nothing: %v", err)
	}
	if _, err := flame.New(cpu, flame.Options{By: profile.ByNode}); err == nil {
		t.Error("nodes are no frames")
	}
}
