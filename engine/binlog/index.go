package binlog

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"kitescope/engine"
	"kitescope/engine/object"
	"kitescope/engine/parquet"
)

// Names of files of an index that are no blob of the library that built it: sliceMeta says how
// blobs are cut (internal/core/src/common/Slice.cpp), indexParams is Milvus 2.1's.
const (
	sliceMeta   = "SLICE_META"
	indexParams = "indexParams"
)

// maxNote bounds the files of an index that are JSON.
const maxNote = 16 << 20

// Index is the files of one index of one field of one segment, decoded but not understood.
type Index struct {
	Dir string // see buildOf; below the store's root
	// Ids and Extras are of one of the files; a single-file index has no ids (all zero).
	Descriptor
	BuildID int64
	// Type is the index's name as far as files tell: that of Milvus 2.1's indexParams, or the
	// name of the blob, as the library calls it. Empty if neither says.
	Type   string
	Params map[string]string // of indexParams
	Meta   []byte            // JSON, of a single-file index
	Blobs  map[string]*Blob

	place  Place
	placed []*Records
}

// Blob is the bytes of one part of an index, 64-byte aligned.
type Blob struct{ data *engine.Vectors }

// Bytes is the content.
func (b *Blob) Bytes() []byte {
	if b.data == nil || b.data.Rows == 0 {
		return nil
	}
	return b.data.Row(0)
}

// Release gives back the memory at once; nothing may use the bytes afterwards.
func (b *Blob) Release() {
	if b.data != nil {
		b.data.Release()
	}
}

// newBlob makes room for n bytes.
func newBlob(n int64) (*Blob, error) {
	if n == 0 {
		return &Blob{}, nil
	}
	data, err := engine.NewBytes(int(n))
	return &Blob{data}, err
}

// Release gives back the memory of all blobs.
func (x *Index) Release() {
	for _, b := range x.Blobs {
		b.Release()
	}
	for _, r := range x.placed {
		r.Free()
	}
	x.placed = nil
}

// ReadIndex reads all files of the folder prefix of a store, which must be those of one index.
// Blobs that were cut into slices are put together.
func ReadIndex(ctx context.Context, store object.Store, prefix string) (*Index, error) {
	return ReadIndexTo(ctx, store, prefix, nil)
}

// ReadIndexTo is ReadIndex with records of its blobs where they stay, if place says so.
func ReadIndexTo(ctx context.Context, store object.Store, prefix string, place Place) (*Index, error) {
	files, err := store.List(ctx, strings.TrimSuffix(prefix, "/")+"/")
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("read %s: no index files there", prefix)
	}
	x := &Index{Dir: path.Dir(files[0].Name), Blobs: map[string]*Blob{}, place: place}
	if err := x.read(ctx, store, files); err != nil {
		x.Release()
		return nil, err
	}
	x.Type = x.Params["index_type"]
	for _, name := range slices.Sorted(maps.Keys(x.Blobs)) {
		if x.Type == "" && name != "RAW_DATA" {
			x.Type = name
		}
	}
	if x.BuildID == 0 { // the path has it too
		x.BuildID = buildOf(x.Dir)
	}
	return x, nil
}

// buildOf is the build of index_files/BUILD/VERSION/PARTITION/SEGMENT, or of index_v1/COLLECTION/PARTITION/SEGMENT/BUILD/VERSION
// (3.0), 0 if dir is neither. Without the folder's name the older one is meant.
func buildOf(dir string) int64 {
	steps := strings.Split(dir, "/")
	at := len(steps) - 4
	if n := len(steps); n >= 6 && steps[n-6] == "index_v1" {
		at = n - 2
	}
	if at < 0 {
		return 0
	}
	build, _ := strconv.ParseInt(steps[at], 10, 64)
	return build
}

