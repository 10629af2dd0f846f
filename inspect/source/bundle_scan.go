package source

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// bundleSnapshot is the content of a bundle at one revision.
type bundleSnapshot struct {
	bundle *Bundle
	header Header
	gaps   gapList // gaps at this revision
}

var _ Snapshot = (*bundleSnapshot)(nil)

func (s *bundleSnapshot) Header() Header { return s.header }

// Seekable returns false because the whole bundle is one compressed stream.
func (s *bundleSnapshot) Seekable() bool { return false }

// Close does nothing, because the Source owns the file.
func (s *bundleSnapshot) Close() error { return nil }

// Gaps returns damaged parts and, after a Scan has reached the end of the bundle, the parts that the origin
// could not read.
func (s *bundleSnapshot) Gaps() []Gap { return append(s.bundle.gaps.list(), s.gaps.list()...) }

// bundleScan is one pass over the keys.
type bundleScan struct {
	bundle *Bundle
	match  *matcher
	meter  *meter
	yield  func(KV) error
	buf    []byte
	last   []byte // key
	chunks []bundleChunk
	// changed holds keys that differ from the keys of the bundle at the requested revision.
	changed changedKeys
	// stop returns the error of the caller's context.
	stop func() error
	end  *bundleEnd
}

// Scan reads and verifies the whole bundle. It yields the keys in the ranges in order, and after them keys that
// have changed since the keys of the bundle were written.
func (s *bundleSnapshot) Scan(ctx context.Context, ranges []Range, yield func(KV) error) error {
	if err := checkRanges(ranges); err != nil {
		return err
	}
	changed, err := s.bundle.changedAt(ctx, s.header.Revision, &s.gaps)
	if err != nil {
		return err
	}
	scan := &bundleScan{
		bundle: s.bundle, match: newMatcher(ranges), meter: s.bundle.meter(), yield: yield, stop: ctx.Err,
		changed: changed,
	}
	err = s.bundle.walk(scan.meter, scan.member)
	switch {
	case errors.Is(err, errStop):
		err = nil
	case err == nil:
		err = scan.finish()
	}
	if err == nil {
		err = scan.addChanged()
	}
	if own, ok := errors.AsType[*yieldError](err); ok {
		return own.err
	}
	if errors.Is(err, errOverLimit) || errors.Is(err, errDuplicate) {
		return err
	}
	if err = s.bundle.explain(err); err != nil && s.bundle.opts.Salvage && ctx.Err() == nil {
		s.bundle.gaps.put(Gap{
			Where:  fmt.Sprintf("after chunk %d", len(scan.chunks)),
			Reason: "the bundle is cut off or damaged",
		})
		return nil
	}
	return err
}

func (s *bundleScan) member(name string, size int64, r io.Reader) error {
	if err := s.stop(); err != nil {
		return err
	}
	switch {
	case name == endName && size <= maxJSON:
		content, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		s.end = new(bundleEnd)
		return json.Unmarshal(content, s.end)
	case strings.HasPrefix(name, keysPrefix):
		return s.keys(name, size, r)
	case name == historyPrefix+historyBase && s.bundle.isRecording():
		return s.endOfBase(name, size, r)
	}
	return nil
}

// endOfBase ends the keys of a recording chunk. The members after the keys were already read to find the changed
// keys.
func (s *bundleScan) endOfBase(name string, size int64, r io.Reader) error {
	if size > maxJSON {
		return fmt.Errorf("%s has %d bytes", name, size)
	}
	sealed, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	_, content, err := unseal(sealed)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	want, ok := baseKeys(content)
	n := int64(0)
	for _, c := range s.chunks {
		n += c.Keys
	}
	if !ok || n != want {
		return fmt.Errorf("has %d of %d keys", n, want)
	}
	return errStop
}

// addChanged yields the keys that differ from the keys of the bundle at the requested revision.
func (s *bundleScan) addChanged() error {
	for _, k := range s.changed {
		if k.kv == nil || !s.match.match(k.kv.Key) {
			continue
		}
		if err := s.yield(*k.kv); err != nil {
			return &yieldError{err}
		}
	}
	return nil
}

// keys yields one chunk. The checksums are at the end of the bundle, so a mismatch is reported after the keys
// of the chunk were yielded.
func (s *bundleScan) keys(name string, size int64, r io.Reader) error {
	if size > maxChunk {
		return fmt.Errorf("%s has %d bytes", name, size)
	}
	buf := bytes.NewBuffer(s.buf[:0])
	if _, err := io.CopyN(buf, r, size); err != nil {
		return err
	}
	s.buf = buf.Bytes()
	sum := sha256.Sum256(s.buf)
	c := bundleChunk{Name: name, SHA256: hex.EncodeToString(sum[:])}
	var behind int64
	err := eachRecord(s.buf, func(kv KV) error {
		c.Keys++
		if err := s.meter.add(1, 0); err != nil {
			return err
		}
		if s.last != nil && bytes.Compare(kv.Key, s.last) <= 0 {
			behind++
			return nil
		}
		s.last = append(s.last[:0], kv.Key...)
		if !s.match.match(kv.Key) {
			return nil
		}
		if _, other := s.changed[string(kv.Key)]; other {
			return nil
		}
		if err := s.yield(kv); err != nil {
			return &yieldError{err}
		}
		return nil
	})
	s.chunks = append(s.chunks, c)
	if behind > 0 {
		s.bundle.gaps.put(Gap{Where: name, Reason: "keys out of order", Count: behind})
	}
	if errors.Is(err, errBadRecord) {
		return fmt.Errorf("%s: %w", name, err)
	}
	return err
}

// finish compares the chunks with the checksums in end.json.
func (s *bundleScan) finish() error {
	if s.end == nil {
		return io.ErrUnexpectedEOF
	}
	if len(s.end.Chunks) != len(s.chunks) {
		return fmt.Errorf("it has %d of %d chunks of keys", len(s.chunks), len(s.end.Chunks))
	}
	for i, want := range s.end.Chunks {
		if s.chunks[i] != want {
			return fmt.Errorf("the checksum of %s does not match", want.Name)
		}
	}
	for _, g := range s.end.Gaps {
		s.bundle.gaps.put(g)
	}
	return nil
}
