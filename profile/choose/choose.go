// Package choose finds the profiles that words name. What enters are words and a Chooser: how files are read, what is wanted of
// what holds several, and what only the caller can do, which is to read standard input, open a bundle, and pull. What leaves is
// a Choice, of profiles that are read when they are needed.
//
//  1. A word is a file, "-" for standard input, a folder or bundle of pulled profiles, or a URL. URLs are pulled together, over
//     one window, as are the processes of a cluster where no word names anything.
//  2. Of folders, bundles and pulls the profiles of one kind are taken, and of some nodes where those are named.
//  3. A Choice is read one by one, merged, or as inputs of a judgement by pgo.
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
	// Kind is what is taken of records; "" takes all but traces. Nodes are the only ones that are taken; nil: all.
	Kind  pull.Kind
	Nodes []string
	// Stdin is what "-" names.
	Stdin func(context.Context) (io.Reader, error)
	// Bundle reads the profiles that a bundle keeps; known is false for a file that is none.
	Bundle func(ctx context.Context, path string) (record *pull.Record, known bool, err error)
	// Pull takes profiles of services into a folder, or for no words those of the processes of a cluster, and says how all of
	// them are called.
	Pull func(ctx context.Context, urls []string, dir string) (name string, err error)
	// Missing hears of what a record was made to have, of what is wanted here, and may not have. nil: nobody wants to know.
	Missing func(Missing)
}

// Missing is what is not in a record, and where that is.
type Missing struct {
	Path     string
	Problems []pull.Problem
	Failures []*pull.Failure
}

// Choice are profiles, and what must be removed afterwards: Close it.
type Choice struct {
	// Name is what all of them together are called.
	Name string
	List []Profile
	temp []string
}

// Profile is one of those that words name. It is read when it is needed.
type Profile struct {
	// Name is how a person finds it again; Node, Role and Kind are "" if nothing tells.
	Name, Node, Role string
	// Words name it on a command line, with the flags that choose it where Words[0] holds several; nil
	// where none can: what was pulled just now, a profile of one of several rounds in a bundle.
	Words    []string
	Kind     pull.Kind
	From, To time.Time
	// Round counts those of a rolling record, from 0.
	Round int
	// Open gives the bytes; nil where they can be read but once. BuildID is what a manifest says, "" if nothing does.
	Open    func() (io.ReadCloser, error)
	BuildID string
	load    func(ctx context.Context) (*profile.Profile, error)
}

// UnknownNodeError is a node that none of the profiles is of.
type UnknownNodeError struct {
	Node  string
	Known []string
}

func (e *UnknownNodeError) Error() string { return fmt.Sprintf("no profile of node %q", e.Node) }

// Hint implements hints.Hinter.
func (e *UnknownNodeError) Hint() string { return "available: " + strings.Join(e.Known, ", ") }

// Choose finds the profiles that words name; without words those of the processes of a cluster.
func (c *Chooser) Choose(ctx context.Context, words []string) (*Choice, error) {
	choice, err := c.find(func(f *finder) error { return f.all(ctx, words) })
	if err == nil {
		choice.Name = strings.Join(redacted(words), ", ")
	}
	return choice, err
}

// File finds the profiles that one path holds.
func (c *Chooser) File(ctx context.Context, path string) (*Choice, error) {
	return c.find(func(f *finder) error { return f.file(ctx, path) })
}

// Record finds those of a record. path names it on a command line, "" if nothing does.
func (c *Chooser) Record(r *pull.Record, path string) (*Choice, error) {
	return c.find(func(f *finder) error { return f.record(r, path) })
}

func (c *Chooser) find(in func(*finder) error) (*Choice, error) {
	f := &finder{Chooser: c, Choice: &Choice{}}
	err := in(f)
	if err == nil {
		err = f.only()
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f.Choice, nil
}

// Close removes what was pulled.
func (c *Choice) Close() {
	for _, dir := range c.temp {
		_ = os.RemoveAll(dir)
	}
}

// redacted are words without credentials.
func redacted(words []string) []string {
	shown := slices.Clone(words)
	for i, word := range words {
		if strings.Contains(word, "://") {
			shown[i] = pull.RedactWord(word)
		}
	}
	return shown
}

// finder is one Choose.
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
		return f.pulled(ctx, urls)
	}
	return nil
}

// file finds what one path holds.
func (f *finder) file(ctx context.Context, path string) error {
	if path == "-" {
		const name = "standard input"
		in, err := f.Stdin(ctx)
		if err != nil {
			return err
		}
		f.add(Profile{Name: name}, func(ctx context.Context) (*profile.Profile, error) { return read.From(ctx, name, in, f.Read) })
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
	if info.Mode().IsRegular() { // what a pipe has said it does not say again
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

// record takes the profiles of the kind that is wanted.
func (f *finder) record(r *pull.Record, path string) error {
	f.tellMissing(r, path)
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
			Name: joinPath(path, item.Name), Words: recordWords(r, &item, path), Node: item.Node, Role: item.Role, Kind: item.Kind, From: item.From, To: item.To, Round: item.Round,
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

// tellMissing tells of the profiles that a record was made to have, and has not.
func (f *finder) tellMissing(r *pull.Record, path string) {
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

// recordWords name a profile of a record on a command line: a folder has it as a file, a bundle shows it by node and kind.
func recordWords(r *pull.Record, item *pull.Item, path string) []string {
	info, err := os.Stat(path)
	switch {
	case err != nil: // pulled just now
		return nil
	case info.IsDir():
		return []string{joinPath(path, item.Name)}
	case len(r.Rounds) > 1 || item.Node == "" || item.Kind == "":
		return nil
	}
	return []string{path, "--kind", string(item.Kind), "--node", item.Node}
}

// joinPath is how a profile of a record is called; one that was taken just now has no path.
func joinPath(path, name string) string {
	if path == "" {
		return name
	}
	return path + "/" + name
}

// pulled takes profiles of services, or of the processes of the cluster, and holds them in a temporary folder.
func (f *finder) pulled(ctx context.Context, urls []string) error {
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

// add takes a profile. Of one without a node, the samples are taken whose labels name a chosen node.
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

// only leaves the profiles of the nodes that are wanted, and those that tell no node.
func (f *finder) only() error {
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

// NoSuchFile is the error of a word that is no file. It may be an address, with credentials in it.
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
