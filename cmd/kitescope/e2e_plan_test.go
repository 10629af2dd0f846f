//go:build e2e

package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// planned is one replica in the output of "kitescope balance --plan -o json".
type planned struct {
	Database   string    `json:"database"`
	Collection string    `json:"collection"`
	Spread     spreadDoc `json:"spread"`
	Plan       struct {
		Reached bool              `json:"reached"`
		After   spreadDoc         `json:"spread_after"`
		Moves   []json.RawMessage `json:"moves"`
		Calls   []string          `json:"calls"`
	} `json:"plan"`
}

type spreadDoc struct {
	MaxMean     float64 `json:"max_mean"`
	RowsMaxMean float64 `json:"rows_max_mean"`
}

// TestPlan applies a plan through the Milvus API, call by call as printed, and checks that the cluster becomes as
// even as predicted. Auto-balance must be off.
func TestPlan(t *testing.T) {
	from := e2eFrom(t)
	read := func(words ...string) []planned {
		var doc struct {
			Items []planned `json:"items"`
		}
		kitescopeJSON(t, &doc, append([]string{"balance", "-o", "json", "--from", from}, words...)...)
		return doc.Items
	}
	plans, moves := read("--plan"), 0
	for _, p := range plans {
		if len(p.Plan.Moves) == 0 {
			continue
		}
		moves += len(p.Plan.Moves)
		file := filepath.Join(t.TempDir(), "calls.json")
		text, err := json.Marshal(p.Plan.Calls)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		outside(t, "CLIENT", nil, "apply", file)
	}
	if moves == 0 {
		t.Fatal("there was nothing to move")
	}
	const near = 0.005
	var far string
	for range 24 { // a segment is on both nodes until the old node releases it
		far = ""
		now := read()
		for i, p := range plans {
			if i >= len(now) || now[i].Collection != p.Collection {
				t.Fatalf("other replicas than before: %d, %d", len(plans), len(now))
			}
			t.Logf("%s: %d moves, max/mean %.4f to %.4f predicted, %.4f is", p.Collection, len(p.Plan.Moves),
				p.Spread.MaxMean, p.Plan.After.MaxMean, now[i].Spread.MaxMean)
			if math.Abs(now[i].Spread.MaxMean-p.Plan.After.MaxMean) > near ||
				math.Abs(now[i].Spread.RowsMaxMean-p.Plan.After.RowsMaxMean) > near {
				far = p.Collection
			}
		}
		if far == "" {
			return
		}
		time.Sleep(5 * time.Second)
	}
	t.Errorf("%s did not come to what was predicted", far)
}
