package session

import (
	"path/filepath"
	"testing"
	"time"

	"kitescope/inspect/source"
)

// TestDescribe checks the number of rounds of a recording, and the pauses in which processes were not queried.
func TestDescribe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	recordedSource(t, dir, 1, 7, 0, 1, 2)
	recordedSource(t, dir, 2, 7, 3, 30, 31)
	makePull(t, dir, PullName(nine, "process-slow"), true)
	src, err := source.Open(t.Context(), dir, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	info, told, err := Describe(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	pause := Pause{nine.Add(3 * time.Minute), nine.Add(30 * time.Minute)}
	if told.Rounds != 6 || told.Every != time.Minute || len(told.Pauses) != 1 || told.Pauses[0] != pause ||
		len(told.Pulls) != 1 {
		t.Errorf("%+v", told)
	}
	r := info.Recorded
	if len(r.Chunks) != 2 || r.Oldest != 7 || !r.From.Equal(nine.Add(-time.Second)) ||
		!r.Until.Equal(nine.Add(31*time.Minute)) || info.Checksum != source.ChecksumOK {
		t.Errorf("%+v, %+v", info, r)
	}
	// A single chunk is a recording too.
	chunk, err := source.Open(t.Context(), filepath.Join(dir, r.Chunks[1].Name), source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer chunk.Close()
	info, told, err = Describe(t.Context(), chunk)
	if err != nil || told == nil || told.Rounds != 3 || len(info.Recorded.Chunks) != 1 || len(told.Pulls) != 0 {
		t.Errorf("a chunk: %+v, %+v, %v", info, told, err)
	}
}
