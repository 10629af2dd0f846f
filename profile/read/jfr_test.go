package read

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/internal/hints"
)

// TestJFRPrint compares with what a plain reading of the JSON counts.
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
	if p.Origin.Format != "JFR" || p.Time.IsZero() || p.Duration <= 0 || len(p.LabelSets) > 1 {
		t.Errorf("%+v %s %s, %d label sets", p.Origin, p.Time, p.Duration, len(p.LabelSets))
	}
	threads := map[string]int64{}
	p = mustOpen(t, "jfr/words.json", Options{Threads: true})
	for i := range p.Len() {
		for _, l := range p.Labels(i) {
			threads[l.Key+" "+l.Str] += p.Value(i, 0)
		}
	}
	if threads["thread counter-0"] == 0 || threads["thread counter-1"] == 0 || threads["thread counter-0"]+threads["thread counter-1"] != 40 {
		t.Errorf("threads %v", threads)
	}
}

// fakeJFR is a command that does what a script says.
func fakeJFR(t *testing.T, script string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a shell script")
	}
	path := filepath.Join(t.TempDir(), "jfr")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestJFRCommand(t *testing.T) {
	recording := "FLR\x00\x00\x02"
	_, err := From(context.Background(), "it", strings.NewReader(recording), Options{JFR: filepath.Join(t.TempDir(), "none")})
	var hinted *hints.Error
	if !errors.As(err, &hinted) || !strings.Contains(err.Error(), "not installed") || !strings.Contains(hinted.Hint(), "--events jdk.ExecutionSample,jdk.NativeMethodSample,jdk.ObjectAllocationInNewTLAB,jdk.ObjectAllocationOutsideTLAB,jdk.ObjectAllocationSample FILE > FILE.json") {
		t.Errorf("%v", err)
	}
	failing := fakeJFR(t, "echo 'jfr print: could not read it' >&2; exit 1")
	if _, err := From(context.Background(), "it", strings.NewReader(recording), Options{JFR: failing}); err == nil || !strings.Contains(err.Error(), "could not read it") {
		t.Errorf("%v", err)
	}
	endless := fakeJFR(t, `echo '{"recording": {"events": ['; exec sleep 60`)
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := From(ctx, "it", strings.NewReader(recording), Options{JFR: endless}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
	wrong := fakeJFR(t, `echo 'nothing'; exec sleep 60`)
	began = time.Now()
	if _, err := From(context.Background(), "it", strings.NewReader(recording), Options{JFR: wrong}); err == nil || time.Since(began) > 20*time.Second {
		t.Errorf("%v after %s", err, time.Since(began))
	}
	silent := fakeJFR(t, `echo '{"recording": {"events": ['; sleep 60; true`) // by a child that outlives it
	began = time.Now()
	if _, err := From(context.Background(), "it", strings.NewReader(recording), Options{JFR: silent, patience: 200 * time.Millisecond}); err == nil ||
		!strings.Contains(err.Error(), "has printed nothing for 200ms") || time.Since(began) > 20*time.Second {
		t.Errorf("%v after %s", err, time.Since(began))
	}
	arguments := fakeJFR(t, `echo "$@" | grep -q -e '^print --json --stack-depth 2048 --events jdk.ExecutionSample,jdk.NativeMethodSample,jdk.ObjectAllocationInNewTLAB,jdk.ObjectAllocationOutsideTLAB,jdk.ObjectAllocationSample /.*[.]jfr$' || exit 1
cat <<'EOT'
{"recording": {"events": [
 {"type": "jdk.NativeMethodSample", "values": {"startTime": "2026-11-20T16:01:18Z", "stackTrace": null}},
 {"type": "jdk.CPULoad", "values": {}},
 {"type": "jdk.ExecutionSample", "values": {"startTime": "2026-11-20T16:01:20Z", "sampledThread": {"javaName": null, "osName": "C2"}, "stackTrace": {"truncated": true, "frames": [
  {"method": {"type": {"name": "a/B$C"}, "name": "<init>", "descriptor": "()V"}, "lineNumber": 7, "type": "Interpreted"},
  {"method": {"type": null, "name": "schedule"}, "lineNumber": -1, "type": "Kernel"}, {"method": null}]}}}]}}
EOT`)
	p, err := From(context.Background(), "it", strings.NewReader(recording), Options{JFR: arguments, Threads: true})
	if err != nil {
		t.Fatal(err)
	}
	checkSound(t, p)
	if diff := cmp.Diff(map[string]int64{"a.B$C.<init>;schedule;[unknown]": 1, "[unknown]": 0}, stacks(p, 0)); diff != "" {
		t.Errorf("samples (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int64{"a.B$C.<init>;schedule;[unknown]": 0, "[unknown]": 1}, stacks(p, 1)); diff != "" {
		t.Errorf("native samples (-want +got):\n%s", diff)
	}
	if p.Duration != 2*time.Second || !strings.Contains(notesOf(p), "Java cut at its root") {
		t.Errorf("%s, notes %s", p.Duration, notesOf(p))
	}
}
