package source

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode"

	"google.golang.org/protobuf/encoding/protowire"

	"kitescope/internal/hints"
)

// backupSource is a birdwatcher backup.
type backupSource struct {
	in     *input
	open   opener
	opts   Options
	header backupHeader
	part   etcdPart
	gaps   gapList
}

// etcdPart holds what kitescope needs from birdwatcher's PartHeader before the keys, or in version 1 from the header
// of the backup.
type etcdPart struct {
	root            metaRoot
	count, revision int64
}

func openBackup(in *input, open opener, opts Options) (Source, error) {
	s := &backupSource{in: in, open: open, opts: opts}
	f, err := s.start()
	if err != nil {
		return nil, err
	}
	if s.header.version == backupV1 {
		s.part = etcdPart{root: metaRoot{s.header.instance, s.header.metaPath}, count: s.header.entries}
		return s, nil
	}
	if s.part, err = s.seekKeys(f); err != nil {
		return nil, err
	}
	return s, nil
}

// seekKeys reads part headers up to the part that holds the keys.
func (s *backupSource) seekKeys(f *frames) (etcdPart, error) {
	for {
		header, err := f.next()
		if err != nil {
			return etcdPart{}, s.broken(f, err)
		}
		part, err := parseEtcdPart(header)
		switch {
		case err == nil:
			return part, nil
		case !errors.Is(err, errOtherPart):
			return part, hints.Errorf("make the backup again", "read %s: %w", s.in.location, err)
		}
		for len(header) > 0 {
			if header, err = f.next(); err != nil {
				return etcdPart{}, s.broken(f, err)
			}
		}
	}
}

// errOtherPart reports that a part does not hold keys.
var errOtherPart = errors.New("not the keys")

// start opens the content and reads the first frame.
func (s *backupSource) start() (*frames, error) {
	r, err := s.open()
	if err != nil {
		return nil, notGzip(s.in.location, err)
	}
	f := &frames{r: newFrameReader(r), meter: newMeter(s.opts.Limits, s.in.location)}
	first, err := f.next()
	if err != nil {
		return nil, s.broken(f, err)
	}
	h, ok := parseBackupHeader(first)
	if !ok {
		return nil, fmt.Errorf("read %s: the first record is not a backup header", s.in.location)
	}
	if h.version > backupV2 {
		return nil, hints.Errorf("a newer kitescope may read it",
			"read %s: unknown birdwatcher backup version %d", s.in.location, h.version)
	}
	s.header = h
	return f, nil
}

// parseEtcdPart parses the PartHeader of the keys. It returns errOtherPart for other parts.
func parseEtcdPart(b []byte) (etcdPart, error) {
	var kind uint64
	var extra []byte
	ok := eachField(b, func(num protowire.Number, v uint64, data []byte) {
		switch num {
		case 1:
			kind = v
		case 3:
			extra = data
		}
	})
	if !ok {
		return etcdPart{}, errors.New("damaged part header")
	}
	if kind != partEtcd {
		return etcdPart{}, errOtherPart
	}
	var fields map[string]string
	if err := json.Unmarshal(extra, &fields); err != nil {
		return etcdPart{}, errors.New("the backup has no root")
	}
	p := etcdPart{root: metaRoot{fields["instance"], fields["metaPath"]}}
	p.count, _ = strconv.ParseInt(fields["cnt"], 10, 64)
	p.revision, _ = strconv.ParseInt(fields["rev"], 10, 64)
	if p.revision == p.count {
		// Until 2023, birdwatcher wrote the number of keys as the revision.
		p.revision = 0
	}
	return p, nil
}

// Origin returns the location and format version of the backup.
func (s *backupSource) Origin() Origin {
	return Origin{
		Kind: KindBackup, Location: s.in.location,
		Detail: fmt.Sprintf("birdwatcher backup v%d, keys under %s only", s.header.version, s.part.root),
	}
}

// Close closes the file.
func (s *backupSource) Close() error { return s.in.close() }

// Pin takes the root from the header of the backup. If the path given to birdwatcher had only one element, the
// header has no sub path, and Pin finds the root from the keys.
func (s *backupSource) Pin(ctx context.Context) (Snapshot, error) {
	root := s.part.root
	if root.root == "" || root.sub == "" {
		var finder rootFinder
		err := s.scan(ctx, func(kv KV) error {
			finder.add(kv.Key)
			return nil
		})
		if err != nil {
			return nil, err
		}
		if root, err = chooseRoot(s.in.location, rootName(s.opts.Root), finder.found(rootName(s.opts.Root))); err !=
			nil {
			return nil, err
		}
	}
	if _, err := chooseRoot(s.in.location, rootName(s.opts.Root), []metaRoot{root}); err != nil {
		return nil, err
	}
	return &backupSnapshot{source: s, header: Header{
		Origin: s.Origin(), Root: root.root, MetaPath: root.sub, Revision: s.part.revision, Taken: s.in.modified,
		FileDate: !s.in.modified.IsZero(),
		Omitted:  subtract(Prefix(root.root+"/"), []Range{Prefix(root.prefix())}),
	}}, nil
}

