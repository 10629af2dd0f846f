package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// Members of a bundle that are not metadata.
const (
	// AnswersMember holds the redacted answers of processes, one live.Record a line.
	AnswersMember = "runtime.jsonl"
	// EtcdMember holds a model.Etcd: how etcd was.
	EtcdMember = "etcd.json"
	// maxEtcdMember bounds it.
	maxEtcdMember = 16 << 20
	// maxKeptRuntime bounds the answers that a bundle keeps, which lie in a temporary file where it is written.
	maxKeptRuntime = 1 << 30
)

// recordingOf is the recording that a source is at a moment, nil of a past moment of anything else; the source itself if it is none.
func recordingOf(src source.Source) source.Source {
	if then, ok := src.(*then); ok {
		return then.Recording()
	}
	return src
}

// WithKept adds what a bundle keeps beside the metadata, or a recording of the cluster's revision; other files keep nothing. What is
// broken in it is a gap of the cluster, and the rest is there.
func WithKept(ctx context.Context, src source.Source, c *model.Cluster) (*model.Cluster, error) {
	if rounds := RoundsOf(src); rounds != nil {
		defer rounds.Close()
		return withRecorded(ctx, rounds, c)
	}
	src = recordingOf(src)
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
		case AnswersMember:
			err := live.ReadRecords(content, func(r live.Record) error { return errors.Join(add(r), ctx.Err()) })
			if err != nil {
				lacks(name, err)
			}
		case EtcdMember:
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

// recordingGaps are what of recordings could not be read.
func recordingGaps(warnings []string) []model.Gap {
	gaps := make([]model.Gap, 0, len(warnings))
	for _, w := range warnings {
		gaps = append(gaps, model.Gap{Where: source.RecordingGap, Reason: w})
	}
	return gaps
}

// ReadRecordings reads what processes said from files, or folders of them. What is broken in them is a gap.
func ReadRecordings(paths []string) (*model.Runtime, []model.Gap, error) {
	d := live.NewDecoder()
	var gaps []model.Gap
	for _, path := range paths {
		warnings, err := live.ReadFile(path, d.Add)
		if err != nil {
			return nil, nil, fmt.Errorf("read the recording: %w", err)
		}
		gaps = append(gaps, recordingGaps(warnings)...)
	}
	return d.Runtime("recording", strings.Join(paths, ", ")), gaps, nil
}