func (x *Index) read(ctx context.Context, store object.Store, files []object.File) error {
	open := map[string]*envelope{}
	defer func() {
		for _, e := range open {
			_ = e.r.Close()
		}
	}()
	for _, f := range files {
		if path.Dir(f.Name) != x.Dir {
			return fmt.Errorf("read %s: a second index next to %s", f.Name, x.Dir)
		}
		r, err := store.Open(ctx, f.Name)
		if err != nil {
			return err
		}
		e := &envelope{name: f.Name, r: r}
		open[path.Base(f.Name)] = e
		entries, err := e.open(ctx)
		if err != nil {
			return fmt.Errorf("read %s: %w", f.Name, err)
		}
		if entries != nil {
			if err := x.entries(ctx, e, entries); err != nil {
				return fmt.Errorf("read %s: %w", f.Name, err)
			}
			_ = r.Close()
			delete(open, path.Base(f.Name))
			continue
		}
		x.Descriptor = *e.Descriptor
		if id, err := strconv.ParseInt(e.Extras["indexBuildID"], 10, 64); err == nil {
			x.BuildID = id
		}
	}
	parts, err := assemble(ctx, open)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		if err := x.add(ctx, name, parts[name]); err != nil {
			return err
		}
	}
	return nil
}

// assemble finds which files make which blob. Files that are cut are listed in SLICE_META,
// `{"meta":[{"name":"HNSW","slice_num":2,"total_len":20971520}]}` with a NUL behind it.
func assemble(ctx context.Context, open map[string]*envelope) (map[string][]*envelope, error) {
	parts := map[string][]*envelope{}
	for name, e := range open {
		parts[name] = []*envelope{e}
	}
	notes, ok := open[sliceMeta]
	if !ok {
		return parts, nil
	}
	delete(parts, sliceMeta)
	text, err := notes.note(ctx)
	if err != nil {
		return nil, err
	}
	var meta struct {
		Meta []struct {
			Name   string `json:"name"`
			Slices int    `json:"slice_num"`
			Total  int64  `json:"total_len"`
		} `json:"meta"`
	}
	if err := json.Unmarshal([]byte(strings.TrimRight(text, "\x00")), &meta); err != nil {
		return nil, fmt.Errorf("read %s: expected how the index is cut: %w", notes.name, err)
	}
	for _, m := range meta.Meta {
		var all []*envelope
		var total int64
		for i := range m.Slices {
			slice := m.Name + "_" + strconv.Itoa(i)
			part, ok := parts[slice]
			if !ok {
				return nil, fmt.Errorf("read %s: slice %s of %d is not there", notes.name, parquet.Quote(slice), m.Slices)
			}
			delete(parts, slice)
			all = append(all, part...)
			total += part[0].size
		}
		if _, twice := parts[m.Name]; twice || total != m.Total || len(all) == 0 {
			return nil, fmt.Errorf("read %s: %s has %d bytes in %d slices, expected %d", notes.name, parquet.Quote(m.Name), total, len(all), m.Total)
		}
		parts[m.Name] = all
	}
	return parts, nil
}

// add decodes the files of a blob, one behind the other.
func (x *Index) add(ctx context.Context, name string, parts []*envelope) error {
	if name == indexParams {
		text, err := parts[0].note(ctx)
		if err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(strings.TrimRight(text, "\x00")), &x.Params); err != nil {
			return fmt.Errorf("read %s: expected parameters as JSON: %w", parts[0].name, err)
		}
		return nil
	}
	if _, twice := x.Blobs[name]; twice {
		return fmt.Errorf("read %s: a second blob %s", parts[0].name, parquet.Quote(name))
	}
	var total int64
	for _, p := range parts {
		total += p.size
	}
	blob, err := newBlob(total)
	if err != nil {
		return fmt.Errorf("read %s: %w", parts[0].name, err)
	}
	x.Blobs[name] = blob
	use, err := newScratch()
	if err != nil {
		return err
	}
	defer use.close()
	to, first := &octets{rows: blob.Bytes()}, 0
	if x.place != nil && !parts[0].string && total > 0 {
		if err := parts[0].head(ctx, to.rows, use); err != nil {
			return fmt.Errorf("read %s: %w", parts[0].name, err)
		}
		if to.records = x.place(name, to.rows); to.records != nil {
			x.placed = append(x.placed, to.records)
		}
	}
	for _, p := range parts {
		if err := p.decode(ctx, to, first, use); err != nil {
			return fmt.Errorf("read %s: %w", p.name, err)
		}
		first += int(p.size)
	}
	return nil
}