// scan yields all keys of the backup.
func (s *backupSource) scan(ctx context.Context, yield func(KV) error) error {
	f, err := s.start()
	if err != nil {
		return err
	}
	if s.header.version == backupV2 {
		if _, err := s.seekKeys(f); err != nil {
			return err
		}
	}
	var keys int64
	left := omittedCounter{gaps: &s.gaps}
	defer left.end()
	var seen seenKeys
	hasher := newKeyHasher()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := f.next()
		switch {
		case errors.Is(err, io.EOF) && s.header.version == backupV1:
			return s.checkCount(f, keys)
		case err != nil:
			return s.handleTruncation(f, err, keys)
		case len(b) == 0 && s.header.version == backupV2:
			return s.checkCount(f, keys)
		}
		kv, ok := parseKeyData(b)
		if !ok {
			left.add(f.count, noRecord)
			continue
		}
		keys++
		if !seen.add(hasher.sum(kv.Key)) {
			left.add(f.count, duplicateKey)
			continue
		}
		if err := yield(kv); err != nil {
			return err
		}
	}
}

// Reasons for omitting a record.
const (
	noRecord     = "not a key-value record"
	duplicateKey = "duplicate key"
)

// parseKeyData parses a commonpb.KeyDataPair: a key (field 1), then data (field 2), and no other fields.
func parseKeyData(b []byte) (kv KV, ok bool) {
	for want := protowire.Number(1); len(b) > 0; want++ {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 || typ != protowire.BytesType || num < want || num > 2 {
			return kv, false
		}
		v, m := protowire.ConsumeBytes(b[n:])
		if m < 0 {
			return kv, false
		}
		if num == 1 {
			kv.Key = v
		} else {
			kv.Value = v
		}
		b, want = b[n+m:], num
	}
	// If the length of the key is too large, the key includes the length of the data.
	return kv, len(kv.Key) > 0 && !bytes.ContainsFunc(kv.Key, unicode.IsControl)
}

// checkCount compares the number of keys with the number in the header.
func (s *backupSource) checkCount(f *frames, keys int64) error {
	if missing := s.part.count - keys; missing > 0 {
		if s.header.version == backupV1 && !s.opts.Salvage {
			// v1 has no stopper, so a file that is truncated between two records looks complete.
			return s.truncatedError(f, keys)
		}
		s.gaps.put(Gap{Where: "end of the backup", Reason: "fewer keys than in its header", Count: missing})
	}
	return nil
}

// handleTruncation handles an input that ends or fails before the end of the keys.
func (s *backupSource) handleTruncation(f *frames, err error, keys int64) error {
	if errors.Is(err, errOverLimit) {
		return err
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !s.opts.Salvage {
		return s.broken(f, err)
	}
	if !s.opts.Salvage {
		return s.truncatedError(f, keys)
	}
	s.gaps.put(Gap{
		Where: fmt.Sprintf("after record %d", f.count), Reason: "the backup is cut off",
		Count: max(0, s.part.count-keys),
	})
	return nil
}

func (s *backupSource) truncatedError(f *frames, keys int64) error {
	return hints.Errorf("create or copy the backup again, or use --salvage",
		"read %s: cut off after record %d: has %d of %d keys", s.in.location, f.count, keys, s.part.count)
}

func (s *backupSource) broken(f *frames, err error) error {
	if errors.Is(err, errOverLimit) {
		return err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return hints.Errorf("make or copy the backup again", "read %s: cut off after record %d", s.in.location, f.count)
	}
	return hints.Attach(fmt.Errorf("read %s: damaged after record %d: %w", s.in.location, f.count, err),
		"create or copy the backup again, or use --salvage")
}

// backupSnapshot is the content of a backup.
type backupSnapshot struct {
	source *backupSource
	header Header
}

var _ Snapshot = (*backupSnapshot)(nil)

func (s *backupSnapshot) Header() Header { return s.header }

// Seekable returns false because the whole backup is one compressed stream.
func (s *backupSnapshot) Seekable() bool { return false }

// Close does nothing, because the Source owns the file.
func (s *backupSnapshot) Close() error { return nil }

// Gaps returns the records that could not be read.
func (s *backupSnapshot) Gaps() []Gap { return s.source.gaps.list() }

// Scan decompresses the whole backup and yields the keys in the ranges.
func (s *backupSnapshot) Scan(ctx context.Context, ranges []Range, yield func(KV) error) error {
	if err := checkRanges(ranges); err != nil {
		return err
	}
	m := newMatcher(ranges)
	return s.source.scan(ctx, func(kv KV) error {
		if !m.match(kv.Key) {
			return nil
		}
		return yield(kv)
	})
}
