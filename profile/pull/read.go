package pull

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kitescope/internal/hints"
	"kitescope/internal/words"
	"kitescope/profile"
)

// Record is the content of a folder of profiles: a single round, or the rounds of a rolling record.
type Record struct {
	// Path is the path that was read.
	Path string
	// Rolling is true for a rolling record.
	Rolling bool
	Rounds  []RecordRound
	// Items are the profiles of all rounds, oldest round first, in the order of nodes.
	Items []Item
	// Problems lists the parts that could not be read.
	Problems []Problem
}

// RecordRound is a set of profiles that were taken together.
type RecordRound struct {
	// Name is the folder of the round, or "" for a single round.
	Name string
	// Manifest is nil if the round has none.
	Manifest *Manifest
}

// Problem is a file or folder of a record that is missing or damaged.
type Problem struct{ Where, Reason string }

// Item is one profile of a record.
type Item struct {
	// Node is unique within its round. Role is its first role, or "" if unknown.
	Node, Role string
	Roles      []string
	NodeIDs    []string
	// Kind is "" if unknown.
	Kind Kind
	// Name is the file, relative to the record. Round is the index in Record.Rounds.
	Name  string
	Round int
	// From and To are the window, or zero if unknown.
	From, To                        time.Time
	Address, MilvusVersion, BuildID string
	// Samples is -1 if unknown.
	Samples int64
	// Open opens the file. If the manifest has a checksum, it is verified first.
	Open func() (io.ReadCloser, error)
}

// Store provides the files of a record: a folder, or the members of a bundle.
type Store interface {
	// Names returns the relative paths of all files, with slashes.
	Names() ([]string, error)
	Open(name string) (io.ReadCloser, error)
}

// Read reads a folder written by ToFolder or a Rolling, or a folder without a manifest and with file names like
// "querynode3.cpu.pb.gz". It does not open the profiles.
func Read(dir string) (*Record, error) { return ReadFrom(folder(dir), dir) }

// ReadFrom reads a record from s. name is used in errors and as Record.Path.
func ReadFrom(s Store, name string) (*Record, error) {
	files, err := s.Names()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	r := &Record{Path: name}
	rounds := map[string][]string{} // file names by folder
	for _, file := range files {
		dir := path.Dir(file)
		rounds[dir] = append(rounds[dir], path.Base(file))
	}
	if _, one := rounds["."]; one && r.round(s, "", rounds["."]) {
		return r, nil
	}
	r.rolling(s, rounds)
	if len(r.Items) == 0 && len(r.Rounds) == 0 {
		if len(r.Problems) > 0 {
			return nil, fmt.Errorf("read %s: %s", name, r.Problems[0].Reason)
		}
		return nil,
			hints.Errorf("name a folder that kitescope profile pull made, or one with files such as "+
				"querynode3.cpu.pb.gz",
				"read %s: no profiles in it", name)
	}
	return r, nil
}

// rolling reads the rounds of a record, in the order of their sequence.
func (r *Record) rolling(s Store, rounds map[string][]string) {
	type numbered struct {
		dir      string
		sequence int64
	}
	var found []numbered
	for dir, files := range rounds {
		if strings.Contains(dir, "/") || !roundName().MatchString(dir) || !slices.Contains(files, ManifestName) {
			continue
		}
		m, err := readManifest(subStore{s, dir})
		if err != nil {
			r.Problems = append(r.Problems, Problem{dir, err.Error()})
			continue
		}
		found = append(found, numbered{dir, m.Sequence})
	}
	slices.SortFunc(found, func(a, b numbered) int {
		if a.sequence != b.sequence {
			return int(max(-1, min(1, a.sequence-b.sequence)))
		}
		return strings.Compare(a.dir, b.dir)
	})
	r.Rolling = len(found) > 0
	for _, n := range found {
		r.round(s, n.dir, rounds[n.dir])
	}
}

// round reads one folder, and reports whether it has profiles or a manifest.
func (r *Record) round(s Store, dir string, files []string) bool {
	if dir != "" {
		s = subStore{s, dir}
	}
	before := len(r.Items)
	round := RecordRound{Name: dir}
	if slices.Contains(files, ManifestName) {
		m, err := readManifest(s)
		if err != nil {
			r.Problems = append(r.Problems, Problem{path.Join(dir, ManifestName), err.Error()})
		} else {
			round.Manifest = m
		}
	}
	if round.Manifest != nil {
		r.addListed(s, dir, files, round.Manifest)
	} else {
		r.addUnlisted(s, dir, files)
	}
	if len(r.Items) == before && round.Manifest == nil {
		return false
	}
	r.Rounds = append(r.Rounds, round)
	unique(r.Items[before:])
	slices.SortStableFunc(r.Items[before:], func(a, b Item) int { return words.CompareNatural(a.Node, b.Node) })
	return true
}

