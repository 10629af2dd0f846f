package rules_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"kitescope/inspect/check"
	"kitescope/inspect/check/faulttest"
	"kitescope/inspect/check/rules"
)

const (
	faultFolder    = "../../../testdata/faults"
	snapshotFolder = "../../../testdata/snapshots"
	diagnosisFile  = "../../../docs/evidence/diagnosis.md"
	faultsBegin    = "<!-- fault library: begin (written by go test ./inspect/check/rules -run TestFaults -update) -->"
	faultsEnd      = "<!-- fault library: end -->"
)

// property is a condition that TestFaults checks for each case after playing it, because building the cluster
// of a case takes five times as long as judging it. The cases are checked one at a time.
type property struct {
	name string
	// of checks the report of all checks on a case. Only the last property may change the report's Cluster.
	of func(t *testing.T, c *faulttest.Case, r *check.Report)
	// all, unless it is nil, checks a condition after all cases were played.
	all func(t *testing.T)
}

// TestFaults plays every case of the fault library through the real decoders and all checks.
func TestFaults(t *testing.T) {
	library, err := faulttest.OpenLibrary(faultFolder, snapshotFolder)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range library.Unknown() {
		t.Error(problem)
	}
	properties := slowProperties(t)
	locks := make([]sync.Mutex, len(properties))
	verdicts := make([]*faulttest.Verdict, len(library.Cases))
	t.Run("case", func(t *testing.T) {
		for i, c := range library.Cases {
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				var r *check.Report
				verdicts[i], r = playCase(t, library, c)
				for k, p := range properties {
					t.Run(p.name, func(t *testing.T) {
						locks[k].Lock()
						defer locks[k].Unlock()
						p.of(t, c, r)
					})
				}
			})
		}
	})
	if slices.Contains(verdicts, nil) {
		return // a filter selected some cases, or some failed: the rest would mislead
	}
	t.Logf("\n%s", faulttest.Text(verdicts))
	for _, lack := range faulttest.Uncovered(verdicts) {
		t.Error(lack)
	}
	for _, p := range properties {
		if p.all != nil {
			t.Run(p.name, p.all)
		}
	}
	compareReport(t, faulttest.Markdown(verdicts))
}

// playCase plays one case and reports its problems.
func playCase(t *testing.T, library *faulttest.Library, c *faulttest.Case) (*faulttest.Verdict, *check.Report) {
	t.Helper()
	b, err := library.Base(t.Context(), c.Base)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Play(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	v := c.Judge(b, r)
	switch {
	case c.KnownMiss == "":
		for _, p := range v.Problems {
			t.Error(p)
		}
	case len(v.Problems) == 0:
		t.Errorf("no longer missed (%s): take the miss out of the case", c.KnownMiss)
	}
	return v, r
}

// TestFaultBaseIsDeterministic checks that judging one capture repeatedly gives the same findings in the same
// order, which must not depend on the order of goroutines or maps.
func TestFaultBaseIsDeterministic(t *testing.T) {
	library, err := faulttest.OpenLibrary(faultFolder, snapshotFolder)
	if err != nil {
		t.Fatal(err)
	}
	b, err := library.Base(t.Context(), "cluster-2.3.5-t7")
	if err != nil {
		t.Fatal(err)
	}
	first := keys(b.Report)
	for range 5 {
		if again := keys(check.Run(b.Cluster, b.Now, rules.All())); again != first {
			t.Fatalf("findings differ from run to run:\n%s\n\n%s", first, again)
		}
	}
}

func keys(r *check.Report) string {
	var lines []string
	for _, f := range r.Findings {
		lines = append(lines, f.Severity.String()+" "+f.Key()+" "+f.Message+" <- "+f.Cause)
	}
	return strings.Join(lines, "\n")
}

// compareReport compares the report in the documentation with the current results of the cases. It rewrites the
// report with -update.
func compareReport(t *testing.T, report string) {
	t.Helper()
	path := filepath.FromSlash(diagnosisFile)
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := faulttest.ReplaceBetween(string(old), faultsBegin, faultsEnd, report)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if text == string(old) {
		return
	}
	// The flag belongs to the package's other tests.
	if f := flag.Lookup("update"); f == nil || f.Value.String() != "true" {
		t.Errorf("%s does not say what the fault library says: run go test ./inspect/check/rules -run TestFaults "+
			"-update", path)
		return
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
