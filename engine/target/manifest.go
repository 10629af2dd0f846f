package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"kitescope/engine/manifest"
	"kitescope/engine/object"
)

// manifest describes the file if it is a manifest of storage version 3. A manifest lists the files of a segment.
func (l *Log) manifest(ctx context.Context, store object.Store, name string) (is bool, err error) {
	r, err := store.Open(ctx, name)
	if err != nil {
		return false, nil // the other kinds in DescribeLog report the error
	}
	defer r.Close()
	head := make([]byte, 16)
	n, err := r.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) || !manifest.HasMagic(head[:n]) {
		return false, nil
	}
	m, err := manifest.Open(ctx, store, name)
	if errors.Is(err, manifest.ErrNotManifest) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	l.Kind, l.Bytes = "manifest", r.Size()
	l.text("type", l.Kind+" of storage version 3")
	for i, g := range m.Groups {
		rows := int64(0)
		var names []string
		for _, f := range g.Files {
			rows += f.End - f.Start
			names = append(names, path.Base(f.Path))
		}
		if i == 0 {
			l.count("rows", "rows", rows)
			l.count("column groups", "column_groups", int64(len(m.Groups)))
		}
		l.text("column group "+strconv.Itoa(i),
			fmt.Sprintf("fields %s, %d rows in %s: %s", strings.Join(g.Columns, ", "), rows, g.Format,
				strings.Join(names, ", ")))
	}
	deletes := int64(0)
	for _, d := range m.Deltas {
		deletes += d.Entries
		l.text("delta log", fmt.Sprintf("%s, %d deletes", path.Base(d.Path), d.Entries))
	}
	l.count("deletes", "deletes", deletes)
	var kinds []string
	for kind := range m.Stats {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	for _, kind := range kinds {
		l.text("statistics "+kind, filesOf(len(m.Stats[kind].Paths)))
	}
	for _, x := range m.Indexes {
		l.text("index "+x.Name,
			fmt.Sprintf("%s of field %d, build %d, %s in %s", x.Type, x.FieldID, x.Build, filesOf(len(x.Files)),
				path.Base(x.Path)))
	}
	for _, x := range m.Objects {
		l.text("large values",
			fmt.Sprintf("field %d, %d of %d rows in %s", x.FieldID, x.Valid, x.Rows, path.Base(x.Path)))
	}
	l.text("size", strconv.FormatInt(l.Bytes, 10)+" bytes")
	return true, nil
}

func filesOf(n int) string {
	if n == 1 {
		return "1 file"
	}
	return strconv.Itoa(n) + " files"
}
