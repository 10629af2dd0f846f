package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"kitescope/engine/manifest"
	"kitescope/engine/object"
	"kitescope/inspect/model"
)

// manifestFolder returns the folder of a segment of storage version 3, whose manifest lists its files.
func manifestFolder(s *model.Segment) expectedFolder {
	place, err := manifest.ParsePlace(s.Details.ManifestPath)
	if err != nil {
		return expectedFolder{unknownLocation: err}
	}
	return expectedFolder{path: place.Base, manifest: place.Name("")}
}

// compareManifest compares the files in a segment's folder with its manifest, and returns the missing and truncated
// ones.
func (l *storageCheck) compareManifest(
	ctx context.Context, s *model.Segment, f *expectedFolder, files []object.File,
) ([]model.MissingFiles, error) {
	name := path.Join(l.root, f.manifest)
	missing := model.MissingFiles{Segment: s.ID, Collection: s.Collection, Kind: "manifest", Path: name, Want: 1}
	m, err := manifest.Open(ctx, l.store, name)
	if errors.Is(err, fs.ErrNotExist) {
		return []model.MissingFiles{missing}, nil
	}
	if err != nil {
		return nil, err
	}
	there := make(map[string]object.File, len(files))
	for _, file := range files {
		there[file.Name] = file
	}
	var list []model.MissingFiles
	elsewhere := 0
	hold := func(kind string, field model.FieldID, names []string) error {
		x := missing
		x.Kind, x.Field, x.Want = kind, field, 0
		var found []object.File
		for _, name := range names {
			if strings.Contains(name, "://") || path.IsAbs(name) {
				elsewhere++ // in an external collection
				continue
			}
			x.Path, x.Want = path.Dir(name), x.Want+1
			if file := there[name]; file.Size > 0 {
				found, x.Size = append(found, file), x.Size+file.Size
			}
		}
		x.Found = len(found)
		if x.Found == x.Want {
			var err error
			if x.Bytes, err = l.writtenSize(ctx, found); err != nil {
				return err
			}
		}
		if x.Found < x.Want || x.Truncated() {
			list = append(list, x)
		}
		return nil
	}
	err = eachNamed(m, hold)
	if err == nil && elsewhere > 0 {
		l.addUnseen(s, fmt.Errorf("%d files are outside this storage", elsewhere))
	}
	return list, err
}

// eachNamed calls f with the files of each kind that a manifest lists in the segment's folder, until f returns an
// error. It skips large objects, which are outside the folder and have a separate garbage collection.
func eachNamed(m *manifest.Manifest, f func(kind string, field model.FieldID, names []string) error) error {
	for _, g := range m.Groups {
		var names []string
		for _, file := range g.Files {
			names = append(names, file.Path)
		}
		if err := f("insert log", columnField(g.Columns), names); err != nil {
			return err
		}
	}
	var deltas []string
	for _, d := range m.Deltas {
		deltas = append(deltas, d.Path)
	}
	if err := f("delta log", 0, deltas); err != nil {
		return err
	}
	for _, kind := range slices.Sorted(maps.Keys(m.Stats)) {
		if err := f("statistics", 0, m.Stats[kind].Paths); err != nil {
			return err
		}
	}
	return nil
}

// columnField returns the first user field of a column group, or 0 if there is none. Column names are field ids.
func columnField(columns []string) model.FieldID {
	for _, name := range columns {
		if id, err := strconv.ParseInt(name, 10, 64); err == nil && id >= model.FirstUserField {
			return model.FieldID(id)
		}
	}
	return 0
}
