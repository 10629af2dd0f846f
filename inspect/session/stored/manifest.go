package stored

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"kitescope/engine/manifest"
	"kitescope/engine/object"
	"kitescope/inspect/model"
)

// manifestFolder is the folder of a segment of storage version 3, whose manifest names its files; ok is false if its record does not say
// where that is.
func manifestFolder(s *model.Segment) (w folderWant, ok bool) {
	place, err := manifest.ParsePlace(s.Details.ManifestPath)
	if err != nil {
		return folderWant{}, false
	}
	at := strings.Index("/"+place.Base, "/insert_log/")
	if at < 0 {
		return folderWant{}, false
	}
	place.Base = place.Base[at:]
	return folderWant{path: place.Base, manifest: place.Name()}, true
}

// followed holds the files of a segment's folder against its manifest.
func (l *storageLook) followed(ctx context.Context, s *model.Segment, f *folderWant, files []object.File) ([]model.MissingFiles, error) {
	name := path.Join(l.root, f.manifest)
	missing := model.MissingFiles{Segment: s.ID, Collection: s.Collection, Kind: "manifest", Path: name, Want: 1}
	m, err := manifest.Open(ctx, l.store, name)
	if errors.Is(err, fs.ErrNotExist) {
		return []model.MissingFiles{missing}, nil
	}
	if err != nil {
		return nil, err
	}
	there := make(map[string]int64, len(files))
	for _, file := range files {
		there[file.Name] = file.Size
	}
	var list []model.MissingFiles
	hold := func(kind string, field model.FieldID, names []string) {
		x := missing
		x.Kind, x.Field, x.Want = kind, field, 0
		for _, name := range names {
			if strings.Contains(name, "://") || path.IsAbs(name) {
				continue // of an external collection, which lies elsewhere
			}
			x.Path, x.Want = path.Dir(name), x.Want+1
			if size := there[name]; size > 0 {
				x.Found, x.Size = x.Found+1, x.Size+size
			}
		}
		if x.Found < x.Want {
			list = append(list, x)
		}
	}
	for _, g := range m.Groups {
		var names []string
		for _, file := range g.Files {
			names = append(names, file.Path)
		}
		hold("insert log", columnField(g.Columns), names)
	}
	var deltas []string
	for _, d := range m.Deltas {
		deltas = append(deltas, d.Path)
	}
	hold("delta log", 0, deltas)
	return list, nil
}

// columnField is the first field of a group that is not Milvus's own, 0 if there is none: columns are named by the ids of fields.
func columnField(columns []string) model.FieldID {
	for _, name := range columns {
		if id, err := strconv.ParseInt(name, 10, 64); err == nil && id >= model.FirstUserField {
			return model.FieldID(id)
		}
	}
	return 0
}
