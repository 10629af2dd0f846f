package live_test

import (
	"strings"
	"testing"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

const methodLevel = "GET /log/level"

// TestLogLevel checks that zap's format is decoded, also from the stored record, and that invalid levels are
// unknown and not stored.
func TestLogLevel(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"level":"info"}` + "\n": "info", `{"level":"debug","x":"s3cr3t"}`: "debug", `{"level":"WARN"}`: "warn",
		`{"level":"s3cr3t"}`: "", `{"error":"s3cr3t"}`: "", `[]`: "", ``: "", `<html>s3cr3t`: "", `{"level":7}`: "",
	} {
		record := pageRecord("querynode", 5, methodLevel, text)
		kept := live.Redact(record)
		for name, r := range map[string]live.Record{"asked": record, "kept": kept, "twice": live.Redact(kept)} {
			p := decode(r).Processes[0]
			if p.LogLevel != want {
				t.Errorf("%s, %s: %q", name, text, p.LogLevel)
			}
			if call := p.Calls[0]; (call.Outcome == model.Answered) != (want != "") ||
				(call.Reason == "") != (want != "") {
				t.Errorf("%s, %s: %s %q", name, text, call.Outcome, call.Reason)
			}
		}
		if strings.Contains(string(kept.Response), "s3cr3t") {
			t.Errorf("%s is kept: %s", text, kept.Response)
		}
	}
}

// FuzzLogLevel checks that no response causes a panic and that the stored record decodes to the same.
func FuzzLogLevel(f *testing.F) {
	for _, text := range []string{`{"level":"info"}`, "{}", "<"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r := pageRecord("querynode", 5, methodLevel, string(text))
		if got, kept := decode(r).Processes[0].LogLevel, decode(live.Redact(r)).Processes[0].LogLevel; got != kept {
			t.Errorf("%q, kept %q", got, kept)
		}
	})
}
