package source

import (
	"context"
	"errors"
	"time"
)

// errFound ends a pass that has what it wanted.
var errFound = errors.New("found")

// Pin finds the root, reading from the newest record back until a live key
// proves it: that the file holds no other root is known when a Scan has seen
// all keys, and is said then.
func (s *boltSource) Pin(ctx context.Context) (Snapshot, error) {
	name := rootName(s.opts.Root)
	var finder rootFinder
	var chosen metaRoot
	classify := func() func([]byte) class { return (&rootClassifier{}).classify }
	err := s.file.pass(ctx, s.leaves, classify, func(kv KV, _ class) error {
		if !finder.add(kv.Key) {
			return nil
		}
		if chosen = finder.found[len(finder.found)-1]; name.decides(chosen) {
			return errFound
		}
		return nil
	})
	if err != nil && !errors.Is(err, errFound) {
		return nil, s.explain(err)
	}
	if err == nil {
		if chosen, err = chooseRoot(s.in.location, name, finder.found); err != nil {
			return nil, err
		}
	}
	snap := &boltSnapshot{source: s, header: Header{
		Origin: s.origin, Root: chosen.root, MetaPath: chosen.sub, Revision: s.revision,
		Taken: s.in.modified, FileDate: !s.in.modified.IsZero(),
	}}
	reserved, err := s.reserved(ctx, chosen.root)
	if err != nil {
		return nil, err
	}
	if !reserved.IsZero() { // a date may be of before or after: a copy moves it
		snap.header.Taken, snap.header.FileDate = reserved, false
	}
	snap.header.Recent, err = s.recent(ctx, chosen.root)
	return snap, err
}

// reservedLeaves are how many of the newest pages may hold Milvus's last word: it
// reserves timestamps every few seconds, whatever else it does.
const reservedLeaves = 256

// reserved is the upper end of the timestamps that Milvus has reserved: the state is
// at most three seconds older (RootCoord's allocator, internal/tso/tso.go). It is the
// one time in the file, and unlike the file's date it survives a copy. Zero if
// nothing near the end of the file says so.
func (s *boltSource) reserved(ctx context.Context, root string) (time.Time, error) {
	keys := allocatorKeys(root)
	var at time.Time
	classify := func() func([]byte) class {
		return func(k []byte) class {
			if string(k) == keys[0] || string(k) == keys[1] {
				return classWanted
			}
			return classNone
		}
	}
	newest := s.leaves[max(0, len(s.leaves)-reservedLeaves):]
	err := s.file.pass(ctx, newest, classify, func(kv KV, _ class) error {
		at = reservation(kv.Value)
		return errFound
	})
	if err != nil && !errors.Is(err, errFound) {
		return time.Time{}, s.explain(err)
	}
	return at, nil
}

// rootClassifier picks keys that may prove a root, and skips quickly over those
// of the root that it saw last.
type rootClassifier struct {
	// known are prefixes that are of no interest any more.
	known []string
}

func (c *rootClassifier) classify(key []byte) class {
	for _, prefix := range c.known {
		if len(key) >= len(prefix) && string(key[:len(prefix)]) == prefix {
			return classNone
		}
	}
	if _, ok := rootOf(string(key)); ok {
		return classRoot
	}
	return classNone
}

// boltSnapshot is the only revision that a file has: its newest.
type boltSnapshot struct {
	source *boltSource
	header Header
}

var _ Snapshot = (*boltSnapshot)(nil)

func (s *boltSnapshot) Header() Header { return s.header }

// Seekable is false: a file is in order of revision, so that any read is a pass over all.
func (s *boltSnapshot) Seekable() bool { return false }

// Close does nothing; the Source owns the file.
func (s *boltSnapshot) Close() error { return nil }

// Gaps lists damaged pages and records.
func (s *boltSnapshot) Gaps() []Gap { return s.source.file.gaps.list() }

// Scan yields the newest live revision of each wanted key, newest first. If no
// root was named and live keys of another root turn up, it ends with a *RootError.
func (s *boltSnapshot) Scan(ctx context.Context, ranges []Range, yield func(KV) error) error {
	src := s.source
	if err := checkRanges(ranges); err != nil {
		return err
	}
	other := rootFinder{found: []metaRoot{{s.header.Root, s.header.MetaPath}}}
	classify := s.classifier(newMatcher(ranges), src.opts.Root == "")
	err := src.file.pass(ctx, src.leaves, classify, func(kv KV, cl class) error {
		if cl&classRoot != 0 {
			other.add(kv.Key)
		}
		if cl&classWanted == 0 {
			return nil
		}
		if err := yield(kv); err != nil {
			return &yieldError{err}
		}
		return nil
	})
	var own *yieldError
	switch {
	case errors.As(err, &own):
		return own.err
	case err != nil:
		return src.explain(err)
	}
	if err := src.unchanged(); err != nil {
		return err
	}
	if len(other.found) > 1 {
		_, err = chooseRoot(src.in.location, "", other.found)
	}
	return err
}

// classifier marks keys in the ranges, and, to be sure that the root is the
// only one, keys that prove another.
func (s *boltSnapshot) classifier(wanted *matcher, roots bool) func() func([]byte) class {
	known := []string{s.header.MetaPrefix(), s.header.Root + "/kv/"}
	return func() func([]byte) class {
		m := wanted.clone()
		c := rootClassifier{known: known}
		return func(key []byte) class {
			cl := classNone
			if m.match(key) {
				cl = classWanted
			}
			if roots {
				cl |= c.classify(key)
			}
			return cl
		}
	}
}

// unchanged makes sure that nobody wrote to a file that was read in place.
func (s *boltSource) unchanged() error {
	if s.in.file == nil || s.guessed {
		return nil
	}
	after, err := readMeta(s.in)
	if err != nil || s.file.in == s.in && after != s.file.meta {
		return s.changed()
	}
	return nil
}
