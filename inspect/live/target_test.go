package live_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"

	"kitescope/inspect/live"
	"kitescope/inspect/live/livetest"
	"kitescope/inspect/live/recorded"
	"kitescope/inspect/model"
)

// TestAskTargets queries real servers: one call, to QueryCoord alone, for releases that support it.
func TestAskTargets(t *testing.T) {
	want := []model.CurrentTarget{
		{Collection: 470590569932000000, Sealed: []model.SegmentID{470590569942000000}, Growing: []model.SegmentID{7}},
	}
	for version, asks := range map[string]requestedMetrics{
		"2.4.23": {}, "2.5.4": {3: {"qc_target"}}, "2.6.3": {1: {"qc_target"}},
	} {
		c := smallCluster(t, livetest.Spec{Version: version}, livetest.Options{Tasks: livetest.Tasks()},
			recorded.Options{})
		asked := requestedMetrics{}
		r := ask(t, c, live.Options{Targets: true, Keep: asked.keep})
		if diff := cmp.Diff(asks, asked); diff != "" {
			t.Errorf("%s (-want +got):\n%s", version, diff)
		}
		told := want
		if len(asks) == 0 {
			told = nil
		}
		if diff := cmp.Diff(told, r.Targets); diff != "" || r.Tasks != nil {
			t.Errorf("%s: %d tasks, targets (-want +got):\n%s", version, len(r.Tasks), diff)
		}
		if loaded := c.WithRuntime(r).Loaded.Has(model.PartTargets); loaded != (told != nil) {
			t.Errorf("%s: targets are known: %t", version, loaded)
		}
	}
}

// TestOddTargets checks that targets are known completely or not at all.
func TestOddTargets(t *testing.T) {
	good := `{"collection_id":"7","segments":[{"segment_id":"70"},{"segment_id":71}],"dm_channels":[{"unflushed_segment_ids":["72",73]},{}]}`
	many := slices.Repeat([]string{
		`{"segment_id":"70","collection_id":"7","channel":"by-dev-rootcoord-dml_0_470590569932000000v0","state":"Flushed"}`,
	}, 100_000)
	for name, test := range map[string]struct {
		text    string
		targets int // -1: unknown
		outcome model.Outcome
	}{
		"one":                {"[" + good + "]", 1, model.Answered},
		"none":               {"[]", 0, model.Answered},
		"no text":            {"", -1, model.Garbled}, // Milvus could not encode it (target_manager.go: GetTargetJSON)
		"null":               {"null", -1, model.Garbled},
		"half":               {"[" + good + `,{"collection_id":"8","segments":[{"segm`, -1, model.Garbled},
		"a segment of no id": {`[{"collection_id":"7","segments":[{"segment_id":"x"}]}]`, -1, model.Garbled},
		"no collection":      {`[{"segments":[]}]`, -1, model.Garbled},
		"another type":       {`[{"collection_id":"7","segments":"none"}]`, -1, model.Garbled},
		"numbers":            {`[1]`, -1, model.Garbled},
		"an object":          {`{"nodes_info":[]}`, -1, model.Garbled},
		"a login page":       {"<html>", -1, model.Garbled},
		"many": {
			`[{"collection_id":"7","segments":[` + strings.Join(many, ",") + `]}]`, 1, model.Answered,
		},
		"too much": {
			`[{"collection_id":"7","segments":[` + strings.Join(slices.Repeat(many, 4), ",") + `]}]`, -1,
			model.TooLarge,
		},
	} {
		r := tasksOf(t, "qc_target", &milvuspb.GetMetricsResponse{Status: &commonpb.Status{}, Response: test.text})
		targets := len(r.Targets)
		if r.Targets == nil {
			targets = -1
		}
		if call := r.LiveNode("querycoord", 3).Calls[0]; targets != test.targets || call.Outcome != test.outcome ||
			!call.OfTarget() {
			t.Errorf("%s: %d targets, %+v; want %d, %s", name, targets, call, test.targets, test.outcome)
		}
		if name == "one" {
			var as []string
			for _, id := range []model.SegmentID{70, 71, 72, 73, 74} {
				sealed, growing, known := r.InTarget(id)
				as = append(as, fmt.Sprint(sealed, growing, known))
			}
			if diff := cmp.Diff([]string{
				"true false true", "true false true", "false true true", "false true true", "false false true",
			}, as); diff != "" {
				t.Errorf("wanted (-want +got):\n%s", diff)
			}
		}
	}
}
