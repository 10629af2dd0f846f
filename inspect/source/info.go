package source

import (
	"context"
	"errors"
	"io"
	"time"

	"kitescope/internal/hints"
)

// Checksum is the result of comparing a file with the checksum inside it.
type Checksum string

// The results of a comparison.
const (
	// ChecksumNone means that the file has no checksum.
	ChecksumNone  Checksum = "none"
	ChecksumOK    Checksum = "ok"
	ChecksumWrong Checksum = "mismatch"
)

// FileInfo describes a file, for kitescope snapshot info.
type FileInfo struct {
	Origin Origin
	// Size is the size of the file in bytes, on disk or as read from the pipe.
	Size int64
	// Compressed reports whether the format is wrapped in gzip. A birdwatcher backup always is; a bundle has
	// its own compression.
	Compressed bool
	Root       string
	MetaPath   string
	// Roots holds all roots in the file, as "root/metaSubPath".
	Roots    []string
	Revision int64
	// Taken is the time stored in the file, or zero if there is none.
	Taken time.Time
	// Keys is the number of live keys in the file. KeyBytes is the total size of their keys and values.
	Keys, KeyBytes int64
	Checksum       Checksum
	// Manifest and Members are set for a bundle.
	Manifest *Manifest
	Members  []MemberInfo
	// Recorded is set for a recording, and for a recording chunk described by DescribeRecording.
	Recorded *RecordedInfo
	Gaps     []Gap
}

// MemberInfo is one member of a bundle.
type MemberInfo struct {
	Name string
	Size int64
}

// Describe reads all of a file that Open opened and describes it. It returns an error for a live etcd. A file
// may have several roots.
func Describe(ctx context.Context, src Source) (FileInfo, error) {
	switch s := src.(type) {
	case *boltSource:
		return s.describe(ctx)
	case *backupSource:
		return describeSnapshot(ctx, s, s.in)
	case *Bundle:
		return s.describe(ctx)
	case *Recording:
		info, _, err := DescribeRecording(ctx, s, nil)
		return info, err
	}
	return FileInfo{}, hints.Errorf("name a file", "describe %s: not a file", src.Origin().Location)
}

func newFileInfo(src Source, in *input) FileInfo {
	info := FileInfo{Origin: src.Origin(), Size: in.packedSize(), Compressed: in.layers > 0, Checksum: ChecksumNone}
	return info
}

// count adds a live key to Keys and KeyBytes.
func (i *FileInfo) count(kv KV) {
	i.Keys++
	i.KeyBytes += int64(len(kv.Key) + len(kv.Value))
}

func (i *FileInfo) setHeader(h Header) {
	i.Root, i.MetaPath, i.Revision = h.Root, h.MetaPath, h.Revision
	if !h.FileDate { // FileDate is the date of this copy
		i.Taken = h.Taken
	}
}

func describeSnapshot(ctx context.Context, src Source, in *input) (FileInfo, error) {
	info := newFileInfo(src, in)
	snap, err := src.Pin(ctx)
	if err != nil {
		return info, err
	}
	info.setHeader(snap.Header())
	info.Roots = []string{metaRoot{info.Root, info.MetaPath}.String()}
	err = snap.Scan(ctx, []Range{{}}, func(kv KV) error {
		info.count(kv)
		return nil
	})
	info.Gaps = snap.Gaps()
	return info, err
}

func (s *boltSource) describe(ctx context.Context) (FileInfo, error) {
	info := newFileInfo(s, s.in)
	info.Revision = s.revision
	var finder rootFinder
	classify := func() func([]byte) class { return func([]byte) class { return classWanted } }
	err := s.file.pass(ctx, s.leaves, allRevisions, classify, func(kv KV, _ class) error {
		info.count(kv)
		finder.add(kv.Key)
		return nil
	})
	if err != nil {
		return info, s.explain(err)
	}
	roots := finder.found("")
	for _, r := range roots {
		info.Roots = append(info.Roots, r.String())
	}
	if len(roots) == 1 {
		info.Root, info.MetaPath = roots[0].root, roots[0].sub
		if info.Taken, err = s.reservedTime(ctx, info.Root, s.leaves, allRevisions); err != nil {
			return info, err
		}
	}
	info.Gaps = s.file.gaps.list()
	info.Checksum, err = s.verify()
	return info, err
}

func (b *Bundle) describe(ctx context.Context) (FileInfo, error) {
	// Try without salvage first, because only a strict scan verifies the checksums up to the end.
	strict := &Bundle{in: b.in, open: b.open, opts: b.opts, manifest: b.manifest}
	strict.opts.Salvage = false
	info, err := describeSnapshot(ctx, strict, b.in)
	checksum := ChecksumOK
	if err != nil {
		if !b.opts.Salvage || ctx.Err() != nil || errors.Is(err, errDuplicate) || errors.Is(err, errOverLimit) {
			return info, err
		}
		checksum = ChecksumWrong
		if info, err = describeSnapshot(ctx, b, b.in); err != nil {
			return info, err
		}
	}
	info.Manifest, info.Checksum = &b.manifest, checksum
	err = b.Members(ctx, func(name string, size int64, _ io.Reader) error {
		info.Members = append(info.Members, MemberInfo{Name: name, Size: size})
		return nil
	})
	if b.opts.Salvage && ctx.Err() == nil {
		return info, nil
	}
	return info, err
}
