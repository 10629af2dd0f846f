package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"kitescope/inspect/source"
	"kitescope/internal/hints"
	"kitescope/profile/pull"
)

// profilesMember is the name prefix of a bundle's profile members. They are the files of a folder made by "profile
// pull", including the manifest.
const profilesMember = "profiles/"

// maxProfiles is the maximum size of the profiles in a bundle, in bytes, compressed as pulled. Readers hold
// them in memory; writers keep them in a temporary folder. The limit is the same for both, so written bundles can
// be read.
const maxProfiles = 512 << 20

// sizeBudget counts the bytes of the profiles of a bundle. where names their origin in errors.
type sizeBudget struct {
	where string
	used  int64
}

func (r *sizeBudget) add(n int64) error {
	if n > maxProfiles || r.used > maxProfiles-n {
		return &hints.Error{
			Err: fmt.Errorf("read %s: its profiles exceed %d MiB", r.where, maxProfiles>>20),
			Advice: "pull fewer kinds or processes into one bundle, or leave the profiles in a folder: kitescope " +
				"profile top FOLDER",
		}
	}
	r.used += n
	return nil
}

// ProfileFiles holds the profiles for a bundle in a temporary folder, because their sizes must be known before
// writing.
type ProfileFiles struct {
	dir    string
	m      *pull.Manifest // nil if copied from a bundle or a folder
	budget sizeBudget
}

// NewProfileFiles creates an empty temporary folder. from names the origin of the profiles in errors. The caller
// must close it.
func NewProfileFiles(from string) (*ProfileFiles, error) {
	dir, err := os.MkdirTemp("", "kitescope-profiles-")
	if err != nil {
		return nil, fmt.Errorf("save the profiles: %w", err)
	}
	return &ProfileFiles{dir: dir, budget: sizeBudget{where: from}}, nil
}

// Close removes the temporary folder. s may be nil.
func (s *ProfileFiles) Close() {
	if s != nil {
		_ = os.RemoveAll(s.dir)
	}
}

