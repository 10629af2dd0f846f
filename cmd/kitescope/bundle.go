package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"kitescope/inspect/live"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
	"kitescope/words/hints"
)

// Members of a bundle that are not metadata.
const (
	// runtimeMember holds the redacted answers of processes, one live.Record a line.
	runtimeMember = "runtime.jsonl"
	// etcdMember holds a model.Etcd: how etcd was.
	etcdMember = "etcd.json"
	// maxEtcdMember bounds it.
	maxEtcdMember = 16 << 20
	// maxKeptRuntime bounds the answers that a bundle keeps, which lie in a temporary file where it is written.
	maxKeptRuntime = 1 << 30
)

// withKept adds what a bundle keeps beside the metadata; other files keep nothing. What is broken
// in it is a gap of the cluster, and the rest is there.
func withKept(ctx context.Context, src source.Source, c *model.Cluster) (*model.Cluster, error) {
	bundle, ok := src.(*source.Bundle)
	if !ok {
		return c, nil
	}
	d := live.NewDecoder()
	found := false
	etcd, gaps, err := readKept(ctx, bundle, func(r live.Record) error {
		found = true
		d.Add(r)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if etcd != nil {
		c = c.WithEtcd(etcd)
	}
	if found {
		c = c.WithRuntime(d.Runtime("bundle", c.Origin.Location))
	}
	return c.WithGaps(gaps...), nil
}

// readKept hands what a bundle keeps of the processes to add, and returns what it keeps of etcd.
// An error means that ctx ended.
func readKept(ctx context.Context, bundle *source.Bundle, add func(live.Record) error) (etcd *model.Etcd, gaps []model.Gap, err error) {
	lacks := func(name string, why error) {
		gaps = append(gaps, model.Gap{Where: name + " of " + bundle.Origin().Location, Reason: why.Error()})
	}
	err = bundle.Members(ctx, func(name string, _ int64, content io.Reader) error {
		switch name {
		case runtimeMember:
			err := live.ReadRecords(content, func(r live.Record) error { return errors.Join(add(r), ctx.Err()) })
			if err != nil {
				lacks(name, err)
			}
		case etcdMember:
			kept := &model.Etcd{}
			if err := json.NewDecoder(io.LimitReader(content, maxEtcdMember)).Decode(kept); err != nil {
				lacks(name, err)
			} else {
				etcd = kept
			}
		}
		return ctx.Err()
	})
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	if err != nil && len(gaps) == 0 { // only under --salvage: else the keys were not read either
		lacks("what is kept of the nodes", err)
	}
	return etcd, gaps, nil
}

// spool collects the answers of processes in a temporary file: the size of a bundle's
// member must be known before it is written, and a large cluster's answers should not be
// held in memory. They are redacted already.
type spool struct {
	mu   sync.Mutex
	file *os.File
	w    *bufio.Writer
	n    int
	size int64
	err  error
	etcd *model.Etcd
	gaps []model.Gap // what of it could not be read
}

func newSpool() (*spool, error) {
	f, err := os.CreateTemp("", "kitescope-runtime-")
	if err != nil {
		return nil, fmt.Errorf("keep the answers of the nodes: %w", err)
	}
	return &spool{file: f, w: bufio.NewWriter(f)}, nil
}

// keep takes one answer.
func (s *spool) keep(r live.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	s.n++
	if s.err = live.WriteRecord(s, r); s.err == nil && s.size > maxKeptRuntime {
		s.err = &hints.Error{
			Err:    fmt.Errorf("the answers of the processes have more than %d MiB", maxKeptRuntime>>20),
			Advice: "save without them: leave out --live and --runtime",
		}
	}
}

// Write implements io.Writer, for keep.
func (s *spool) Write(line []byte) (int, error) {
	s.size += int64(len(line))
	return s.w.Write(line)
}

// addTo writes the members into a bundle.
func (s *spool) addTo(b *source.BundleWriter) error {
	for _, g := range s.gaps {
		b.AddGap(source.Gap{Where: g.Where, Reason: g.Reason})
	}
	if s.etcd != nil {
		text, err := json.Marshal(s.etcd)
		if err != nil {
			return err
		}
		if err := b.AddMember(etcdMember, int64(len(text)), bytes.NewReader(text)); err != nil {
			return err
		}
	}
	if err := errors.Join(s.err, s.w.Flush()); err != nil {
		return fmt.Errorf("keep the answers of the nodes: %w", err)
	}
	if s.n == 0 {
		return nil
	}
	size, err := s.file.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = s.file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return fmt.Errorf("keep the answers of the nodes: %w", err)
	}
	return b.AddMember(runtimeMember, size, s.file)
}

func (s *spool) close() {
	_ = s.file.Close()
	_ = os.Remove(s.file.Name())
}

// spoolRuntime collects what goes into a bundle beside the metadata: what processes of a live
// cluster say where they are to be asked, what recordings hold, or what the bundle that is
// read has kept. The cluster is for silentSessions.
func (a *app) spoolRuntime(ctx context.Context, src source.Source, snapshot source.Snapshot, conn connection) (*spool, *model.Cluster, error) {
	s, err := newSpool()
	if err != nil {
		return nil, nil, err
	}
	c, err := a.fillSpool(ctx, s, src, snapshot, conn)
	if err != nil {
		s.close()
		return nil, nil, err
	}
	return s, c, nil
}

func (a *app) fillSpool(ctx context.Context, s *spool, src source.Source, snapshot source.Snapshot, conn connection) (*model.Cluster, error) {
	none := model.Build(model.Parts{})
	switch origin := src.(type) {
	case *source.Etcd:
		if len(a.nodes.recordings) > 0 {
			break
		}
		if !a.nodes.live {
			return none, nil
		}
		c, err := meta.Load(ctx, snapshot, meta.Want{Parts: runtimeNeeds})
		if err != nil {
			return nil, err
		}
		if c, err = a.ask(ctx, origin, conn, c, s.keep); err != nil {
			return nil, err
		}
		s.etcd = c.Etcd
		return c, nil
	case *source.Bundle:
		if len(a.nodes.recordings) == 0 {
			return none, copyKept(ctx, origin, s)
		}
	}
	for _, path := range a.nodes.recordings {
		if err := a.spoolRecording(path, s); err != nil {
			return nil, err
		}
	}
	return none, nil
}

// spoolRecording takes a recording over, redacted.
func (a *app) spoolRecording(path string, s *spool) error {
	warnings, err := live.ReadFile(path, func(r live.Record) { s.keep(live.Redact(r)) })
	if err != nil {
		return fmt.Errorf("read the recording: %w", err)
	}
	s.gaps = append(s.gaps, recordingGaps(warnings)...)
	return nil
}

// recordingGaps are what of recordings could not be read.
func recordingGaps(warnings []string) []model.Gap {
	gaps := make([]model.Gap, 0, len(warnings))
	for _, w := range warnings {
		gaps = append(gaps, model.Gap{Where: source.RecordingGap, Reason: w})
	}
	return gaps
}

// copyKept takes over what another bundle has kept.
func copyKept(ctx context.Context, b *source.Bundle, s *spool) error {
	var err error
	// It may come from a version that knew less of secrets.
	s.etcd, s.gaps, err = readKept(ctx, b, func(r live.Record) error {
		s.keep(live.Redact(r))
		return s.err
	})
	if s.err != nil {
		return s.err
	}
	return err
}
