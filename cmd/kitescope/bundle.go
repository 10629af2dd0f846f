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
)

// Members of a bundle that are not metadata.
const (
	// runtimeMember holds the redacted answers of processes, one live.Record a line.
	runtimeMember = "runtime.jsonl"
	// etcdMember holds a model.Etcd: how etcd was.
	etcdMember = "etcd.json"
	// maxEtcdMember bounds it.
	maxEtcdMember = 16 << 20
)

// withKept adds what a bundle keeps beside the metadata; other files keep nothing.
func withKept(ctx context.Context, src source.Source, c *model.Cluster) (*model.Cluster, error) {
	bundle, ok := src.(*source.Bundle)
	if !ok {
		return c, nil
	}
	d := live.NewDecoder()
	found := false
	var etcd *model.Etcd
	err := bundle.Members(ctx, func(name string, _ int64, content io.Reader) error {
		switch name {
		case runtimeMember:
			found = true
			return live.ReadRecords(content, func(r live.Record) error {
				d.Add(r)
				return nil
			})
		case etcdMember:
			etcd = &model.Etcd{}
			return json.NewDecoder(io.LimitReader(content, maxEtcdMember)).Decode(etcd)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read what %s keeps of the nodes: %w", c.Origin.Location, err)
	}
	if etcd != nil {
		c = c.WithEtcd(etcd)
	}
	if found {
		c = c.WithRuntime(d.Runtime("bundle", c.Origin.Location))
	}
	return c, nil
}

// spool collects the answers of processes in a temporary file: the size of a bundle's
// member must be known before it is written, and a large cluster's answers should not be
// held in memory. They are redacted already.
type spool struct {
	mu   sync.Mutex
	file *os.File
	w    *bufio.Writer
	n    int
	err  error
	etcd *model.Etcd
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
	if s.err == nil {
		s.n++
		s.err = live.WriteRecord(s.w, r)
	}
}

// addTo writes the members into a bundle.
func (s *spool) addTo(b *source.BundleWriter) error {
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
	for _, w := range warnings {
		a.warn("%s: %s", path, w)
	}
	if err != nil {
		return fmt.Errorf("read the recording %s: %w", path, err)
	}
	return nil
}

// copyKept takes over what another bundle has kept.
func copyKept(ctx context.Context, b *source.Bundle, s *spool) error {
	return b.Members(ctx, func(name string, _ int64, content io.Reader) error {
		switch name {
		case runtimeMember:
			return live.ReadRecords(content, func(r live.Record) error {
				s.keep(live.Redact(r)) // it may come from a version that knew less
				return nil
			})
		case etcdMember:
			s.etcd = &model.Etcd{}
			return json.NewDecoder(io.LimitReader(content, maxEtcdMember)).Decode(s.etcd)
		}
		return nil
	})
}
