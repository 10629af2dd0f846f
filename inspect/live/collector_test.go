package live_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

const methodCollector = "GET /management/data_gc"

// TestCollector checks that the format of GetDatacoordGCStatus is decoded, also from the stored record, and
// that other texts are unknown.
func TestCollector(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]*model.GarbageCollector{
		`{"msg":"OK","status":"active"}`: {Reporter: "mixcoord-1"},
		`{"msg":"OK","status":"suspended","time_remaining_seconds":3000}`: {
			Paused: true, Remaining: 50 * time.Minute, Reporter: "mixcoord-1",
		},
		`{"msg":"OK","status":"suspended","time_remaining_seconds":-5}`: {
			Paused: true, Reporter: "mixcoord-1",
		},
		`{"msg":"OK","status":"suspended","time_remaining_seconds":9223372036854775807}`: {
			Paused: true, Remaining: 366 * 24 * time.Hour, Reporter: "mixcoord-1",
		},
		`{"msg":"OK"}`: nil, `{"status":"paused"}`: nil, `{"msg":"failed to get garbage collection status"}`: nil,
		`[]`: nil, ``: nil, `<html>`: nil, `{"status":7}`: nil,
	} {
		record := pageRecord("mixcoord", 1, methodCollector, text)
		kept := live.Redact(record)
		for name, r := range map[string]live.Record{"asked": record, "kept": kept, "twice": live.Redact(kept)} {
			got := decode(r)
			if !cmp.Equal(got.Collector, want) {
				t.Errorf("%s, %s: %+v", name, text, got.Collector)
			}
			if call := got.Processes[0].Calls[0]; (call.Outcome == model.Answered) != (want != nil) ||
				(call.Reason == "") != (want != nil) {
				t.Errorf("%s, %s: %s %q", name, text, call.Outcome, call.Reason)
			}
		}
	}
}

// FuzzCollector checks that no response causes a panic and that the stored record decodes to the same.
func FuzzCollector(f *testing.F) {
	for _, text := range []string{
		`{"msg":"OK","status":"active"}`, `{"status":"suspended","time_remaining_seconds":1}`, "{}", "<",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r := pageRecord("mixcoord", 1, methodCollector, string(text))
		got, kept := decode(r), live.Redact(r)
		if c := got.Collector; !cmp.Equal(c, decode(kept).Collector) || c != nil && c.Remaining < 0 {
			t.Errorf("%+v, kept %s", c, strings.ToValidUTF8(string(kept.Response), "?"))
		}
	})
}
