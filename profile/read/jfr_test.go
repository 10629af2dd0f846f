package read

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestJFRPrint compares the profile with counts taken directly from the JSON.
func TestJFRPrint(t *testing.T) {
	data, err := os.ReadFile(fixture("jfr/words.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Recording struct {
			Events []struct {
				Values struct {
					StackTrace struct {
						Frames []struct {
							Method struct {
								Type struct{ Name string }
								Name string
							}
						}
					}
				}
			}
		}
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{}
	for _, e := range doc.Recording.Events {
		var names []string
		for _, f := range e.Values.StackTrace.Frames {
			names = append(names, strings.ReplaceAll(f.Method.Type.Name, "/", ".")+"."+f.Method.Name)
		}
		want[strings.Join(names, ";")]++
	}
	p := mustOpen(t, "jfr/words.json", Options{})
	if diff := cmp.Diff(want, stacks(p, 0)); diff != "" || len(want) < 5 {
		t.Errorf("stacks (-plain +ours):\n%s", diff)
	}
	if p.Origin.Format != "JFR" || p.Time.IsZero() || p.Duration <= 0 {
		t.Errorf("%+v %s %s", p.Origin, p.Time, p.Duration)
	}
}

func TestJFREvents(t *testing.T) {
	p := mustRead(t, `{"recording": {"events": [
 {"type": "jdk.NativeMethodSample", "values": {"startTime": "2026-11-20T16:01:18Z", "stackTrace": null}},
 {"type": "jdk.CPULoad", "values": {}},
 {"type": "jdk.ExecutionSample", "values": {"startTime": "2026-11-20T16:01:20Z", "stackTrace": {"truncated": true, "frames": [
  {"method": {"type": {"name": "a/B$C"}, "name": "<init>", "descriptor": "()V"}, "lineNumber": 7, "type": "Interpreted"},
  {"method": {"type": null, "name": "schedule"}, "lineNumber": -1, "type": "Kernel"}, {"method": null}]}}}]}}`,
		Options{})
	if diff := cmp.Diff(map[string]int64{"a.B$C.<init>;schedule;[unknown]": 1, "[unknown]": 0}, stacks(p, 0)); diff !=
		"" {
		t.Errorf("samples (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int64{"a.B$C.<init>;schedule;[unknown]": 0, "[unknown]": 1}, stacks(p, 1)); diff !=
		"" {
		t.Errorf("native samples (-want +got):\n%s", diff)
	}
	if p.Duration != 2*time.Second || !strings.Contains(notesOf(p), "Java cut at its root") {
		t.Errorf("%s, notes %s", p.Duration, notesOf(p))
	}
}

// TestJFRStates checks that a note is added for a wall-clock recording, in which threads also slept.
func TestJFRStates(t *testing.T) {
	event := `{"type": "jdk.ExecutionSample", "values": {"state": "STATE_%s", "stackTrace": null}}`
	for states, want := range map[string]string{
		"RUNNABLE DEFAULT": "",
		"RUNNABLE SLEEPING SLEEPING": "{samples of waiting or sleeping threads: the recording is of wall-clock time, " +
			"not CPU time 2}",
	} {
		var events []string
		for state := range strings.FieldsSeq(states) {
			events = append(events, fmt.Sprintf(event, state))
		}
		p := mustRead(t, `{"recording": {"events": [`+strings.Join(events, ",")+`]}}`, Options{})
		if notes := notesOf(p); want == "" && strings.Contains(notes, "wall-clock") || !strings.Contains(notes, want) {
			t.Errorf("%s: notes %s", states, notes)
		}
	}
}