// addListed adds the profiles that a manifest lists.
func (r *Record) addListed(s Store, dir string, files []string, m *Manifest) {
	for i := range m.Profiles {
		e := &m.Profiles[i]
		if e.Outcome != OK {
			continue
		}
		where := path.Join(dir, e.File)
		switch {
		case !isFile(e.File):
			r.Problems = append(r.Problems, Problem{
				path.Join(dir, ManifestName),
				fmt.Sprintf("%q is not the name of a file in the same folder", e.File),
			})
			continue
		case !slices.Contains(files, e.File):
			r.Problems = append(r.Problems, Problem{where, "listed in the manifest, but missing"})
			continue
		}
		item := Item{
			Node: e.Node, Roles: e.Roles, NodeIDs: e.NodeIDs, Kind: e.Kind, Name: where, Round: len(r.Rounds),
			From: e.From, To: e.To,
			Address: e.Address, MilvusVersion: e.MilvusVersion, BuildID: e.BuildID, Samples: -1,
		}
		if len(e.Roles) > 0 {
			item.Role = e.Roles[0]
		}
		if e.Samples != nil {
			item.Samples = *e.Samples
		}
		name, sum := e.File, e.SHA256
		item.Open = func() (io.ReadCloser, error) { return openChecked(s, name, where, sum) }
		r.Items = append(r.Items, item)
	}
}

// openChecked opens a file after it has verified its checksum. An empty checksum is not verified.
func openChecked(s Store, name, where, want string) (io.ReadCloser, error) {
	f, err := s.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", where, err)
	}
	if want == "" {
		return f, nil
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", where, err)
	}
	if hex.EncodeToString(h.Sum(nil)) != strings.ToLower(want) {
		return nil, hints.Errorf("copy it again, or remove the manifest to read the files without it",
			"read %s: checksum mismatch: the file changed since it was saved", where)
	}
	return s.Open(name)
}

// fileNamed matches file names like "querynode3.cpu.pb.gz" or "milvus.prof". Its groups are the node and the kind.
var fileNamed = profile.NewPattern(`^(.+?)(?:\.([a-z]+(?:-delta)?))?\.(?:pb\.gz|pb|pprof|prof|out)$`)

// roleNamed matches a node name. Its group is the role: "querynode" for "querynode3".
var roleNamed = profile.NewPattern(`^([a-z]+)[-_.]?[0-9]*$`)

// addUnlisted adds the files that are named like profiles.
func (r *Record) addUnlisted(s Store, dir string, files []string) {
	for _, file := range files {
		parts := fileNamed().FindStringSubmatch(file)
		if parts == nil || strings.HasPrefix(file, ".") {
			continue
		}
		item := Item{Node: parts[1], Name: path.Join(dir, file), Round: len(r.Rounds), Samples: -1}
		if _, known := specOf(Kind(parts[2])); known {
			item.Kind = Kind(parts[2])
		} else if parts[2] != "" {
			item.Node += "." + parts[2]
		}
		if strings.HasSuffix(file, ".out") && item.Kind != Trace {
			continue
		}
		if role := roleNamed().FindStringSubmatch(item.Node); role != nil && item.Kind != "" {
			item.Role, item.Roles = role[1], []string{role[1]}
		}
		item.Open = func() (io.ReadCloser, error) { return s.Open(file) }
		r.Items = append(r.Items, item)
	}
}

// unique makes the names of nodes unique among items of the same kind.
func unique(items []Item) {
	used := map[string]bool{}
	for i := range items {
		it := &items[i]
		node := it.Node
		for n := 2; used[node+"\x00"+string(it.Kind)]; n++ {
			node = fmt.Sprintf("%s#%d", it.Node, n)
		}
		it.Node = node
		used[node+"\x00"+string(it.Kind)] = true
	}
}

func readManifest(s Store) (*Manifest, error) {
	f, err := s.Open(ManifestName)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	if err != nil {
		return nil, err
	}
	return ParseManifest(ManifestName, text)
}

// subStore is a folder of a Store.
type subStore struct {
	store Store
	dir   string
}

func (b subStore) Names() ([]string, error)                { return nil, errors.ErrUnsupported }
func (b subStore) Open(name string) (io.ReadCloser, error) { return b.store.Open(b.dir + "/" + name) }

// folder is a folder of the file system as a Store.
type folder string

// Names returns the files in the folder and in its round folders.
func (f folder) Names() ([]string, error) {
	var files []string
	entries, err := os.ReadDir(string(f))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.IsDir() {
			files = append(files, e.Name())
			continue
		}
		if !roundName().MatchString(e.Name()) {
			continue
		}
		inner, err := os.ReadDir(filepath.Join(string(f), e.Name()))
		if err != nil {
			return nil, err
		}
		for _, i := range inner {
			if !i.IsDir() {
				files = append(files, e.Name()+"/"+i.Name())
			}
		}
	}
	return files, nil
}

// Open opens a regular file. It rejects others, because e.g. a pipe would block forever.
func (f folder) Open(name string) (io.ReadCloser, error) {
	if !fs.ValidPath(name) {
		return nil, fs.ErrInvalid
	}
	full := filepath.Join(string(f), filepath.FromSlash(name))
	info, err := os.Stat(full)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a file")
	}
	return os.Open(full)
}
