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

// bundleSnapshot is the content of a bundle.
type bundleSnapshot struct {
	bundle *Bundle
	header Header
	gaps   gapList // those of its moment
}

var _ Snapshot = (*bundleSnapshot)(nil)

func (s *bundleSnapshot) Header() Header { return s.header }

// Seekable is false: a bundle is compressed as a whole.
func (s *bundleSnapshot) Seekable() bool { return false }

// Close does nothing; the Source owns the file.
func (s *bundleSnapshot) Close() error { return nil }

// Gaps lists what the origin could not read, once a Scan has come to the end of
// the bundle, and what is damaged.
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
	// changed are keys that are not as the bundle has them.
	changed changed
	// stop reports an end of the caller's context.
	stop func() error
	end  *bundleEnd
}

// Scan reads the whole bundle, checks it, and yields what lies in the ranges, in order.
func (s *bundleSnapshot) Scan(ctx context.Context, ranges []Range, yield func(KV) error) error {
	if err := checkRanges(ranges); err != nil {
		return err
	}
	changed, err := s.bundle.changed(ctx, s.header.Revision, &s.gaps)
	if err != nil {
		return err
	}
	scan := &bundleScan{bundle: s.bundle, match: newMatcher(ranges), meter: s.bundle.meter(), yield: yield, stop: ctx.Err, changed: changed}
	err = s.bundle.walk(scan.meter, scan.member)
	switch {
	case errors.Is(err, errEnough):
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
	if errors.Is(err, errOverLimit) || errors.Is(err, errTwice) {
		return err
	}
	if err = s.bundle.explain(err); err != nil && s.bundle.opts.Salvage && ctx.Err() == nil {
		s.bundle.gaps.put(Gap{Where: fmt.Sprintf("behind chunk %d", len(scan.chunks)), Reason: "the bundle is cut off or damaged"})
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
	case name == historyPrefix+historyBase && s.bundle.recorded():
		return s.begun(name, size, r)
	}
	return nil
}

// begun ends the keys of a chunk of a recording: what is behind them was read for what has changed.
func (s *bundleScan) begun(name string, size int64, r io.Reader) error {
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
		return fmt.Errorf("%d of %d keys are there", n, want)
	}
	return errEnough
}

// addChanged yields what was changed since the keys were written, or is no more as they are.
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

// keys yields one chunk. The checksum is compared at the end, where it is
// written: the keys of a chunk that does not fit are then reported.
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

// finish compares what was read with what the end says.
func (s *bundleScan) finish() error {
	if s.end == nil {
		return io.ErrUnexpectedEOF
	}
	if len(s.end.Chunks) != len(s.chunks) {
		return fmt.Errorf("%d of %d chunks of keys are there", len(s.chunks), len(s.end.Chunks))
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
