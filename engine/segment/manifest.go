package segment

import (
	"context"
	"fmt"
	"path"
	"strings"

	"kitescope/engine/manifest"
	"kitescope/engine/object"
)

// HasLogs reports whether the metadata or a manifest lists insert logs.
func (f *Files) HasLogs() bool { return f != nil && (len(f.Insert) > 0 || f.Manifest != "") }

// ReadManifest reads the manifest that lists the logs. It returns the files with these logs, and the number of rows
// according to the manifest. Without a manifest, it returns f and -1 rows.
func (f *Files) ReadManifest(ctx context.Context, store object.Store) (*Files, int64, error) {
	if f.Manifest == "" {
		return f, -1, nil
	}
	m, err := manifest.Open(ctx, store, f.Manifest)
	if err != nil {
		return nil, 0, err
	}
	followed, rows := *f, int64(-1)
	followed.Insert, followed.Delta = make(map[int64][]string, len(m.Groups)), nil
	for i, g := range m.Groups {
		n, err := addGroup(&followed, int64(i), g)
		if err != nil {
			return nil, 0,
				fmt.Errorf("read %s: column group %d (%s): %w", f.Manifest, i, strings.Join(g.Columns, ", "), err)
		}
		if rows >= 0 && n != rows {
			return nil, 0, fmt.Errorf("read %s: column group %d has %d rows, earlier ones %d", f.Manifest, i, n, rows)
		}
		rows = n
	}
	for _, d := range m.Deltas {
		if d.Type != manifest.ByKey {
			return nil, 0, fmt.Errorf("read %s: %s does not delete by primary key (type %d): not supported", f.Manifest,
				d.Path, d.Type)
		}
		followed.Delta = append(followed.Delta, d.Path)
	}
	return &followed, rows, nil
}

// addGroup adds the files of a column group to f, and returns the number of its rows.
func addGroup(f *Files, group int64, g manifest.Group) (rows int64, err error) {
	if g.Format != "parquet" {
		return 0, fmt.Errorf("file format %q is not supported", g.Format)
	}
	for _, file := range g.Files {
		if file.Start != 0 {
			return 0, fmt.Errorf("only the rows of %s from %d on: not supported", path.Base(file.Path), file.Start)
		}
		rows += file.End
		f.Insert[group] = append(f.Insert[group], file.Path)
	}
	return rows, nil
}
