package record

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// failWrites makes writes of a chunk fail as on a full disk.
func (s *stepRecorder) failWrites(c *chunk) {
	s.t.Helper()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	_ = c.file.Close()
	c.file = full
}

// TestDiskFullAtRotation checks that nothing is lost if a chunk cannot be completed, because etcd still has the
// changes.
func TestDiskFullAtRotation(t *testing.T) {
	t.Parallel()
	s := newSteps(t)
	s.begin()
	first := s.chunk.header.Revision
	s.failWrites(s.chunk)
	last := s.put(5)
	s.receive(first, last)
	s.o.ChunkAge = 0
	s.syncOrRotate(t.Context())
	s.o.ChunkAge = time.Hour
	if !s.reported("no space left") {
		t.Fatalf("the disk is not full: %v", s.lines)
	}
	s.syncOrRotate(t.Context()) // now there is space again
	s.checkStates(first, last)
	if parts, _ := filepath.Glob(filepath.Join(s.o.Dir, "*.part")); len(parts) > 0 {
		t.Errorf("%v are left", parts)
	}
}

// TestDiskFullWhileTheClockJumps checks that no change is lost if writing the gap of a clock jump fails.
func TestDiskFullWhileTheClockJumps(t *testing.T) {
	t.Parallel()
	s := newSteps(t)
	s.begin()
	first := s.chunk.header.Revision
	s.failWrites(s.chunk)
	s.now = s.now.Add(time.Hour)
	s.round(nil, 0)
	if s.chunk != nil {
		t.Fatalf("the disk is not full: %v", s.lines)
	}
	last := s.put(3)
	s.syncOrRotate(t.Context())
	s.checkStates(first, last)

	s.failWrites(s.chunk)
	s.now = s.now.Add(-time.Hour)
	last = s.put(2)
	s.pin(t.Context()) // no space for its changes
	s.syncOrRotate(t.Context())
	s.checkStates(first, last)
	if s.reported("are lost") {
		t.Errorf("it says %v", s.lines)
	}
}
