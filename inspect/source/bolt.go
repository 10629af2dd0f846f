package source

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"kitescope/internal/hints"
)

// boltSource is the file of an etcd backend: the output of etcdctl snapshot save, or the db of a member. The db
// may lag behind the member by the changes that are only in its write-ahead log (etcd commits every 100 ms).
type boltSource struct {
	in   *input
	opts Options
	// tree has the buckets, file has the leaves of the revisions. They differ if the "key" bucket is inline.
	tree, file *boltFile
	leaves     []uint64
	origin     Origin
	// revision is the newest revision of the store.
	revision int64
	// metaGuessed reports that no meta page is valid, indexLost that the index of the revisions is lost.
	metaGuessed, indexLost bool
}

var _ Source = (*boltSource)(nil)

const (
	// keyBucket holds the revisions, metaBucket the progress of compaction (etcd
	// server/storage/schema/bucket.go).
	keyBucket  = "key"
	metaBucket = "meta"
	// defaultPageSize is the memory page size of most machines, which bbolt uses.
	defaultPageSize = 4096
	// clusterBucket holds the cluster version since etcd 3.5.
	clusterBucket = "cluster"
)

// openBolt validates the file and lists its leaf pages. It does not read the records, except the newest.
func openBolt(ctx context.Context, in *input, opts Options) (Source, error) {
	s := &boltSource{in: in, opts: opts}
	if err := s.copyIfWritten(ctx); err != nil {
		return nil, err
	}
	gaps := new(gapList)
	meta, err := readMeta(in)
	s.metaGuessed = err != nil && opts.Salvage
	if s.metaGuessed {
		gaps.put(Gap{Where: "meta pages", Reason: err.Error()})
		meta, err = boltMeta{pageSize: defaultPageSize, pages: uint64(in.size / defaultPageSize)}, nil
	}
	if err != nil {
		return nil, hints.Errorf("both copies of the file's first page are damaged: copy it again, or use --salvage",
			"read %s: %w", in.location, err)
	}
	s.tree = &boltFile{in: in, meta: meta, salvage: opts.Salvage, gaps: gaps}
	s.file = s.tree
	if err := s.checkLength(); err != nil {
		return nil, err
	}
	if err := s.findLeaves(); err != nil {
		return nil, s.explain(err)
	}
	s.origin = Origin{Kind: KindEtcdSnapshot, Location: in.location, Detail: s.detail()}
	if s.revision, err = s.newestRevision(); err != nil {
		return nil, s.explain(err)
	}
	return s, nil
}

// findLeaves lists the pages that hold the revisions.
func (s *boltSource) findLeaves() error {
	root, inline, err := s.file.bucket(keyBucket)
	switch {
	case errors.Is(err, errNoBucket):
		return hints.Errorf("etcd's file has the bucket \"key\": name the output of etcdctl snapshot save, or "+
			"member/snap/db",
			"read %s: a bbolt database, but not etcd's", s.in.location)
	case err == nil && inline != nil:
		err = s.openInline(inline)
	case err == nil:
		s.leaves, err = s.file.leaves(root)
	}
	if err != nil && s.opts.Salvage && isPageError(err) {
		s.file.gaps.add(err)
		s.leaves, s.indexLost = s.file.sweep(), true
		s.file.gaps.put(Gap{
			Where: "index of the file", Reason: "lost: every page was searched, deleted keys may be back",
		})
		return nil
	}
	return err
}

