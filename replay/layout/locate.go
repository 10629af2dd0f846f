package layout

import (
	"context"
	"maps"
	"path"
	"slices"

	"kitescope/replay"
)

// Locate finds the path in a store that contains the files of a layout, and returns the layout with that path as
// its root. The store can therefore be opened at the bucket, at the folder above, or at the root itself. Locate
// tries the layout's own root, the top of the store, and Milvus's default. has reports whether the store has a
// file with a name, or any file below it. If none of a few sample files is found, Locate returns the layout
// unchanged and found is false.
func Locate(
	ctx context.Context, has func(ctx context.Context, name string) (bool, error), l *replay.Layout,
) (located *replay.Layout, found bool, err error) {
	samples := sample(l)
	for _, root := range slices.Compact([]string{l.Root, "", "files"}) {
		for _, name := range samples {
			_, rest := split(name)
			there, err := has(ctx, path.Join(root, rest))
			if err != nil {
				return nil, false, err
			}
			if there {
				return withRoot(l, root), true, nil
			}
		}
	}
	return l, false, nil
}

// sample returns the names of at most five files of different segments, because some may be deleted.
func sample(l *replay.Layout) (names []string) {
	const most = 5
	for i := range l.Segments {
		if f := l.Segments[i].Files; f != nil && len(names) < most {
			if f.Manifest != "" {
				names = append(names, f.Manifest)
				continue
			}
			for _, field := range sortedKeys(f.Insert) {
				names = append(names, f.Insert[field][0])
				break
			}
		}
	}
	return names
}

// withRoot returns the layout with its files under another root.
func withRoot(l *replay.Layout, root string) *replay.Layout {
	if root == l.Root {
		return l
	}
	led := func(name string) string {
		_, rest := split(name)
		return path.Join(root, rest)
	}
	move := func(names []string) []string {
		out := make([]string, len(names))
		for i, name := range names {
			out[i] = led(name)
		}
		return out
	}
	next := *l
	next.Root = root
	next.Segments = slices.Clone(l.Segments)
	for i := range next.Segments {
		if f := next.Segments[i].Files; f != nil {
			g := *f
			g.Insert, g.Delta, g.Indexes = maps.Clone(f.Insert), move(f.Delta), move(f.Indexes)
			for field, names := range f.Insert {
				g.Insert[field] = move(names)
			}
			if f.Manifest != "" {
				g.Manifest = led(f.Manifest)
			}
			next.Segments[i].Files = &g
		}
	}
	next.L0 = slices.Clone(l.L0)
	for i := range next.L0 {
		next.L0[i].Files = move(next.L0[i].Files)
	}
	return &next
}
