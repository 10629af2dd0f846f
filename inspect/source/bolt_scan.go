package source

import (
	"context"
	"errors"
	"time"
)

// errFound ends a pass that has found its result.
var errFound = errors.New("found")

// Pin finds the root by reading from the newest record backward until a live key identifies it. Only a Scan
// over all keys can detect that the file has another root; Scan then returns the error.
func (s *boltSource) Pin(ctx context.Context) (Snapshot, error) {
	name := rootName(s.opts.Root)
	var finder rootFinder
	var chosen metaRoot
	classify := func() func([]byte) class { return (&rootClassifier{}).classify }
	err := s.file.pass(ctx, s.leaves, allRevisions, classify, func(kv KV, _ class) error {
		if r, ok := finder.add(kv.Key); ok && name.matchesExactly(r) {
			chosen = r
			return errFound
		}
		return nil
	})
	if err != nil && !errors.Is(err, errFound) {
		return nil, s.explain(err)
	}
	if err == nil {
		if chosen, err = chooseRoot(s.in.location, name, finder.found(name)); err != nil {
			return nil, err
		}
	}
	return s.snapshotAt(ctx, Header{Origin: s.origin, Root: chosen.root, MetaPath: chosen.sub}, s.leaves, allRevisions)
}

// snapshotAt returns a snapshot at a revision; present means the newest revision of the file. h provides the root.
func (s *boltSource) snapshotAt(ctx context.Context, h Header, leaves []uint64, upTo int64) (*boltSnapshot, error) {
	snap := &boltSnapshot{
		source: s, leaves: leaves, upTo: upTo, header: Header{Origin: s.origin, Root: h.Root, MetaPath: h.MetaPath},
	}
	snap.header.Revision = min(upTo, s.revision)
	reserved, err := s.reservedTime(ctx, h.Root, leaves, upTo)
	switch {
	case err != nil:
		return nil, err
	case !reserved.IsZero(): // the file date may be earlier or later, because a copy changes it
		snap.header.Taken = reserved
	case upTo >= s.revision:
		snap.header.Taken, snap.header.FileDate = s.in.modified, !s.in.modified.IsZero()
	}
	snap.header.Recent, err = s.recentWrites(ctx, h.Root, leaves, upTo)
	return snap, err
}

// reservedLeaves is the number of newest pages to search for the last timestamp reservation. Milvus reserves
// timestamps every few seconds, even when idle.
const reservedLeaves = 256

// reservedTime returns the upper end of the timestamps that Milvus has reserved. The state is at most three seconds
// older (RootCoord's allocator, internal/tso/tso.go). It is the only time in the file and, unlike the file
// date, survives a copy. It is zero if the newest pages have no reservation.
func (s *boltSource) reservedTime(ctx context.Context, root string, leaves []uint64, upTo int64) (time.Time, error) {
	keys := AllocatorKeys(root)
	var at time.Time
	newest := leaves[max(0, len(leaves)-reservedLeaves):]
	err := s.file.pass(ctx, newest, upTo, classifyKeys(keys[:]...), func(kv KV, _ class) error {
		at = Reservation(kv.Value)
		return errFound
	})
	if err != nil && !errors.Is(err, errFound) {
		return time.Time{}, s.explain(err)
	}
	return at, nil
}

// rootClassifier selects keys that may identify a root. It skips keys with a known prefix.
type rootClassifier struct {
	// known holds prefixes to skip.
	known []string
}

func (c *rootClassifier) classify(key []byte) class {
	for _, prefix := range c.known {
		if len(key) >= len(prefix) && string(key[:len(prefix)]) == prefix {
			return classNone
		}
	}
	if _, _, ok := rootOf(string(key)); ok {
		return classRoot
	}
	return classNone
}

// boltSnapshot is a file at a revision.
type boltSnapshot struct {
	source *boltSource
	header Header
	// leaves holds everything up to revision upTo, and may hold later revisions.
	leaves []uint64
	upTo   int64
}

var _ Snapshot = (*boltSnapshot)(nil)

func (s *boltSnapshot) Header() Header { return s.header }

// Seekable returns false because a file is in revision order, so any read is a pass over all leaves.
func (s *boltSnapshot) Seekable() bool { return false }

// Close does nothing, because the Source owns the file.
func (s *boltSnapshot) Close() error { return nil }

// Gaps returns damaged pages and records.
func (s *boltSnapshot) Gaps() []Gap { return s.source.file.gaps.list() }

// Scan yields the newest revision of each live key in the ranges, newest first. If Options.Root is empty and
// there are live keys of another root, it returns a *RootError at the end.
func (s *boltSnapshot) Scan(ctx context.Context, ranges []Range, yield func(KV) error) error {
	src := s.source
	if err := checkRanges(ranges); err != nil {
		return err
	}
	other := rootFinder{clusters: []metaRoot{{s.header.Root, s.header.MetaPath}}}
	classify := s.classifier(newMatcher(ranges), src.opts.Root == "")
	err := src.file.pass(ctx, s.leaves, s.upTo, classify, func(kv KV, cl class) error {
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
	if err := src.checkUnchanged(); err != nil {
		return err
	}
	if len(other.clusters) > 1 {
		_, err = chooseRoot(src.in.location, "", other.clusters)
	}
	return err
}

// classifier selects keys in the ranges. If roots is set, it also selects keys that identify another root.
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

// checkUnchanged returns an error if the file was modified while it was read in place.
func (s *boltSource) checkUnchanged() error {
	if s.in.file == nil || s.metaGuessed {
		return nil
	}
	after, err := readMeta(s.in)
	if err != nil || s.file.in == s.in && after != s.file.meta {
		return s.changedError()
	}
	return nil
}