// copyIfWritten copies a database that its member may be writing to, because a page freed by one transaction can be
// overwritten by the transaction after the next. The copy is consistent if no transaction was committed during
// the copy. A file of snapshot save ends in a checksum and is never written again, so it is not copied.
func (s *boltSource) copyIfWritten(ctx context.Context) error {
	const recent = 2 * time.Minute
	const attempts = 8
	if s.in.file == nil || s.hasChecksum() || s.opts.now().Sub(s.in.modified) > recent ||
		s.in.size > s.opts.memoryLimit() {
		return nil
	}
	for range attempts {
		before, err := readMeta(s.in)
		if err != nil {
			return nil //nolint:nilerr // openBolt reports it.
		}
		// The file grows before the meta page is updated, so its current size covers all pages that before refers
		// to.
		grown, err := s.in.file.Stat()
		if err != nil {
			return fmt.Errorf("read %s: %w", s.in.location, cause(err))
		}
		s.in.size = grown.Size()
		copied := *s.in
		if err := copied.readAll(s.in.reader(), s.opts.memoryLimit()); err != nil {
			return err
		}
		after, err := readMeta(s.in)
		if err == nil && after == before {
			err := s.in.close()
			copied.file = nil
			*s.in = copied
			return err
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	return s.changedError()
}

func (s *boltSource) changedError() error {
	return hints.Errorf("it is the database of a running etcd: read the etcd itself (etcd://host:2379), or a file "+
		"made with etcdctl snapshot save",
		"read %s: the file changed while it was read", s.in.location)
}

// hasChecksum reports whether the file ends in the SHA-256 that etcdctl snapshot save appends. Pages are
// multiples of 512 bytes.
func (s *boltSource) hasChecksum() bool { return s.in.size%minPageSize == sha256.Size }

func (s *boltSource) checkLength() error {
	want := int64(s.file.meta.pages) * int64(s.file.meta.pageSize)
	if s.in.size >= want {
		return nil
	}
	if s.opts.Salvage {
		s.file.gaps.put(
			Gap{Where: "end of file", Reason: fmt.Sprintf("truncated: has %d of %d bytes", s.in.size, want)},
		)
		return nil
	}
	return hints.Errorf("copy it again, or use --salvage",
		"read %s: truncated: has %d of %d bytes", s.in.location, s.in.size, want)
}

// openInline converts an inline bucket to a file with one leaf, page 2.
func (s *boltSource) openInline(page []byte) error {
	if len(page) < pageHeaderSize {
		return &pageError{s.file.meta.root, "a bucket is cut off"}
	}
	size := minPageSize
	for size < len(page) && size < maxPageSize {
		size *= 2
	}
	data := make([]byte, max(3*size, 2*size+len(page)))
	copy(data[2*size:], page)
	binary.LittleEndian.PutUint64(data[2*size:], 2)
	binary.LittleEndian.PutUint32(data[2*size+12:], 0)
	inside := *s.in
	inside.ReaderAt, inside.size = bytes.NewReader(data), int64(len(data))
	s.file = &boltFile{
		in: &inside, meta: boltMeta{pageSize: size, pages: 3}, salvage: s.opts.Salvage, gaps: s.file.gaps,
	}
	s.leaves = []uint64{2}
	return nil
}

// detail returns the kind of the file and, if known, the version of etcd.
func (s *boltSource) detail() string {
	detail := "etcd member database"
	if s.hasChecksum() {
		detail = "etcd snapshot"
	}
	if v, err := s.lookup(clusterBucket, "clusterVersion"); err == nil && len(v) > 0 && len(v) < 32 {
		detail += ", etcd " + string(v)
	}
	return detail
}

// lookup returns one value of a small bucket, or nil if it does not exist.
func (s *boltSource) lookup(bucket, name string) (found []byte, err error) {
	root, inline, err := s.tree.bucket(bucket)
	if errors.Is(err, errNoBucket) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	visit := func(n node) error {
		for i := range n.count {
			key, value, isBucket, err := n.leaf(i)
			if err != nil {
				return err
			}
			if !isBucket && string(key) == name {
				found = bytes.Clone(value)
			}
		}
		return nil
	}
	if inline == nil {
		return found, s.tree.walk(root, visit)
	}
	n, err := parseNode(0, inline)
	if err == nil && n.flags != flagLeaf {
		err = &pageError{s.tree.meta.root, "a bucket in it is not a leaf"}
	}
	if err != nil {
		return nil, err
	}
	return found, visit(n)
}

// newestRevision returns the revision of the store: the revision of the last record, or of a later compaction. etcd
// computes it in the same way when it starts (mvcc/kvstore.go, restore).
func (s *boltSource) newestRevision() (int64, error) {
	var newest int64
	for _, id := range slices.Backward(s.leaves) {
		n, _, err := s.file.read(id, nil)
		var revision []byte
		if err == nil && n.count > 0 {
			revision, _, _, err = n.leaf(n.count - 1)
		}
		if err != nil {
			if s.opts.Salvage && isPageError(err) {
				continue
			}
			return 0, err
		}
		if len(revision) >= revisionBytes {
			newest = int64(binary.BigEndian.Uint64(revision))
			break
		}
	}
	compacted, err := s.compactedRevision()
	if err != nil {
		return newest, nil // reported when past revisions are read
	}
	return max(newest, compacted), nil
}

func (s *boltSource) explain(err error) error {
	var root *RootError
	if err == nil || errors.As(err, &root) || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if isPageError(err) {
		return hints.Errorf("copy the file again, or use --salvage", "read %s: %w", s.in.location, err)
	}
	return hints.Attach(fmt.Errorf("read %s: %w", s.in.location, err), "check the disk that the file is on")
}

// Origin returns the location and kind of the file.
func (s *boltSource) Origin() Origin { return s.origin }

// Close closes the file.
func (s *boltSource) Close() error { return s.in.close() }

// verify compares the file with the checksum at its end, if there is one.
func (s *boltSource) verify() (Checksum, error) {
	if !s.hasChecksum() {
		return ChecksumNone, nil
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(s.in, 0, s.in.size-sha256.Size)); err != nil {
		return ChecksumNone, fmt.Errorf("read %s: %w", s.in.location, cause(err))
	}
	want := make([]byte, sha256.Size)
	if _, err := s.in.ReadAt(want, s.in.size-sha256.Size); err != nil && !errors.Is(err, io.EOF) {
		return ChecksumNone, fmt.Errorf("read %s: %w", s.in.location, cause(err))
	}
	if !bytes.Equal(sum.Sum(nil), want) {
		return ChecksumWrong, nil
	}
	return ChecksumOK, nil
}
