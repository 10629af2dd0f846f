package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"kitescope/tools/e2e/lab"
)

// TestRerun checks that another binary is run on a kept bundle, and that only its results change.
func TestRerun(t *testing.T) {
	dir := t.TempDir()
	cause := filepath.Join(dir, "slow-node", "cause")
	if err := os.MkdirAll(cause, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := saveNames(cause, map[string][]string{"querynode2": {"querynode-5"}}); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(dir, "kitescope")
	says := `#!/bin/sh
case $1 in
latency) echo '{"items": [{"collection": "pics", "request": "search", "phase": "total", "mean_ms": 480}]}' ;;
why) echo '{"items": [{"collection": "pics", "request": "search", "verdict": "querynode-5 is slow", "finding": "slow", "message": "querynode-5 is slow"}]}'; exit 3 ;;
esac
`
	if err := os.WriteFile(script, []byte(says), 0o755); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	r := &runner{lab: &lab.Lab{Out: dir}, kitescope: &lab.Kitescope{File: script}, out: dir, log: t.Logf}
	result := &Result{
		Name: "slow-node", Before: Measured{Request: "search", Collection: "pics", Count: 70, MeanMS: 500},
		Missed: "it was missed", WhyError: "it was not asked",
	}
	broken := &Result{Name: "proxy", Broken: "gone"}
	if err := r.rerun(context.Background(), []*Result{result, broken}, situations()); err != nil {
		t.Fatal(err)
	}
	if result.Missed != "" || result.WhyError != "" || result.FirstVerdict == nil || result.Sum == nil ||
		result.Sum.SumMS != 480 || result.Sum.ClientMS != 500 {
		t.Errorf("%+v, want the new verdict and sum against the old mean", result)
	}
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho no such command >&2; exit 2\n"), 0o755); err !=
		nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	if err := r.rerun(context.Background(), []*Result{result}, situations()); err != nil || result.WhyError == "" ||
		result.FirstVerdict != nil || result.Sum != nil {
		t.Errorf("%v %+v of a binary that does not have the commands", err, result)
	}
}
