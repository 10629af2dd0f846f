package faulttest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"kitescope/inspect/check/rules"
)

// Library is a folder of cases, with the captures that they edit.
type Library struct {
	Cases []*Case
	mu    sync.Mutex // guards bases
	bases map[string]*Base
	// snapshots is the folder of the captures.
	snapshots string
}

// caseSuffix is the suffix of case files.
const caseSuffix = ".txt"

// OpenLibrary reads all cases in a folder. Captures are read on demand.
func OpenLibrary(folder, snapshots string) (*Library, error) {
	l := &Library{bases: make(map[string]*Base), snapshots: snapshots}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("read the fault library: %w", err)
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), caseSuffix)
		if !ok {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read the fault library: %w", err)
		}
		c, err := ParseCase(name, string(text))
		if err != nil {
			return nil, err
		}
		l.Cases = append(l.Cases, c)
	}
	if len(l.Cases) == 0 {
		return nil, fmt.Errorf("%s holds no case", folder)
	}
	return l, nil
}

// Base returns a capture. It opens each only once.
func (l *Library) Base(ctx context.Context, name string) (*Base, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b := l.bases[name]; b != nil {
		return b, nil
	}
	b, err := OpenBase(ctx, filepath.Join(l.snapshots, name))
	if err == nil {
		l.bases[name] = b
	}
	return b, err
}

// Judge plays and judges one case. An error means that the case itself is wrong.
func (l *Library) Judge(ctx context.Context, c *Case) (*Verdict, error) {
	b, err := l.Base(ctx, c.Base)
	if err != nil {
		return nil, err
	}
	r, err := c.Play(ctx, b)
	if err != nil {
		return nil, err
	}
	return c.Judge(b, r), nil
}

// Uncovered returns the checks that lack a case that wants a finding, or one that forbids a finding while the
// check runs.
func Uncovered(verdicts []*Verdict) []string {
	wanted, forbidden := make(map[string]bool), make(map[string]bool)
	for _, v := range verdicts {
		for _, w := range v.Case.Want {
			wanted[w.Check] = true
		}
		for _, w := range v.Case.Forbidden {
			if v.Ran(w.Check) {
				forbidden[w.Check] = true
			}
		}
	}
	var list []string
	for _, x := range rules.All() {
		if !wanted[x.ID] {
			list = append(list, x.ID+": no case in which it has to find something")
		}
		if !forbidden[x.ID] {
			list = append(list, x.ID+": no near miss in which it has to stay silent")
		}
	}
	return list
}

// Unknown returns the names in cases that are not checks.
func (l *Library) Unknown() []string {
	known := map[string]bool{anyWarning: true, liveChecks: true, noCause: true}
	for _, x := range rules.All() {
		known[x.ID] = true
	}
	var list []string
	for _, c := range l.Cases {
		for _, w := range slices.Concat(c.Want, c.Forbidden, c.Allowed) {
			for _, id := range []string{w.Check, w.Cause} {
				if id != "" && !known[id] {
					list = append(list, fmt.Sprintf("%s: line %d: there is no check %s", c.Name, w.Line.Number, id))
				}
			}
		}
	}
	return list
}

// ReplaceBetween replaces the text between two marks, each on a line of its own.
func ReplaceBetween(text, begin, end, with string) (string, error) {
	i := strings.Index(text, begin+"\n")
	j := strings.Index(text, end)
	if i < 0 || j < i {
		return "", errors.New("the marks " + begin + " and " + end + " are missing")
	}
	return text[:i+len(begin)+1] + with + text[j:], nil
}
