// The tests of this file have no concurrency: the race detector would find nothing and take up to ten times longer.

//go:build !race

package live_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

// TestRedactedRecordsDecodeEqual checks that a bundle leads to the same Runtime as the original responses.
func TestRedactedRecordsDecodeEqual(t *testing.T) {
	records := t7Records(t)
	var kept []live.Record
	for _, r := range records {
		before, _ := json.Marshal(r)
		once := live.Redact(r)
		if after, _ := json.Marshal(r); !bytes.Equal(before, after) {
			t.Fatalf("%s: Redact changed its argument", r.Method)
		}
		if diff := cmp.Diff(once, live.Redact(once)); diff != "" {
			t.Errorf("%s: redacted twice (-once +twice):\n%s", r.Method, diff)
		}
		kept = append(kept, once)
	}
	want, got := decode(records...).RuntimeParts, decode(kept...).RuntimeParts
	want.Skipped = nil // the foreign keys are gone
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("runtime (-recorded +redacted):\n%s", diff)
	}
}

func TestBrokenLines(t *testing.T) {
	line := func(n int) string { return fmt.Sprintf(`{"role":"proxy","server_id":%d,"method":"/x/y"}`, n) }
	long := io.MultiReader(strings.NewReader(line(1)+"\n{\"response\":\""), io.LimitReader(endless{}, 140<<20),
		strings.NewReader("\"}\n"+line(2)+"\nnonsense\n{}\n"+line(3)))
	var got []model.NodeID
	err := live.ReadRecords(long, func(r live.Record) error { got = append(got, r.Node); return nil })
	if diff := cmp.Diff([]model.NodeID{1, 2, 3}, got); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	var broken *live.BrokenLinesError
	if !errors.As(err, &broken) || broken.Count != 3 || broken.First != "line 2: longer than 128 MiB" {
		t.Errorf("error %v", err)
	}
}
