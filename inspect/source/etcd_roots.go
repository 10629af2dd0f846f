package source

import (
	"context"
	"errors"
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"golang.org/x/sync/errgroup"

	"kitescope/internal/hints"
)

// The root must be found without reading the whole store. Reading one key is cheap, but for a range etcd (all
// versions to 3.6) walks its whole index to count the keys, even with a limit of 1. Therefore the default root
// is tried by name first, and only the ranges outside the roots found so far, the "holes", are searched.
//
// The first key of a hole identifies one directory. Each ancestor of the directory is tested as a root, with
// its "meta" child too. The directory is skipped afterwards. If many directories have no result (an etcd shared
// with other applications), the search continues after their parent. The number of requests is bounded.
const (
	maxSeeks = 200
	// maxDepth is the maximum depth of a root path.
	maxDepth = 6
	// widenAfter is the maximum number of sub-directories without a result to examine in one directory,
	// widenKeys the maximum number of keys.
	widenAfter = 12
	widenKeys  = 3
)

// findRoot returns the root to use.
func (s *Etcd) findRoot(ctx context.Context, r *reader, revision int64) (metaRoot, error) {
	f := &rootSearch{source: s, reader: r, revision: revision}
	s.mu.Lock()
	known := s.root
	s.mu.Unlock()
	if known != (metaRoot{}) {
		// An earlier Pin found this root; check that it still exists.
		if found, err := f.test(ctx, []metaRoot{known}); err != nil || len(found) > 0 {
			return known, err
		}
	}
	name := rootName(s.opts.Root)
	if name != "" {
		if root, ok, err := f.testName(ctx, string(name)); err != nil || ok {
			s.remember(root)
			return root, err
		}
		f.tested = nil
	}
	if err := f.findAll(ctx); err != nil {
		return metaRoot{}, err
	}
	clusters, err := f.clusters(ctx)
	if err != nil {
		return metaRoot{}, err
	}
	root, err := chooseRoot(s.address.location(), name, clusters)
	if err != nil && f.seeks >= maxSeeks {
		err = hints.Errorf("name the root: --root ROOT", "%w (only the first %d directories were searched)", err,
			maxSeeks)
	}
	s.remember(root)
	return root, err
}

func (s *Etcd) remember(root metaRoot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.root = root
}

type rootSearch struct {
	source   *Etcd
	reader   *reader
	revision int64
	found    []metaRoot
	// tested holds the directories that are not roots.
	tested map[metaRoot]bool
	seeks  int
}

// testName tests the roots that name may refer to, with and without a leading slash.
func (f *rootSearch) testName(ctx context.Context, name string) (metaRoot, bool, error) {
	name = strings.TrimSuffix(name, "/")
	for _, dir := range []string{name, "/" + strings.TrimPrefix(name, "/")} {
		candidates := []metaRoot{{root: dir, sub: defaultSubPath}}
		if r, ok := splitRoot(dir); ok {
			candidates = append(candidates, r)
		}
		found, err := f.test(ctx, candidates)
		if err != nil {
			return metaRoot{}, false, err
		}
		if len(found) > 0 {
			return found[0], true, nil
		}
	}
	return metaRoot{}, false, nil
}

// findAll adds every root to f.found.
func (f *rootSearch) findAll(ctx context.Context) error {
	found, err := f.test(ctx, []metaRoot{{root: "by-dev", sub: defaultSubPath}})
	if err != nil {
		return err
	}
	f.found = found
	children := map[string]int{}
	from := ""
	for f.seeks < maxSeeks {
		key, err := f.firstKey(ctx, from)
		if err != nil || key == "" {
			return err
		}
		found, err := f.test(ctx, candidates(key))
		if err != nil {
			return err
		}
		f.found = append(f.found, found...)
		if from = key; len(found) == 0 {
			from = nextPosition(key, children)
		}
		if from == "" {
			return nil
		}
	}
	return nil
}

// clusters returns the found roots. It omits roots where processes only registered, unless no other root was
// found. It reads nothing if only one root was found.
func (f *rootSearch) clusters(ctx context.Context) ([]metaRoot, error) {
	if len(f.found) < 2 {
		return f.found, nil
	}
	var marks []Range
	for _, r := range f.found {
		for _, mark := range catalogs() {
			marks = append(marks, Prefix(r.prefix()+mark))
		}
	}
	hits, err := f.anyKeys(ctx, marks)
	if err != nil {
		return nil, err
	}
	var list, rest []metaRoot
	n := len(catalogs())
	for i, r := range f.found {
		if slices.Contains(hits[i*n:(i+1)*n], true) {
			list = append(list, r)
		} else {
			rest = append(rest, r)
		}
	}
	if len(list) == 0 {
		return rest, nil
	}
	f.source.mu.Lock()
	defer f.source.mu.Unlock()
	f.source.registered = rest
	return list, nil
}

