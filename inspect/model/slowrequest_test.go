package model_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/model"
)

// TestSlowRequestsOfBoth checks that a request in a proxy's list and its access log is merged. Other requests
// with the same trace id are not.
func TestSlowRequestsOfBoth(t *testing.T) {
	at := time.Date(2026, 11, 26, 1, 49, 47, 123e6, time.UTC)
	r := model.BuildRuntime(model.RuntimeParts{Processes: []*model.Process{{SlowRequests: []model.SlowRequest{
		{
			Source: model.FromProxy, Node: 4, Type: "Search", Collection: "docs", Took: 7311 * time.Millisecond,
			Trace: "a", Consistency: "Strong", NQ: 10,
		},
		{Source: model.FromProxy, Node: 4, Type: "Search", Collection: "docs", Took: 6 * time.Second},
	}}}}).WithLogged([]model.SlowRequest{
		{
			Source: model.FromAccessLog, EndedAt: at, Type: "Search", Collection: "docs", Took: 7312 * time.Millisecond,
			Trace: "a", SDK: "Python-2.6.0", Status: "Successful", NQ: 10, TopK: 5,
		},
		{Source: model.FromAccessLog, Type: "Search", Collection: "docs", Took: 7311 * time.Millisecond, Trace: "a"},
		{Source: model.FromAccessLog, Type: "Query", Collection: "docs", Took: 7310 * time.Millisecond, Trace: "a"},
		{Source: model.FromAccessLog, Type: "Search", Collection: "docs", Took: 5 * time.Second, Trace: "a"},
		{Source: model.FromAccessLog, Type: "Search", Collection: "docs", Took: 6 * time.Second},
	})
	type row struct {
		took   time.Duration
		source string
	}
	var got []row
	list := r.SlowRequests()
	for _, s := range list {
		got = append(got, row{s.Took, s.Source})
	}
	want := []row{
		{7311 * time.Millisecond, model.FromBoth},
		{7311 * time.Millisecond, model.FromAccessLog},
		{7310 * time.Millisecond, model.FromAccessLog},
		{6 * time.Second, model.FromProxy},
		{6 * time.Second, model.FromAccessLog},
		{5 * time.Second, model.FromAccessLog},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(row{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	both := model.SlowRequest{
		Source: model.FromBoth, Node: 4, EndedAt: at, Type: "Search", Collection: "docs", Took: 7311 * time.Millisecond,
		Trace: "a", Consistency: "Strong", NQ: 10, TopK: 5,
		SDK: "Python-2.6.0", Status: "Successful",
	}
	if diff := cmp.Diff(both, list[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(list, r.SlowRequests()); diff != "" {
		t.Errorf("a second time (-first +second):\n%s", diff)
	}
	var nobody *model.Runtime
	if nobody.SlowRequests() != nil || len(nobody.WithLogged(list).SlowRequests()) != len(list) {
		t.Error("without a runtime")
	}
}
