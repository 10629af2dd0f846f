package read

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/profile"
)

const speedscopeFrames = `"shared": {"frames": [{"name": "main", "file": "a.go", "line": 3}, {"name": "f"}, {"name": "[libc.so.6]"}]}`

func TestSpeedscope(t *testing.T) {
	sampled := `"profiles": [{"type": "sampled", "name": "one", "unit": "milliseconds", "startValue": 0, "endValue": 9, "samples": [[0, 1], [0], [0, 1, 2], [0, 1]], "weights": [1.5, 2, 0.25, 1]}]`
	time := profile.ValueType{Type: "time", Unit: "nanoseconds"}
	want := map[string]int64{"f;main": 2_500_000, "main": 2_000_000, "[libc.so.6];f;main": 250_000}
	for name, text := range map[string]string{
		"sampled": `{"$schema": "https://www.speedscope.app/file-format-schema.json", ` +
			speedscopeFrames + "," + sampled + `, "exporter": "x"}`,
		"profiles first": "{" + sampled + "," + speedscopeFrames + "}",
		"weights before stacks": "{" + speedscopeFrames +
			`, "profiles": [{"weights": [1.5, 2, 0.25, 1], "samples": [[0, 1], [0], [0, 1, 2], [0, 1]], "unit": "milliseconds", "type": "sampled"}]}`,
		"evented": "{" + speedscopeFrames +
			`, "profiles": [{"type": "evented", "unit": "milliseconds", "startValue": 10, "endValue": 20, "events": [
			{"type": "O", "frame": 0, "at": 10}, {"type": "O", "frame": 1, "at": 11}, {"type": "O", "frame": 2, "at": 12.5}, {"type": "C", "frame": 2, "at": 12.75},
			{"type": "C", "frame": 1, "at": 13.75}, {"type": "C", "frame": 0, "at": 14.75}]}]}`,
	} {
		p := mustRead(t, text, Options{})
		if diff := cmp.Diff(want, stacks(p, 0)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if p.Origin.Format != "speedscope" || len(p.Types) != 1 || p.Types[0] != time {
			t.Errorf("%s: %+v %v", name, p.Origin, p.Types)
		}
	}
}

func TestSpeedscopeSeveral(t *testing.T) {
	p := mustRead(t, "{"+speedscopeFrames+`, "activeProfileIndex": 2, "profiles": [
		{"type": "sampled", "name": "thread 1", "unit": "seconds", "samples": [[0]], "weights": [1]},
		{"type": "sampled", "name": "thread 2", "unit": "microseconds", "samples": [[0], [1]], "weights": [1, 0.0001]},
		{"type": "sampled", "name": "heap", "unit": "bytes", "samples": [[0]], "weights": [7]}]}`, Options{})
	if p.DefaultType != "space" || len(p.Types) != 2 || p.Len() != 3 {
		t.Errorf("%s of %v, %d samples", p.DefaultType, p.Types, p.Len())
	}
	got := map[string]int64{}
	for i := range p.Len() {
		got[p.Labels(i)[0].Str] += p.Value(i, 0) + p.Value(i, 1)
	}
	if want := map[string]int64{"thread 1": 1e9, "thread 2": 1000, "heap": 7}; !cmp.Equal(got, want) {
		t.Errorf("%v", got)
	}
}
