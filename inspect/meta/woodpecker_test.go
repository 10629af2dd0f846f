package meta_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/meta"
	"kitescope/inspect/meta/capturedtest"
	"kitescope/inspect/model"
)

// woodpeckerTruth is the report of Woodpecker's own client about its logs, and the damage done afterwards
// (tools/woodpecker).
type woodpeckerTruth struct {
	Logs []struct {
		Name, Truncated, Last, Reader string
		ID                            int64
		Segments                      []struct {
			ID, Written, Bytes int64
			State              string
			Last               int64 `json:"last_entry"`
		}
		Lost    []int64 `json:"lost_segments"`
		Garbled []int64 `json:"garbled_segments"`
	}
}

const woodpeckerFolder = "../../testdata/woodpecker"

func loadWoodpecker(t *testing.T) *model.Cluster {
	t.Helper()
	return capturedtest.Cluster(t, meta.Want{Parts: model.PartAll, Records: true}, woodpeckerFolder,
		capturedtest.Snapshot)
}

// TestWoodpeckerAgainstItsClient checks a Woodpecker with two logs that was filled, truncated and damaged: all
// states are distinguished, and all data that its client reported is read.
func TestWoodpeckerAgainstItsClient(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(woodpeckerFolder, "truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	var truth woodpeckerTruth
	if err := json.Unmarshal(b, &truth); err != nil {
		t.Fatal(err)
	}
	c := loadWoodpecker(t)
	if c.Woodpecker == nil || len(c.Woodpecker.Logs) != len(truth.Logs) {
		t.Fatalf("logs: %+v", c.Woodpecker)
	}
	for i, want := range truth.Logs {
		l := c.Woodpecker.Logs[i]
		if l.Name != want.Name || l.ID != want.ID || l.Truncated.String() != want.Truncated || l.Created.IsZero() {
			t.Errorf("log %+v, its client says %+v", l, want)
		}
		var got, expected []string
		for _, s := range l.Segments {
			got = append(got, fmt.Sprint(s.ID, s.State, s.Last, s.Bytes))
		}
		for _, s := range want.Segments {
			switch {
			case slices.Contains(want.Lost, s.ID):
				expected = append(expected, fmt.Sprint(s.ID, model.LogMissing, 0, 0))
				continue
			case slices.Contains(want.Garbled, s.ID):
				expected = append(expected, fmt.Sprint(s.ID, model.LogUndecoded, 0, 0))
				continue
			case s.State != model.LogActive && s.Written != s.Last+1:
				t.Errorf("segment %d: %d entries written, and the last is %d", s.ID, s.Written, s.Last)
			}
			expected = append(expected, fmt.Sprint(s.ID, s.State, s.Last, s.Bytes))
		}
		if d := cmp.Diff(expected, got); d != "" {
			t.Errorf("segments of %s (-its client, +ours):\n%s", l.Name, d)
		}
		if (len(l.Readers) == 1) != (want.Reader != "") || len(l.Readers) == 1 && l.Readers[0].Name != want.Reader {
			t.Errorf("readers %+v, opened was %q", l.Readers, want.Reader)
		}
	}
}

func TestWoodpeckerCounts(t *testing.T) {
	c := loadWoodpecker(t)
	whole, damaged := c.Woodpecker.Logs[0], c.Woodpecker.Logs[1]
	if got, want := whole.Retained(),
		(model.RetainedLog{Segments: 4, Entries: 41 + 42 + 25, Bytes: 9471 + 9723 + 5575, Uncounted: 1}); got != want {
		t.Errorf("kept: %+v, want %+v", got, want)
	}
	if entries, _, uncounted := whole.Behind(model.LogPosition{Segment: 2, Entry: 39}); entries != 2+25 ||
		uncounted != 1 {
		t.Errorf("%d entries behind 2/39, %d segments not counted", entries, uncounted)
	}
	if oldest, ok := whole.Oldest(); !ok || oldest.Segment != 1 {
		t.Errorf("the oldest kept is %v", oldest)
	}
	if end, ok := damaged.End(); !ok || end != (model.LogPosition{Segment: 1, Entry: 40}) {
		t.Errorf("the end is %v", end)
	}
	// Only the garbled record is undecoded.
	if len(c.Undecoded) != 1 || c.Undecoded[0].Key != "woodpecker/logs/by-dev-rootcoord-dml_1/segments/3" {
		t.Errorf("undecoded: %+v", c.Undecoded)
	}
}

// TestWoodpeckerInABundle checks that a bundle includes the keys outside the root.
func TestWoodpeckerInABundle(t *testing.T) {
	saved := save(t, filepath.Join(woodpeckerFolder, capturedtest.Snapshot))
	c := capturedtest.Cluster(t, meta.Want{Parts: model.PartAll}, saved)
	want := loadWoodpecker(t).Woodpecker
	// A value that is not a record of Woodpecker is redacted and stays undecoded.
	if d := cmp.Diff(want, c.Woodpecker); d != "" {
		t.Errorf("(-snapshot, +bundle):\n%s", d)
	}
}
