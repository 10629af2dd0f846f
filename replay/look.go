package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kitescope/engine/manifest"
	"kitescope/engine/object"
	"kitescope/engine/segment"
)

// Look holds a layout against storage without reading files: which of the segments have all that the metadata names. Bytes is how much
// there is to read. A growing segment that storage has nothing of is missing; how many of its rows there are only Load tells.
func Look(ctx context.Context, store object.Store, l *Layout) (*Coverage, error) {
	there, err := listed(ctx, store, l)
	if err != nil {
		return nil, err
	}
	c := &Coverage{Segments: len(l.Segments)}
	for i := range l.Segments {
		s := &l.Segments[i]
		if s.Rows >= 0 {
			c.Rows += s.Rows
		} else {
			c.RowsUnknown++
		}
		reason, bytes := there.lacking(s)
		c.Bytes += bytes
		if reason != "" {
			c.Missing = append(c.Missing, Missing{Segment: s.ID, State: s.State, Rows: s.Rows, Of: s.Rows, Reason: reason})
			continue
		}
		c.Loaded++
		c.Covered += max(s.Rows, 0)
	}
	return c, nil
}

// listing is files by name, and how large they are.
type listing struct {
	sizes   map[string]int64
	folders map[string]int64 // bytes below, of index folders
	// followed are the files of segments that a manifest names, by segment, and refused why one cannot be followed.
	followed map[int64]*segment.Files
	refused  map[int64]error
}

// listed lists the collection's part of the store: logs lie below the collection, index files below builds.
func listed(ctx context.Context, store object.Store, l *Layout) (*listing, error) {
	x := &listing{map[string]int64{}, map[string]int64{}, map[int64]*segment.Files{}, map[int64]error{}}
	done := map[string]bool{}
	for i := range l.Segments {
		f := l.Segments[i].Files
		if f == nil {
			continue
		}
		if f.Manifest != "" {
			followed, _, err := f.Follow(ctx, store)
			if _, unread := errors.AsType[*manifest.UnreadError](err); unread || ctx.Err() != nil {
				return nil, fmt.Errorf("list the files of segment %d: %w", f.Segment, err)
			}
			if err != nil {
				x.refused[f.Segment] = err
				continue
			}
			x.followed[f.Segment], f = followed, followed
		}
		var names []string
		for _, list := range f.Insert {
			names = append(names, list...)
		}
		names = append(names, f.Delta...)
		for _, folder := range f.Indexes {
			names = append(names, folder+"/")
		}
		for _, name := range names {
			prefix := segmentPrefix(name, f.Segment)
			if done[prefix] {
				continue
			}
			done[prefix] = true
			files, err := store.List(ctx, prefix)
			if err != nil {
				return nil, fmt.Errorf("list the files of segment %d: %w", f.Segment, err)
			}
			for _, file := range files {
				x.sizes[file.Name] = file.Size
			}
		}
	}
	for name, size := range x.sizes {
		if at := strings.LastIndexByte(name, '/'); at >= 0 {
			x.folders[name[:at]] += size
		}
	}
	return x, nil
}

// segmentPrefix is the part of a path up to the segment, so that one listing has all of its logs of a kind.
func segmentPrefix(name string, segment int64) string {
	id := fmt.Sprintf("/%d/", segment)
	if at := strings.Index(name, id); at >= 0 {
		return name[:at+len(id)]
	}
	return name
}

// lacking says what of a segment is not there, "" if it is whole, and how large its files are.
func (x *listing) lacking(s *Segment) (reason string, bytes int64) {
	if !s.Files.Named() {
		if s.State == Growing {
			return "growing, nothing in storage yet", 0
		}
		return "no insert logs in the metadata", 0
	}
	files := s.Files
	if files.Manifest != "" {
		if err := x.refused[files.Segment]; err != nil {
			return err.Error(), 0
		}
		files = x.followed[files.Segment]
	}
	var missing []string
	count := func(names []string) {
		for _, name := range names {
			size, ok := x.sizes[name]
			if bytes += size; !ok {
				missing = append(missing, name)
			}
		}
	}
	for _, list := range files.Insert {
		count(list)
	}
	count(files.Delta)
	slices.Sort(missing)
	switch {
	case len(missing) == 1:
		reason = missing[0] + " is missing"
	case len(missing) > 1:
		reason = fmt.Sprintf("%s and %d more files are missing", missing[0], len(missing)-1)
	}
	if s.State != Indexed {
		return reason, bytes
	}
	for _, folder := range s.Files.Indexes {
		if size, ok := x.folders[strings.TrimSuffix(folder, "/")]; ok {
			return reason, bytes + size
		}
	}
	reason = cmp.Or(reason, "its index files are missing")
	return reason, bytes
}
