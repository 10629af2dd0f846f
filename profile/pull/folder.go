package pull

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// stageName begins the names of folders that are not complete.
const stageName = ".kitescope-pull-"

// ErrExists is the error, by errors.Is, of a folder that is not empty.
var ErrExists = errors.New("it exists and is not empty")

// CheckFolder reports, before anything is pulled, whether profiles can be put into a new folder.
func CheckFolder(path string) error {
	entries, err := os.ReadDir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("save %s: %w", path, err)
	case len(entries) > 0:
		return fmt.Errorf("save %s: %w", path, ErrExists)
	}
	return nil
}

// ToFolder takes profiles into a folder, which appears when all is there: profiles and manifest. What was
// complete when ctx ended is kept too, and the error is ctx's. Where not one profile came there is no folder.
func ToFolder(ctx context.Context, targets []Target, opts Options, path string) (*Manifest, error) {
	if err := CheckFolder(path); err != nil {
		return nil, err
	}
	s, err := newStage(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("save %s: %w", path, err)
	}
	defer s.remove()
	m, err := Run(ctx, targets, opts, s.dir)
	if m == nil || m.Failed() == len(m.Profiles) {
		return m, err
	}
	if saveErr := s.publish(m, path); saveErr != nil {
		return m, errors.Join(fmt.Errorf("save %s: %w", path, saveErr), err)
	}
	return m, err
}

// RunTo is Run with the manifest written into the folder too.
func RunTo(ctx context.Context, targets []Target, opts Options, dir string) (*Manifest, error) {
	m, err := Run(ctx, targets, opts, dir)
	if err != nil {
		return m, err
	}
	return m, m.write(dir)
}

// stage is a folder under way, beside the place where it will be.
type stage struct{ dir string }

func newStage(parent string) (*stage, error) {
	dir, err := os.MkdirTemp(parent, stageName)
	if named, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, named.Err // the temporary name says nothing to anybody
	}
	return &stage{dir}, err
}

// remove removes what was not published.
func (s *stage) remove() { _ = os.RemoveAll(s.dir) } // gone if it was

// publish adds the manifest and gives the folder its name.
func (s *stage) publish(m *Manifest, path string) error {
	if err := m.write(s.dir); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // empty: see CheckFolder
		return err
	}
	return os.Rename(s.dir, path)
}
