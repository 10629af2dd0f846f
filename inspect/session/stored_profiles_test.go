package session

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

// zeros is an endless reader of zero bytes.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// TestProfileFilesLimit checks that addProfile writes no more than the remaining room, because a file may
// be longer than declared.
func TestProfileFilesLimit(t *testing.T) {
	s, err := NewProfileFiles("there")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.budget.used = maxProfiles - 1000
	if err := s.writeFile("a", io.LimitReader(zeros{}, 1000)); err != nil {
		t.Errorf("what fits: %v", err)
	}
	if err := s.writeFile("b", zeros{}); err == nil || err.Error() != "read there: its profiles exceed 512 MiB" {
		t.Errorf("an endless file: %v", err)
	}
	if info, err := os.Stat(filepath.Join(s.dir, "b")); err != nil || info.Size() > 1 {
		t.Errorf("%d bytes were written: %v", info.Size(), err)
	}
}
