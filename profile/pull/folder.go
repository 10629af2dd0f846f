package pull

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// stageName is the prefix of incomplete folders.
const stageName = ".kitescope-pull-"

// ErrExists is the error, for errors.Is, of a folder that is not empty.
var ErrExists = errors.New("it exists and is not empty")

// CheckFolder reports, before anything is pulled, whether profiles can be saved to a new folder at path.
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

// ToFolder saves profiles to a folder. The folder appears once it is complete, with profiles and manifest. If ctx
// ends, it saves the complete profiles and returns the error of ctx. If no profile was received, it creates no folder.
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

// RunTo is like Run but also writes the manifest to the folder.
func RunTo(ctx context.Context, targets []Target, opts Options, dir string) (*Manifest, error) {
	m, err := Run(ctx, targets, opts, dir)
	if err != nil {
		return m, err
	}
	return m, m.write(dir)
}

// stage is an incomplete folder, next to its final path.
type stage struct{ dir string }

func newStage(parent string) (*stage, error) {
	dir, err := os.MkdirTemp(parent, stageName)
	if named, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, named.Err // without the temporary path, which does not help the user
	}
	return &stage{dir}, err
}

// remove removes the folder unless it was published.
func (s *stage) remove() { _ = os.RemoveAll(s.dir) } // it no longer exists if it was published

// publish writes the manifest and renames the folder to its final path.
func (s *stage) publish(m *Manifest, path string) error {
	if err := m.write(s.dir); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // empty: see CheckFolder
		return err
	}
	return os.Rename(s.dir, path)
}
