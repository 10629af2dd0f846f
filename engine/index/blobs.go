package index

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"kitescope/engine/binlog"
	"kitescope/engine/object"
)

// rawData is the name of the blob of knowhere 1 that holds the vectors of an IVF_FLAT index.
const rawData = "RAW_DATA"

// milvusMagic begins Milvus's event files, milvusSingle begins an index in a single file.
// Sources: Milvus 2.3, internal/storage/binlog_writer.go; 2.6, internal/core/src/storage/IndexEntryFormat.h.
const (
	milvusMagic  = 0x00FFFABC
	milvusSingle = "MVSIDXV3"
)

// isEnvelope reports whether data is a Milvus index file, which holds a blob or a slice.
func isEnvelope(data []byte) bool {
	return len(data) >= 4 && binary.LittleEndian.Uint32(data) == milvusMagic ||
		strings.HasPrefix(string(data[:min(len(data), 8)]), milvusSingle)
}

// ErrEnvelope is the error of Parse for a Milvus index file that holds a blob. OpenFile and FromBlobs read such
// files.
var ErrEnvelope = errors.New("a Milvus index file: extract its content first (engine/binlog)")

// FromBlobs reads an index from the files of a Milvus index. It takes ownership of the blobs. The blobs of an HNSW
// index are released before FromBlobs returns, all other blobs by Close. After an error, the caller still owns the
// blobs. The hint's RawData is set from the blob RAW_DATA. A file of faiss gets the format KnowhereFaiss, because
// knowhere 1 wrote faiss's format unchanged.
func FromBlobs(x *binlog.Index, hint Hint) (*File, error) {
	name, err := mainBlob(x)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", x.Dir, err)
	}
	if raw, ok := x.Blobs[rawData]; ok {
		hint.RawData = raw.Bytes()
	}
	hint.segment, hint.sparse, hint.wand = true, isSparseType(name), name == SparseWand
	f, err := Parse(path.Join(x.Dir, name), x.Blobs[name].Bytes(), hint)
	var wrong *FormatError
	if errors.As(err, &wrong) && wrong.Offset == 0 && CheckType(name) != nil {
		// The format has no magic, e.g. that of a sparse index: its name is more specific than the parse error.
		return nil, fmt.Errorf("read %s: %w", x.Dir, CheckType(name))
	}
	if err != nil {
		return nil, err
	}
	if p := hint.split; p != nil && !p.taken {
		return nil, fmt.Errorf("read %s: its header changed while it was read", x.Dir)
	}
	if f.Format == Faiss {
		f.Format = KnowhereFaiss
	}
	if raw, ok := x.Blobs[rawData]; ok { // its vectors were copied into the lists
		raw.Release()
		delete(x.Blobs, rawData)
	}
	if hint.split != nil {
		hint.split.vectors = nil // now owned by the graph
	}
	f.keep(x.Release)
	return f, nil
}

// mainBlob returns the name of the blob that holds the index itself. Every supported type has exactly one, plus
// RAW_DATA.
func mainBlob(x *binlog.Index) (string, error) {
	if kind := x.Params["index_type"]; kind != "" {
		if err := CheckType(kind); err != nil {
			return "", err
		}
	}
	var names []string
	for name := range x.Blobs {
		if name != rawData {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	switch {
	case len(names) == 1:
		return names[0], nil
	case len(names) == 0:
		return "", errors.New("no index blob")
	case slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, "_disk.index") }):
		return "", CheckType("DISKANN")
	}
	return "", &UnsupportedError{Type: "of the blobs " + strings.Join(names, ", "), Hint: hintReplay}
}

// openEnvelope opens an index from one of its files, together with its other files in the same folder.
func openEnvelope(ctx context.Context, file string, hint Hint) (*File, error) {
	dir, base := filepath.Split(filepath.Clean(file))
	dir = cmp.Or(dir, ".")
	folder, err := object.OpenFolder(dir)
	if err != nil {
		return nil, fmt.Errorf("open index: %w", err)
	}
	defer folder.Close()
	dir = strings.TrimSuffix(filepath.ToSlash(dir), "/")
	x, hint, err := ReadBlobs(ctx, &siblings{Store: folder, dir: dir, base: base}, dir, hint)
	if err != nil {
		return nil, err
	}
	f, err := FromBlobs(x, hint)
	if err != nil {
		x.Release()
		return nil, err
	}
	return f, nil
}

// siblings lists the files in a folder that form one index: the named file, the slices of the same blob, and the
// files with fixed names.
type siblings struct {
	object.Store
	dir, base string
}

func (s *siblings) List(ctx context.Context, _ string) ([]object.File, error) {
	all, err := s.Store.List(ctx, "")
	if err != nil {
		return nil, err
	}
	var files []object.File
	for _, f := range all {
		if f.Name == s.base || slices.Contains([]string{rawData, "SLICE_META", "indexParams"}, f.Name) ||
			stem(f.Name) != "" && s.sliced(f.Name) {
			files = append(files, object.File{Name: s.dir + "/" + f.Name, Size: f.Size})
		}
	}
	return files, nil
}

// sliced reports whether a slice belongs to the blob of the named file, which may be the blob itself, one of its
// slices, or the list of slices.
func (s *siblings) sliced(name string) bool {
	return s.base == "SLICE_META" || s.base == rawData || stem(name) == rawData || stem(name) == stem(s.base) ||
		stem(name) == s.base
}

// stem returns the name of the blob that a slice file (BLOB_0 and so on) belongs to. It returns "" if the file is
// not a slice.
func stem(name string) string {
	i := strings.LastIndexByte(name, '_')
	if i <= 0 || i+1 == len(name) || strings.Trim(name[i+1:], "0123456789") != "" {
		return ""
	}
	return name[:i]
}

func (s *siblings) Open(ctx context.Context, name string) (object.Reader, error) {
	return s.Store.Open(ctx, strings.TrimPrefix(name, s.dir+"/"))
}

// isEnvelopeFile checks the first bytes of an open file.
func isEnvelopeFile(f *os.File) bool {
	var head [8]byte
	n, _ := f.ReadAt(head[:], 0) // a read error is reported when the file is mapped
	return isEnvelope(head[:n])
}
