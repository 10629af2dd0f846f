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

// Names of index files that are not blobs of the index library. sliceMeta describes how blobs are sliced
// (internal/core/src/common/Slice.cpp). indexParams is written by Milvus 2.1.
const (
	sliceMeta   = "SLICE_META"
	indexParams = "indexParams"
)

// maxJSON bounds the size in bytes of the JSON files of an index.
const maxJSON = 16 << 20

// Index holds the decoded files of an index, which belongs to a field and a segment. The blobs are not parsed.
type Index struct {
	Dir string // relative to the store's root; see buildOf
	// Descriptor comes from one of the files. For a single-file index, all ids are zero.
	Descriptor
	BuildID int64
	// Type is the index type recorded in the files: index_type of Milvus 2.1's indexParams, or the name of the
	// blob, which the index library chose. It is empty if neither exists.
	Type   string
	Params map[string]string // of indexParams
	Meta   []byte            // JSON, of a single-file index
	Blobs  map[string]*Blob

	place        Place
	splitRecords []*Records
}

// Blob holds the bytes of a part of an index, 64-byte aligned.
type Blob struct{ data *engine.Vectors }

// Bytes returns the content.
func (b *Blob) Bytes() []byte {
	if b.data == nil || b.data.Rows == 0 {
		return nil
	}
	return b.data.Row(0)
}

// Release frees the memory immediately. The bytes must not be used afterwards.
func (b *Blob) Release() {
	if b.data != nil {
		b.data.Release()
	}
}

// newBlob allocates a blob of n bytes.
func newBlob(n int64) (*Blob, error) {
	if n == 0 {
		return &Blob{}, nil
	}
	data, err := engine.NewBytes(int(n))
	return &Blob{data}, err
}

// Release frees the memory of all blobs.
func (x *Index) Release() {
	for _, b := range x.Blobs {
		b.Release()
	}
	for _, r := range x.splitRecords {
		r.Free()
	}
	x.splitRecords = nil
}

// ReadIndex reads all files in the folder prefix of a store, which must belong to one index. It joins sliced blobs.
func ReadIndex(ctx context.Context, store object.Store, prefix string) (*Index, error) {
	return ReadIndexTo(ctx, store, prefix, nil)
}

// ReadIndexTo is like ReadIndex, but writes the records of a blob directly to the memory that place returns.
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
	if x.BuildID == 0 { // the path contains it too
		x.BuildID = buildOf(x.Dir)
	}
	return x, nil
}

// buildOf returns the build id in index_files/BUILD/VERSION/PARTITION/SEGMENT, or in
// index_v1/COLLECTION/PARTITION/SEGMENT/BUILD/VERSION (3.0). It returns 0 if dir has neither form. Without the name
// of the folder, it assumes the older form.
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

// assemble maps each blob to its files. SLICE_META lists the sliced blobs as JSON with a trailing NUL byte, e.g.
// `{"meta":[{"name":"HNSW","slice_num":2,"total_len":20971520}]}`.
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
	text, err := notes.readJSON(ctx)
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
		return nil, fmt.Errorf("read %s: expected the slices of the index: %w", notes.name, err)
	}
	for _, m := range meta.Meta {
		var all []*envelope
		var total int64
		for i := range m.Slices {
			slice := m.Name + "_" + strconv.Itoa(i)
			part, ok := parts[slice]
			if !ok {
				return nil, fmt.Errorf("read %s: slice %s of %d is missing", notes.name, parquet.Quote(slice), m.Slices)
			}
			delete(parts, slice)
			all = append(all, part...)
			total += part[0].size
		}
		if _, twice := parts[m.Name]; twice || total != m.Total || len(all) == 0 {
			return nil,
				fmt.Errorf("read %s: %s has %d bytes in %d slices, expected %d", notes.name, parquet.Quote(m.Name),
					total, len(all), m.Total)
		}
		parts[m.Name] = all
	}
	return parts, nil
}

// add decodes the files of a blob, and concatenates them.
func (x *Index) add(ctx context.Context, name string, parts []*envelope) error {
	if name == indexParams {
		text, err := parts[0].readJSON(ctx)
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
			x.splitRecords = append(x.splitRecords, to.records)
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
