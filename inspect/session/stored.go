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
	// EtcdMember holds the health of etcd as a model.Etcd.
	EtcdMember = "etcd.json"
	// maxEtcdMember is the maximum size of EtcdMember, in bytes.
	maxEtcdMember = 16 << 20
	// maxAnswersMember is the maximum size of the answers in a bundle, in bytes. They are in a temporary file while a
	// bundle is written.
	maxAnswersMember = 1 << 30
)

// recordingOf returns the recording behind a past moment, or nil if the moment is of another source. It returns src
// itself if src is not a past moment.
func recordingOf(src source.Source) source.Source {
	if then, ok := src.(*pastSource); ok {
		return then.Recording()
	}
	return src
}

// WithStored adds the process state and the health of etcd stored in a bundle, or in a recording for the cluster's
// revision. It returns c unchanged for other files. Damaged parts become gaps of the cluster.
func WithStored(ctx context.Context, src source.Source, c *model.Cluster) (*model.Cluster, error) {
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
	etcd, gaps, err := readStored(ctx, bundle, func(r live.Record) error {
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

// readStored calls add with each stored answer of a process, and returns the stored health of etcd. Damaged members
// become gaps. It returns an error only if ctx ended.
func readStored(
	ctx context.Context, bundle *source.Bundle, add func(live.Record) error,
) (etcd *model.Etcd, gaps []model.Gap, err error) {
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
	if err != nil && len(gaps) == 0 { // only with --salvage, because otherwise reading the keys failed before
		lacks("stored node answers", err)
	}
	return etcd, gaps, nil
}

// recordingGaps returns warnings about recordings as gaps.
func recordingGaps(warnings []string) []model.Gap {
	gaps := make([]model.Gap, 0, len(warnings))
	for _, w := range warnings {
		gaps = append(gaps, model.Gap{Where: source.RecordingGap, Reason: w})
	}
	return gaps
}

// ReadRecordings reads the answers of processes from files or folders of files. Damaged parts become gaps.
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
