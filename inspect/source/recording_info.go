package source

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// RecordedInfo describes a recording, for kitescope snapshot info. The other fields of FileInfo describe its
// last state.
type RecordedInfo struct {
	// Oldest is the first revision, From the time of its recording, Until the time of the last write.
	Oldest      int64
	From, Until time.Time
	// Cluster is the cluster ID of the etcd, or 0 if unknown.
	Cluster uint64
	Chunks  []ChunkInfo
}

// ChunkInfo describes a chunk of a recording.
type ChunkInfo struct {
	Name string
	Size int64
	// First and Last are the first and the last revision of the chunk.
	First, Last int64
	From, Until time.Time
}

// DescribeRecording describes a recording or a chunk of a recording; ok is false for other sources. It calls
// visit, if not nil, with the history members in order. Their content is valid until visit returns.
func DescribeRecording(ctx context.Context, src Source, visit func(HistoryMember)) (info FileInfo, ok bool, err error) {
	d := recordingReader{visit: visit}
	switch s := src.(type) {
	case *Recording:
		err = d.chunks(ctx, s)
	case *Bundle:
		if !s.isRecording() {
			return info, false, nil
		}
		err = d.chunk(ctx, s, filepath.Base(s.in.location), s.in.packedSize())
	default:
		return info, false, nil
	}
	if err != nil {
		return info, true, err
	}
	snap, err := src.Pin(ctx)
	if err != nil {
		return info, true, err
	}
	defer snap.Close()
	info = FileInfo{Origin: src.Origin(), Checksum: ChecksumOK, Manifest: &d.manifest, Recorded: &d.info}
	if d.damaged {
		info.Checksum = ChecksumWrong
	}
	for _, c := range d.info.Chunks {
		info.Size += c.Size
	}
	info.setHeader(snap.Header())
	info.Roots = []string{metaRoot{info.Root, info.MetaPath}.String()}
	err = snap.Scan(ctx, []Range{{}}, func(kv KV) error {
		info.count(kv)
		return nil
	})
	for _, g := range append(d.gaps.list(), snap.Gaps()...) {
		d.gaps.put(g) // the last chunk may repeat gaps
	}
	info.Gaps = d.gaps.list()
	return info, true, err
}

// recordingReader reads chunks sequentially and completely.
type recordingReader struct {
	visit    func(HistoryMember)
	info     RecordedInfo
	manifest Manifest
	gaps     gapList
	damaged  bool
	last     bundleEdge // the end with the highest revision
}

func (d *recordingReader) chunks(ctx context.Context, r *Recording) error {
	for i := range r.chunks {
		c := &r.chunks[i]
		info, err := os.Stat(c.path)
		if err != nil {
			d.gaps.put(Gap{Where: c.path, Reason: cause(err).Error()}) // a recorder removes old chunks
			continue
		}
		if i > 0 && d.last.revision < c.first() {
			d.gaps.put(unrecordedGap(d.last, c))
		}
		b, err := r.bundle(ctx, i)
		if err != nil {
			return err
		}
		if err := d.chunk(ctx, b, filepath.Base(c.path), info.Size()); err != nil {
			return err
		}
	}
	if len(d.info.Chunks) == 0 {
		return fmt.Errorf("read %s: its chunks are gone", r.dir)
	}
	return nil
}

func (d *recordingReader) chunk(ctx context.Context, b *Bundle, name string, size int64) error {
	e, err := b.readAll(ctx, func(m HistoryMember) {
		if g, ok := m.gap(); ok {
			d.gaps.put(g)
		}
		if d.visit != nil {
			d.visit(m)
		}
	})
	if err != nil {
		return err
	}
	for _, g := range b.gaps.list() {
		d.gaps.put(g)
	}
	d.damaged = d.damaged || b.damaged.Load()
	d.manifest = b.manifest
	h := b.manifest.History
	if len(d.info.Chunks) == 0 {
		d.info.Oldest, d.info.From = h.Oldest, b.manifest.Taken
	}
	d.info.Chunks = append(d.info.Chunks, ChunkInfo{
		Name: name, Size: size, First: h.Oldest, Last: e.revision, From: b.manifest.Taken, Until: e.at,
	})
	d.info.Cluster = h.Cluster
	if d.last.revision <= e.revision {
		d.last = e
	}
	if d.info.Until.Before(e.at) {
		d.info.Until = e.at
	}
	return nil
}

// readAll reads a recording chunk completely and returns the end of its history. It calls visit, if not nil,
// with the members.
func (b *Bundle) readAll(ctx context.Context, visit func(HistoryMember)) (bundleEdge, error) {
	e := bundleEdge{revision: b.manifest.Revision, at: b.manifest.Taken}
	err := b.History(ctx, func(m HistoryMember) error {
		switch m.Kind {
		case historyBase:
			e.complete = true
		case HistoryChanges:
			c, err := parseChanges(m.Content)
			if err != nil || c.from != e.revision {
				b.gaps.put(Gap{
					Where:  fmt.Sprintf("%s after revision %d", b.in.location, e.revision),
					Reason: "its changes do not continue there",
				})
				return errStop
			}
			e.revision = c.to
			e.times = append(e.times, recordedTime{c.to, m.At})
		}
		if e.at.Before(m.At) { // a clock may have been set back
			e.at = m.At
		}
		if visit != nil {
			visit(m)
		}
		return nil
	})
	if err != nil {
		return e, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last = &e
	return e, nil
}
