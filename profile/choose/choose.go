// Package choose resolves command-line words to profiles. A Chooser configures how files are read and which kind and
// nodes are wanted, and provides the functions that only the caller can implement: read standard input, open a bundle,
// and pull. The result is a Choice, whose profiles are read when they are needed.
//
//  1. A word is a file, "-" for standard input, a folder or bundle of pulled profiles, or a URL. URLs are
//     pulled together over one window. Without words, the processes of a cluster are pulled in the same way.
//  2. Folders, bundles and pulls have profiles of several kinds and nodes. One kind is selected, and certain
//     nodes if the caller names any.
//  3. A Choice is read profile by profile, merged, or converted to inputs for package pgo.
package choose

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"kitescope/internal/hints"
	"kitescope/profile"
	"kitescope/profile/pull"
	"kitescope/profile/read"
)

// Chooser finds profiles.
type Chooser struct {
	// Read configures how files are read.
	Read read.Options
	// Kind is the kind to select from records. "" selects all but traces. Nodes limits the selection to these
	// nodes. If nil, all are selected.
	Kind  pull.Kind
	Nodes []string
	// Stdin opens the input for "-".
	Stdin func(context.Context) (io.Reader, error)
	// Bundle reads the profiles in a bundle. known is false if the file is not a bundle.
	Bundle func(ctx context.Context, path string) (record *pull.Record, known bool, err error)
	// Pull pulls profiles of services into a folder, or of the processes of a cluster if urls is empty. It
	// returns a common name for the profiles.
	Pull func(ctx context.Context, urls []string, dir string) (name string, err error)
	// Missing is called if a record has problems or failures that may concern the wanted profiles. It may be
	// nil.
	Missing func(Missing)
}

// Missing holds the problems and failures of a record, and its path.
type Missing struct {
	Path     string
	Problems []pull.Problem
	Failures []*pull.Failure
}

// Choice holds the chosen profiles and the paths of temporary files, which Close removes.
type Choice struct {
	// Name is the name of all profiles together.
	Name string
	List []Profile
	temp []string
}

// Profile is a selected profile. It is read when it is needed.
type Profile struct {
	// Name identifies the profile for users. Node, Role and Kind are "" if unknown.
	Name, Node, Role string
	// Words are the command-line arguments that select the profile, including flags if Words[0] contains
	// several profiles. They are nil if no arguments do: for a fresh pull, or for a profile in a bundle of
	// several rounds.
	Words    []string
	Kind     pull.Kind
	From, To time.Time
	// Round is the round of a rolling record, from 0.
	Round int
	// Open opens the raw bytes. It is nil if they can be read only once. BuildID comes from the manifest, ""
	// if unknown.
	Open    func() (io.ReadCloser, error)
	BuildID string
	load    func(ctx context.Context) (*profile.Profile, error)
}

// UnknownNodeError is the error for a node without profiles in the source.
type UnknownNodeError struct {
	Node  string
	Known []string
}

func (e *UnknownNodeError) Error() string { return fmt.Sprintf("no profile of node %q", e.Node) }

// Hint implements hints.Hinter.
func (e *UnknownNodeError) Hint() string { return "available: " + strings.Join(e.Known, ", ") }

// Choose returns the profiles for the given words. Without words it pulls profiles of the processes of a
// cluster.
func (c *Chooser) Choose(ctx context.Context, words []string) (*Choice, error) {
	choice, err := c.find(func(f *finder) error { return f.all(ctx, words) })
	if err == nil {
		choice.Name = strings.Join(redacted(words), ", ")
	}
	return choice, err
}

// File returns the profiles in the file or folder at path.
func (c *Chooser) File(ctx context.Context, path string) (*Choice, error) {
	return c.find(func(f *finder) error { return f.file(ctx, path) })
}

// Record returns the profiles in a record. path is its command-line argument, "" if it has none.
func (c *Chooser) Record(r *pull.Record, path string) (*Choice, error) {
	return c.find(func(f *finder) error { return f.record(r, path) })
}