// PullProfiles pulls profiles from processes.
func PullProfiles(ctx context.Context, targets []pull.Target, o pull.Options) (*ProfileFiles, error) {
	s, err := NewProfileFiles("the processes")
	if err != nil {
		return nil, err
	}
	if s.m, err = pull.RunTo(ctx, targets, o, s.dir); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// FolderProfiles copies the profiles of a folder made by "profile pull". It returns an error unless the folder has
// one complete round with its manifest.
func FolderProfiles(dir string) (*ProfileFiles, error) {
	record, err := pull.Read(dir)
	if err != nil {
		return nil, err
	}
	if record.Rolling || record.Rounds[0].Manifest == nil {
		return nil, fmt.Errorf("read %s: expected a folder of one round, with its manifest", dir)
	}
	if len(record.Problems) > 0 {
		return nil, fmt.Errorf("read %s: %s: %s", dir, record.Problems[0].Where, record.Problems[0].Reason)
	}
	s, err := NewProfileFiles(dir)
	if err != nil {
		return nil, err
	}
	for _, item := range record.Items {
		err := checkRegular(filepath.Join(dir, item.Name))
		if err == nil {
			err = s.copyFile(filepath.Base(item.Name), item.Open)
		}
		if err != nil {
			s.Close()
			return nil, err
		}
	}
	if err := s.copyFile(pull.ManifestName, func() (io.ReadCloser, error) {
		return os.Open(filepath.Join(dir, pull.ManifestName))
	}); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// checkRegular returns an error unless path is a regular file. Links are refused because bundles are sent to others,
// and a link may point to any file.
func checkRegular(path string) error {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("read %s: not a regular file", path)
	}
	return err
}

func (s *ProfileFiles) copyFile(name string, open func() (io.ReadCloser, error)) error {
	in, err := open()
	if err != nil {
		return err
	}
	defer in.Close()
	return s.writeFile(name, in)
}

// writeFile writes a file into the temporary folder, up to the remaining room. A declared size is not trusted, and
// compressed content may be a thousand times as large.
func (s *ProfileFiles) writeFile(name string, content io.Reader) error {
	out, err := os.OpenFile(filepath.Join(s.dir, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(content, maxProfiles-s.budget.used+1))
	if err == nil {
		err = s.budget.add(n)
	}
	return errors.Join(err, out.Close())
}

// CopyProfiles copies the profiles of a bundle unchanged. It returns nil if there are none.
func CopyProfiles(ctx context.Context, b *source.Bundle) (*ProfileFiles, error) {
	var s *ProfileFiles
	err := b.Members(ctx, func(name string, n int64, content io.Reader) error {
		file, ok := profileFile(name)
		if !ok {
			return nil
		}
		if s == nil {
			var err error
			if s, err = NewProfileFiles(b.Origin().Location); err != nil {
				return err
			}
		}
		if n > maxProfiles-s.budget.used { // fail before writing
			return s.budget.add(n)
		}
		return s.writeFile(file, content)
	})
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// profileFile returns the file name of a member, and whether the member is a profile or the manifest.
func profileFile(member string) (file string, ok bool) {
	file, ok = strings.CutPrefix(member, profilesMember)
	return file, ok && filepath.IsLocal(file) && !strings.ContainsAny(file, `/\`)
}

// AddTo writes the profiles as members into a bundle. s may be nil.
func (s *ProfileFiles) AddTo(b *source.BundleWriter) error {
	if s == nil {
		return nil
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return fmt.Errorf("save the profiles: %w", err)
	}
	if s.m != nil {
		if err := s.countPulled(entries); err != nil {
			return err
		}
	}
	// The manifest comes first, because it describes the other members.
	slices.SortStableFunc(entries, func(x, _ fs.DirEntry) int {
		if x.Name() == pull.ManifestName {
			return -1
		}
		return 0
	})
	for _, e := range entries {
		if err := s.addFile(b, e.Name()); err != nil {
			return err
		}
	}
	return nil
}

// countPulled checks the total size of the pulled files, because a pull limits only each profile.
func (s *ProfileFiles) countPulled(entries []fs.DirEntry) error {
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return fmt.Errorf("save the profiles: %w", err)
		}
		if err := s.budget.add(info.Size()); err != nil {
			return err
		}
	}
	return nil
}

func (s *ProfileFiles) addFile(b *source.BundleWriter, name string) error {
	f, err := os.Open(filepath.Join(s.dir, name))
	if err != nil {
		return fmt.Errorf("save the profiles: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("save the profiles: %w", err)
	}
	return b.AddMember(profilesMember+name, info.Size(), f)
}

// BundleProfiles returns the profiles in a bundle, or nil if there are none.
func BundleProfiles(ctx context.Context, b *source.Bundle) (*pull.Record, error) {
	files := memoryStore{}
	room := sizeBudget{where: b.Origin().Location}
	err := b.Members(ctx, func(name string, n int64, content io.Reader) error {
		file, ok := profileFile(name)
		if !ok {
			return nil
		}
		if err := room.add(n); err != nil {
			return err
		}
		text, err := io.ReadAll(content)
		files[file] = text
		return err
	})
	if err != nil || len(files) == 0 {
		return nil, err
	}
	return pull.ReadFrom(files, b.Origin().Location)
}

// memoryStore is an in-memory pull.Store, by file name.
type memoryStore map[string][]byte

// Names implements pull.Store.
func (m memoryStore) Names() ([]string, error) { return slices.Sorted(maps.Keys(m)), nil }

// Open implements pull.Store.
func (m memoryStore) Open(name string) (io.ReadCloser, error) {
	text, ok := m[path.Clean(name)]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(text)), nil
}

// Manifest returns the manifest of pulled profiles, or nil if none were pulled.
func (s *ProfileFiles) Manifest() *pull.Manifest {
	if s == nil {
		return nil
	}
	return s.m
}
