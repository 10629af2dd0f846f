// Package manifest reads the manifests of storage version 3 of Milvus 3.0 (milvus-storage, "Loon"). A manifest
// lists the files of a segment. It is stored in _metadata/manifest-VERSION.avro below the segment's folder, and
// lists column groups, delta logs, statistics, indexes and large objects, with the names of their files.
//
// Open reads a manifest in three steps:
//
//  1. It detects the form by the first bytes: Avro's container, or the older raw form.
//  2. It decodes the record by the schema that the record was written with.
//  3. It resolves relative names against the segment's folder.
//
// Sources: milvus-io/milvus-storage, cpp/src/manifest.cpp and cpp/include/milvus-storage/common/layout.h; Milvus
// internal/storagev2/packed (ManifestJSON).
package manifest

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"

	"kitescope/engine/object"
)

// Manifest lists the files of a version of a segment.
type Manifest struct {
	Groups  []Group               `json:"column_groups"`
	Deltas  []Delta               `json:"delta_logs"`
	Stats   map[string]Statistics `json:"stats"` // by kind and field, e.g. "bloom_filter.100"
	Indexes []Index               `json:"indexes"`
	Objects []Object              `json:"lob_files"`
}

// Group is a set of columns that are stored in the same files.
type Group struct {
	Columns []string `json:"columns"` // Milvus uses field ids as names
	Files   []File   `json:"files"`
	Format  string   `json:"format"` // "parquet", "vortex", ...
}

// File is the rows [Start, End) of a file.
type File struct {
	Path  string `json:"path"`
	Start int64  `json:"start_index"`
	End   int64  `json:"end_index"`
}

// Types of Delta.
const (
	ByKey      = 0 // deletes by primary key
	ByPosition = 1
)

// Delta is a delta log.
type Delta struct {
	Path    string `json:"path"`
	Type    int32  `json:"type"`
	Entries int64  `json:"num_entries"`
}

// Statistics holds the files of a kind of statistics.
type Statistics struct {
	Paths []string `json:"paths"`
}

// Index is an index of a column. Files are in the folder Path.
type Index struct {
	Column  string   `json:"column_name"`
	Name    string   `json:"index_name"`
	Type    string   `json:"index_type"`
	Path    string   `json:"path"`
	FieldID int64    `json:"field_id"`
	Build   int64    `json:"build_id"`
	Rows    int64    `json:"num_rows"`
	Files   []string `json:"index_file_keys"`
}

// Object is a file of large values of a field.
type Object struct {
	Path    string `json:"path"`
	FieldID int64  `json:"field_id"`
	Rows    int64  `json:"total_rows"`
	Valid   int64  `json:"valid_rows"`
	Bytes   int64  `json:"file_size_bytes"`
}

// maxSize bounds the size of a manifest in bytes. Real ones have a few kilobytes.
const maxSize = 4 << 20

// Place is the location of a manifest, as in datapb.SegmentInfo's manifest_path, e.g. {"ver": 3, "base_path":
// "files/insert_log/1/2/3"}.
type Place struct {
	Version int64
	Root    string // "files"
	Base    string // "insert_log/1/2/3", the folder of the segment
}

// basePathRx matches a base path: the root, and the folder below it that Milvus names (metautil.JoinIDPath).
var basePathRx = regexp.MustCompile(`^(?:(.*)/)?(insert_log/\d+/\d+/\d+)$`)

// ParsePlace parses a manifest_path.
func ParsePlace(text string) (Place, error) {
	var x struct {
		Version int64  `json:"ver"`
		Base    string `json:"base_path"`
	}
	bad := fmt.Errorf("%q is not the path of a manifest below insert_log", text)
	if err := json.Unmarshal([]byte(text), &x); err != nil || x.Version < 0 || path.Clean(x.Base) != x.Base {
		return Place{}, bad
	}
	parts := basePathRx.FindStringSubmatch(x.Base)
	if parts == nil {
		return Place{}, bad
	}
	return Place{Version: x.Version, Root: parts[1], Base: parts[2]}, nil
}

// Name returns the name of the manifest below root. root may differ from p.Root if the storage is opened at another
// folder.
func (p Place) Name(root string) string {
	return path.Join(root, p.Base, "_metadata", "manifest-"+strconv.FormatInt(p.Version, 10)+".avro")
}

// ReadError reports that a manifest could not be read from the storage. The manifest itself may be valid.
type ReadError struct{ err error }

func (e *ReadError) Error() string { return e.err.Error() }
func (e *ReadError) Unwrap() error { return e.err }

// Open reads the named manifest from a store. The names in the result are names of the store.
func Open(ctx context.Context, store object.Store, name string) (*Manifest, error) {
	r, err := store.Open(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open the manifest: %w", err)
	}
	if err != nil {
		return nil, &ReadError{fmt.Errorf("open the manifest: %w", err)}
	}
	defer r.Close()
	if r.Size() > maxSize {
		return nil, fmt.Errorf("read %s: %d bytes, too large for a manifest", name, r.Size())
	}
	b, err := io.ReadAll(io.NewSectionReader(r, 0, r.Size()))
	if err != nil {
		return nil, &ReadError{fmt.Errorf("read %s: %w", name, err)}
	}
	m, err := Read(b)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	m.place(path.Dir(path.Dir(name)))
	return m, nil
}

// HasMagic reports whether b begins like a manifest or another Avro file. Read returns ErrNotManifest for the latter.
func HasMagic(b []byte) bool {
	magic, _ := binary.Varint(b[:min(len(b), binary.MaxVarintLen64)])
	return strings.HasPrefix(string(b), container) || magic == rawMagic
}

// ErrNotManifest is the error for a valid Avro file that is not a manifest.
var ErrNotManifest = errors.New("it is not a manifest: its schema has no column groups")

// Read decodes a manifest. It does not resolve names.
func Read(b []byte) (*Manifest, error) {
	if strings.HasPrefix(string(b[:min(len(b), len(container))]), container) {
		return readContainer(b)
	}
	if magic, n := binary.Varint(b); n > 0 && magic == rawMagic {
		return readRaw(b[n:])
	}
	return nil, errors.New("not a manifest: it is neither an Avro container nor the older raw form")
}

// place resolves names against the segment's folder, as ToAbsolutePaths does. Libraries before 2026-03 kept the
// folder, including the writer's root, in the names of delta logs and statistics. Large objects are stored next to
// the segments of a partition.
func (m *Manifest) place(base string) {
	own := ""
	if parts := basePathRx.FindStringSubmatch(base); parts != nil {
		own = parts[2] + "/"
	}
	at := func(folder, name string) string {
		if i := strings.LastIndex("/"+name, "/"+own); own != "" && i >= 0 {
			return path.Join(base, name[i+len(own):])
		}
		if path.IsAbs(name) || strings.Contains(name, "://") {
			return name // of an external collection
		}
		return path.Join(base, folder, name)
	}
	for i := range m.Groups {
		for k := range m.Groups[i].Files {
			f := &m.Groups[i].Files[k]
			f.Path = at("_data", f.Path)
		}
	}
	for i := range m.Deltas {
		m.Deltas[i].Path = at("_delta", m.Deltas[i].Path)
	}
	for _, s := range m.Stats {
		for k := range s.Paths {
			s.Paths[k] = at("_stats", s.Paths[k])
		}
	}
	for i := range m.Indexes {
		m.Indexes[i].Path = at("_index", m.Indexes[i].Path)
	}
	for i := range m.Objects {
		m.Objects[i].Path = at("../lobs", m.Objects[i].Path)
	}
}