func (c *Chooser) find(in func(*finder) error) (*Choice, error) {
	f := &finder{Chooser: c, Choice: &Choice{}}
	err := in(f)
	if err == nil {
		err = f.filterNodes()
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f.Choice, nil
}

// Close removes the temporary files of pulled profiles.
func (c *Choice) Close() {
	for _, dir := range c.temp {
		_ = os.RemoveAll(dir)
	}
}

// redacted returns the words without credentials.
func redacted(words []string) []string {
	shown := slices.Clone(words)
	for i, word := range words {
		if strings.Contains(word, "://") {
			shown[i] = pull.RedactWord(word)
		}
	}
	return shown
}

// finder is the state of a call of Choose, File or Record.
type finder struct {
	*Chooser
	*Choice
}

func (f *finder) all(ctx context.Context, words []string) error {
	var urls []string
	for _, word := range words {
		if strings.Contains(word, "://") {
			urls = append(urls, word) // pulled together, over one window
			continue
		}
		if err := f.file(ctx, word); err != nil {
			return err
		}
	}
	if len(urls) > 0 || len(words) == 0 {
		return f.addPulled(ctx, urls)
	}
	return nil
}

// file adds the profiles at one path.
func (f *finder) file(ctx context.Context, path string) error {
	if path == "-" {
		const name = "standard input"
		in, err := f.Stdin(ctx)
		if err != nil {
			return err
		}
		f.add(Profile{Name: name}, func(ctx context.Context) (*profile.Profile, error) {
			return read.From(ctx, name, in, f.Read)
		})
		return nil
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return NoSuchFile(path)
	case err != nil:
		return fmt.Errorf("read %s: %w", path, err)
	case info.IsDir():
		record, err := pull.Read(path)
		if err != nil {
			return err
		}
		return f.record(record, path)
	}
	one := Profile{Name: path, Words: []string{path}}
	if info.Mode().IsRegular() { // a pipe cannot be read twice
		record, known, err := f.Bundle(ctx, path)
		if err != nil {
			return err
		}
		if known {
			return f.record(record, path)
		}
		one.Open = func() (io.ReadCloser, error) { return os.Open(path) }
	}
	f.add(one, func(ctx context.Context) (*profile.Profile, error) { return read.Open(ctx, path, f.Read) })
	return nil
}

// record adds the profiles of the wanted kind.
func (f *finder) record(r *pull.Record, path string) error {
	f.reportMissing(r, path)
	var kinds []string
	found := false
	for _, item := range r.Items {
		if item.Kind == pull.Trace || f.Kind != "" && item.Kind != f.Kind && item.Kind != "" {
			if !slices.Contains(kinds, string(item.Kind)) {
				kinds = append(kinds, string(item.Kind))
			}
			continue
		}
		found = true
		one := Profile{
			Name: joinPath(path, item.Name), Words: recordWords(r, &item, path), Node: item.Node, Role: item.Role,
			Kind: item.Kind, From: item.From, To: item.To, Round: item.Round,
			Open: item.Open, BuildID: item.BuildID,
		}
		f.add(one, func(ctx context.Context) (*profile.Profile, error) {
			file, err := item.Open()
			if err != nil && path != "" {
				err = fmt.Errorf("%s: %w", path, err)
			}
			if err != nil {
				return nil, err
			}
			defer file.Close()
			return read.From(ctx, one.Name, file, f.Read)
		})
	}
	if !found {
		none := &hints.Error{Err: fmt.Errorf("read %s: no %s profile in it", path, f.Kind)}
		if len(kinds) > 0 {
			none.Advice = "it has: --kind " + strings.Join(kinds, ", ")
		}
		return none
	}
	return nil
}

// reportMissing calls Missing if the record has problems, or failures of wanted profiles.
func (f *finder) reportMissing(r *pull.Record, path string) {
	if f.Missing == nil {
		return
	}
	var asked pull.Manifest
	for _, round := range r.Rounds {
		if round.Manifest == nil {
			continue
		}
		for i := range round.Manifest.Profiles {
			e := &round.Manifest.Profiles[i]
			if (f.Kind == "" || e.Kind == f.Kind) && (len(f.Nodes) == 0 || slices.Contains(f.Nodes, e.Node)) {
				asked.Profiles = append(asked.Profiles, *e)
			}
		}
	}
	if failures := asked.Failures(); len(r.Problems)+len(failures) > 0 {
		f.Missing(Missing{path, r.Problems, failures})
	}
}

// recordWords returns the arguments that select a profile of a record. In a folder the profile is a file. In
// a bundle it is selected by node and kind.
func recordWords(r *pull.Record, item *pull.Item, path string) []string {
	info, err := os.Stat(path)
	switch {
	case err != nil: // a fresh pull
		return nil
	case info.IsDir():
		return []string{joinPath(path, item.Name)}
	case len(r.Rounds) > 1 || item.Node == "" || item.Kind == "":
		return nil
	}
	return []string{path, "--kind", string(item.Kind), "--node", item.Node}
}

// joinPath returns the name of a profile in a record. path is "" for a record without a name.
func joinPath(path, name string) string {
	if path == "" {
		return name
	}
	return path + "/" + name
}

// addPulled pulls the profiles of services, or of the processes of the cluster, into a temporary folder and adds
// them.
func (f *finder) addPulled(ctx context.Context, urls []string) error {
	dir, err := os.MkdirTemp("", "kitescope-profiles-")
	if err != nil {
		return fmt.Errorf("pull: %w", err)
	}
	f.temp = append(f.temp, dir)
	name, err := f.Pull(ctx, urls, dir)
	if err != nil {
		return err
	}
	record, err := pull.Read(dir)
	if err != nil {
		return err
	}
	return f.record(record, name)
}

// add adds a profile. If its node is unknown, only the samples labelled with a wanted node are used.
func (f *finder) add(p Profile, body func(context.Context) (*profile.Profile, error)) {
	p.load = func(ctx context.Context) (*profile.Profile, error) {
		q, err := body(ctx)
		if err != nil || len(f.Nodes) == 0 || p.Node != "" {
			return q, err
		}
		return q.Filter(&profile.Filter{Nodes: f.Nodes}), nil
	}
	f.List = append(f.List, p)
}

// filterNodes removes the profiles of unwanted nodes. It keeps profiles whose node is unknown.
func (f *finder) filterNodes() error {
	if len(f.Nodes) == 0 {
		return nil
	}
	var known []string
	kept := slices.DeleteFunc(slices.Clone(f.List), func(p Profile) bool {
		if p.Node != "" && !slices.Contains(known, p.Node) {
			known = append(known, p.Node)
		}
		return p.Node != "" && !slices.Contains(f.Nodes, p.Node)
	})
	for _, node := range f.Nodes {
		if len(known) > 0 && !slices.Contains(known, node) {
			return &UnknownNodeError{Node: node, Known: known}
		}
	}
	f.List = kept
	return nil
}

// NoSuchFile returns the error for a word that is not a file. It redacts the word, which may be an address
// with credentials.
func NoSuchFile(word string) error {
	shown := word
	host, port, err := net.SplitHostPort(strings.SplitN(word, "/", 2)[0])
	isAddress := err == nil && host != "" && port != ""
	if isAddress || strings.Contains(word, ":") {
		shown = pull.RedactWord(word)
	}
	err = fmt.Errorf("read %s: no such file", shown)
	if isAddress {
		return &hints.Error{Err: err, Advice: "if it is a service: http://" + shown}
	}
	return err
}
