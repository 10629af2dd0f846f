// Package bundled saves a cluster as a bundle. What enters is a source that is open, the session.Spec that it was opened by, and the
// profiles that go in; what leaves is the bundle, redacted, and what it lacks.
//
//  1. Answers collects what goes in beside the metadata: what processes say, what recordings hold, or what the bundle has that is saved again.
//  2. Write writes the metadata at one revision, with the answers and profiles as members.
package bundled

import (
	"context"
	"io"

	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/inspect/session/kept"
	"kitescope/inspect/source"
)

// Answers collects what is kept beside the metadata of a snapshot of src. The cluster has what its processes said, if they were
// asked: it tells who did not. Close the answers.
func Answers(ctx context.Context, src source.Source, snapshot source.Snapshot, spec *session.Spec) (*kept.Answers, *model.Cluster, error) {
	s, err := kept.NewAnswers()
	if err != nil {
		return nil, nil, err
	}
	c, err := fill(ctx, s, src, snapshot, spec)
	if err != nil {
		s.Close()
		return nil, nil, err
	}
	return s, c, nil
}

func fill(ctx context.Context, s *kept.Answers, src source.Source, snapshot source.Snapshot, spec *session.Spec) (*model.Cluster, error) {
	none := model.Build(model.Parts{})
	for _, path := range spec.Recordings {
		if err := s.TakeRecording(path); err != nil {
			return nil, err
		}
	}
	switch origin := src.(type) {
	case *source.Bundle:
		if len(spec.Recordings) == 0 {
			return none, s.TakeKept(ctx, origin)
		}
	case source.Live:
		if spec.Asks(src) {
			return ask(ctx, s, origin, snapshot, spec)
		}
	}
	return none, nil
}

// ask keeps what the processes say.
func ask(ctx context.Context, s *kept.Answers, src source.Live, snapshot source.Snapshot, spec *session.Spec) (*model.Cluster, error) {
	c, err := meta.Load(ctx, snapshot, meta.Want{Parts: session.NodeNeeds})
	if err != nil {
		return nil, err
	}
	way := spec.Nodes
	way.Keep, way.Tasks, way.Targets = s.Keep, true, true
	if c, err = session.Ask(ctx, src, way, c); err != nil {
		return nil, err
	}
	s.Etcd = c.Etcd
	return c, nil
}

// Write writes everything, redacted. A live etcd is read in ranges that are cut at the collections it holds, so that no
// answer is huge. kitescope is the version of the program.
func Write(ctx context.Context, w io.Writer, snapshot source.Snapshot, said *kept.Answers, profiles *kept.ProfileFiles, kitescope string) (source.BundleStats, error) {
	var ranges []source.Range
	if snapshot.Seekable() {
		catalog, err := meta.Load(ctx, snapshot, meta.Want{Parts: model.PartCatalog})
		if err != nil {
			return source.BundleStats{}, err
		}
		ranges = meta.Ranges(snapshot.Header(), model.PartAll, catalog)
	}
	info := source.BundleInfo{Kitescope: kitescope, Redacted: true, Members: func(b *source.BundleWriter) error {
		if err := said.AddTo(b); err != nil {
			return err
		}
		return profiles.AddTo(b)
	}}
	return source.WriteBundle(ctx, w, snapshot, info, ranges, meta.Redactor(snapshot.Header()))
}