// candidates returns the metadata directories that may contain key, and the default ones next to it.
func candidates(key string) []metaRoot {
	var out []metaRoot
	for i, depth := 1, 0; i < len(key) && depth < maxDepth; i++ {
		if key[i] != '/' {
			continue
		}
		depth++
		if r, ok := splitRoot(key[:i]); ok {
			out = append(out, r)
		}
		out = append(out, metaRoot{root: key[:i], sub: defaultSubPath})
	}
	return out
}

// nextPosition returns the position at which to continue after a key without a result: after the key or, if its
// directory has too many children without a result, after the directory, and so on for the ancestors.
func nextPosition(key string, children map[string]int) string {
	skip, behind, enough := key, key+"\x00", widenKeys
	for {
		i := strings.LastIndexByte(strings.TrimSuffix(skip, "/"), '/')
		if i < 0 {
			return behind
		}
		parent := skip[:i+1]
		deep := strings.Count(parent, "/") > maxDepth
		children[parent]++
		if !deep && children[parent] <= enough {
			return behind
		}
		skip, behind, enough = parent, prefixEnd(parent), widenAfter
	}
}

// knownRanges returns the ranges that belong to known roots.
func (f *rootSearch) knownRanges() []Range {
	var known []Range
	for _, r := range f.found {
		known = append(known, Prefix(r.prefix()), Prefix(r.root+"/kv/"), Prefix(r.root+"/config/"))
	}
	return mergeRanges(known)
}

// firstKey returns the first key at or after from that does not belong to a known root.
func (f *rootSearch) firstKey(ctx context.Context, from string) (string, error) {
	for _, hole := range subtract(Range{From: from}, f.knownRanges()) {
		f.seeks++
		key, err := f.first(ctx, hole)
		if err != nil || key != "" {
			return key, err
		}
	}
	return "", nil
}

// first returns the first key of r that the account may read, or "" if there is none.
func (f *rootSearch) first(ctx context.Context, r Range) (string, error) {
	granted := f.source.grantedRanges()
	parts := []Range{r}
	if granted != nil {
		parts = intersect(r, granted)
	}
	for _, part := range parts {
		p, err := f.reader.rangePage(ctx, rangeRequest{keys: part, limit: 1, revision: f.revision, keysOnly: true})
		if errors.Is(err, rpctypes.ErrPermissionDenied) && granted == nil {
			if err := f.source.requestGranted(ctx, f.reader); err != nil {
				return "", err
			}
			return f.first(ctx, r)
		}
		if err != nil {
			return "", err
		}
		if p.lastKey != "" {
			return p.lastKey, nil
		}
	}
	return "", nil
}

// test returns the candidates that hold metadata. It first requests one key that every Milvus has, and
// afterwards the directories of older or damaged installations.
func (f *rootSearch) test(ctx context.Context, candidates []metaRoot) ([]metaRoot, error) {
	var open []metaRoot
	for _, r := range candidates {
		if !f.tested[r] && !slices.Contains(f.found, r) && !slices.Contains(open, r) {
			open = append(open, r)
		}
	}
	session := make([]Range, len(open))
	for i, r := range open {
		session[i] = singleKey(r.prefix() + sessionID)
	}
	hits, err := f.anyKeys(ctx, session)
	if err != nil {
		return nil, err
	}
	var found, rest []metaRoot
	var marks []Range
	for i, r := range open {
		if hits[i] {
			found = append(found, r)
			continue
		}
		rest = append(rest, r)
		for _, mark := range rootMarkers() {
			marks = append(marks, Prefix(r.prefix()+mark))
		}
	}
	if hits, err = f.anyKeys(ctx, marks); err != nil {
		return nil, err
	}
	n := len(rootMarkers())
	for i, r := range rest {
		if slices.Contains(hits[i*n:(i+1)*n], true) {
			found = append(found, r)
			continue
		}
		if f.tested == nil {
			f.tested = map[metaRoot]bool{}
		}
		f.tested[r] = true
	}
	return found, nil
}

// anyKeys reports for each range whether it contains a key. It requests ranges in parallel.
func (f *rootSearch) anyKeys(ctx context.Context, ranges []Range) ([]bool, error) {
	const parallel = 8
	hits := make([]bool, len(ranges))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i, r := range ranges {
		group.Go(func() error {
			key, err := f.first(ctx, r)
			hits[i] = key != ""
			return err
		})
	}
	return hits, group.Wait()
}
