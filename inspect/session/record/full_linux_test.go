package record

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// full makes writes of a chunk fail as on a full disk.
func (s *steps) full(c *chunk) {
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
	s.full(s.chunk)
	last := s.put(5)
	s.hear(first, last)
	s.o.ChunkAge = 0
	s.settle(t.Context())
	s.o.ChunkAge = time.Hour
	if !s.saying("no space left") {
		t.Fatalf("the disk is not full: %v", s.said)
	}
	s.settle(t.Context()) // now there is space again
	s.has(first, last)
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
	s.full(s.chunk)
	s.now = s.now.Add(time.Hour)
	s.round(nil, 0)
	if s.chunk != nil {
		t.Fatalf("the disk is not full: %v", s.said)
	}
	last := s.put(3)
	s.settle(t.Context())
	s.has(first, last)

	s.full(s.chunk)
	s.now = s.now.Add(-time.Hour)
	last = s.put(2)
	s.pin(t.Context()) // no space for its changes
	s.settle(t.Context())
	s.has(first, last)
	if s.saying("are lost") {
		t.Errorf("it says %v", s.said)
	}
}
