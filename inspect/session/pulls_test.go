package session

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"kitescope/inspect/source"
	"kitescope/profile/pull"
)

// makePull creates the folder of a pull in a recording. Unless complete is set, it has no manifest, like a pull in
// progress.
func makePull(t *testing.T, dir, name string, complete bool) {
	t.Helper()
	path := filepath.Join(dir, PullsFolder, name)
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	files := []string{"querynode-5.cpu.pb.gz"}
	if complete {
		files = append(files, pull.ManifestName)
	}
	for _, file := range files {
		if err := os.WriteFile(filepath.Join(path, file), make([]byte, 1000), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPulls checks that Pulls returns the complete pulls in order, and PullBefore the last one that began at or
// before a time.
func TestPulls(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	recordedSource(t, dir, 1, 7, 0, 1, 2)
	src, err := source.Open(t.Context(), dir, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if list, err := Pulls(src); err != nil || len(list) != 0 {
		t.Errorf("without profiles: %v, %v", list, err)
	}
	makePull(t, dir, PullName(nine.Add(time.Minute), "node-idle"), true)
	makePull(t, dir, PullName(nine, "process-slow"), true)
	makePull(t, dir, PullName(nine.Add(2*time.Minute), "cpu-skew"), false)
	makePull(t, dir, "mine", true)
	list, err := Pulls(src)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range list {
		got = append(got, p.At.Format(time.TimeOnly)+" "+p.Check)
		if p.Size != 2000 {
			t.Errorf("%s has %d bytes", p.Path, p.Size)
		}
	}
	if want := []string{"09:00:00 process-slow", "09:01:00 node-idle"}; !slices.Equal(got, want) {
		t.Fatalf("%v, want %v", got, want)
	}
	for at, want := range map[time.Time]string{
		{}: "node-idle", nine: "process-slow", nine.Add(time.Hour): "node-idle", nine.Add(-time.Second): "",
	} {
		if p, ok := PullBefore(list, at); p.Check != want || ok != (want != "") {
			t.Errorf("by %s: %v, %v", at, p, ok)
		}
	}
}
