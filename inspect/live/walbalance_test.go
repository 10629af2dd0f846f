package live_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

const (
	methodWALBalance = "GET /management/streaming/balance/status"
	methodWALNodes   = "GET /management/streaming/nodes"
)

// TestWALBalance checks that the format of getStreamingBalanceStatus is decoded, also from the stored record,
// and that other texts are unknown.
func TestWALBalance(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]*bool{
		`{"msg":"OK","status":"activate"}`: new(true), `{"msg":"OK","status":"active"}`: new(true),
		`{"msg":"OK","status":"suspended"}`: new(false),
		`{"msg":"OK"}`:                      nil, `{"status":"paused"}`: nil,
		`{"msg":"failed to get balance status"}`: nil, `[]`: nil, ``: nil, `<html>`: nil, `{"status":7}`: nil,
	} {
		record := pageRecord("mixcoord", 1, methodWALBalance, text)
		kept := live.Redact(record)
		for name, r := range map[string]live.Record{"asked": record, "kept": kept, "twice": live.Redact(kept)} {
			got := decode(r)
			if !cmp.Equal(got.StreamingBalance, want) {
				t.Errorf("%s, %s: %v", name, text, got.StreamingBalance)
			}
			wantUnderstood(t, got, name+", "+text, want != nil)
		}
	}
}

// TestWALNodes checks that the format of HandleStreamingNodes is decoded.
func TestWALNodes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]model.NodeState{
		`{"msg":"OK","nodeInfos":[]}`: {},
		`{"msg":"OK","nodeInfos":[{"ID":9,"address":"10.0.0.9:22222","state":"suspended"},null,{"ID":8,"address":"a","state":"active"}]}`: {{Node: 8, State: "active"}, {Node: 9, State: "suspended"}},
		`{"msg":"failed to list streaming nodes"}`: nil, `{"msg":"OK"}`: nil, `{"nodeInfos":{}}`: nil,
		`{"nodeInfos":[7]}`: nil, `[]`: nil, ``: nil, `<html>`: nil,
	} {
		record := pageRecord("mixcoord", 1, methodWALNodes, text)
		kept := live.Redact(record)
		for name, r := range map[string]live.Record{"asked": record, "kept": kept, "twice": live.Redact(kept)} {
			got := decode(r)
			if !cmp.Equal(got.StreamingNodeStates, want) {
				t.Errorf("%s, %s: %v", name, text, got.StreamingNodeStates)
			}
			wantUnderstood(t, got, name+", "+text, want != nil)
		}
	}
}

// wantUnderstood checks that the one call was answered, or has a reason.
func wantUnderstood(t *testing.T, r *model.Runtime, what string, answered bool) {
	t.Helper()
	if call := r.Processes[0].Calls[0]; (call.Outcome == model.Answered) != answered ||
		(call.Reason == "") != answered {
		t.Errorf("%s: %s %q", what, call.Outcome, call.Reason)
	}
}

// FuzzWALNodes checks that no response to either page causes a panic and that the stored record decodes to the
// same.
func FuzzWALNodes(f *testing.F) {
	for _, text := range []string{
		`{"msg":"OK","nodeInfos":[{"ID":9,"state":"suspended"}]}`, `{"status":"suspended"}`, "{}", "<",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, method := range []string{methodWALNodes, methodWALBalance} {
			r := pageRecord("mixcoord", 1, method, string(text))
			got, kept := decode(r), decode(live.Redact(r))
			if !cmp.Equal(got.StreamingNodeStates, kept.StreamingNodeStates) ||
				!cmp.Equal(got.StreamingBalance, kept.StreamingBalance) {
				t.Errorf("%s: %v %v, kept %v %v", method, got.StreamingNodeStates, got.StreamingBalance,
					kept.StreamingNodeStates, kept.StreamingBalance)
			}
		}
	})
}
