package session

import (
	"context"
	"io"

	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// CollectAnswers collects the answers of processes and the health of etcd for a bundle of a snapshot of src. They
// come from recordings, from src itself, or from the live processes. If the processes were queried, the returned
// cluster has their state and shows which did not respond. The caller must close the Answers.
func CollectAnswers(
	ctx context.Context, src source.Source, snapshot source.Snapshot, spec *Spec,
) (*Answers, *model.Cluster, error) {
	s, err := NewAnswers()
	if err != nil {
		return nil, nil, err
	}
	c, err := fillAnswers(ctx, s, src, snapshot, spec)
	if err != nil {
		s.Close()
		return nil, nil, err
	}
	return s, c, nil
}

func fillAnswers(
	ctx context.Context, s *Answers, src source.Source, snapshot source.Snapshot, spec *Spec,
) (*model.Cluster, error) {
	none := model.Build(model.Parts{})
	for _, path := range spec.Recordings {
		if err := s.AddRecording(path); err != nil {
			return nil, err
		}
	}
	if len(spec.Recordings) == 0 {
		if recorded, err := s.AddRecorded(ctx, src, snapshot.Header()); err != nil || recorded {
			return none, err
		}
	}
	switch origin := src.(type) {
	case *source.Bundle:
		if len(spec.Recordings) == 0 {
			return none, s.AddBundle(ctx, origin)
		}
	case source.Live:
		if spec.QueriesProcesses(src) {
			return queryAndStore(ctx, s, origin, snapshot, spec)
		}
	}
	return none, nil
}

// queryAndStore queries the processes and keeps their answers in s.
func queryAndStore(
	ctx context.Context, s *Answers, src source.Live, snapshot source.Snapshot, spec *Spec,
) (*model.Cluster, error) {
	c, err := meta.Load(ctx, snapshot, meta.Want{Parts: NodeNeeds})
	if err != nil {
		return nil, err
	}
	way := spec.Nodes
	way.Keep, way.Tasks, way.Targets, way.ProxyReports = s.Keep, true, true, true
	if c, err = Ask(ctx, src, way, c, nil); err != nil {
		return nil, err
	}
	s.Etcd = c.Etcd
	return c, nil
}

// BundleContents holds the contents of a bundle to write.
type BundleContents struct {
	Snapshot source.Snapshot
	Answers  *Answers
	// Profiles is nil if there are none.
	Profiles *ProfileFiles
	// Past holds the past revisions to include, all that it has. If it is nil, only the snapshot is written.
	Past source.Past
	// Kitescope is the version of the program.
	Kitescope string
}

// Write writes the bundle, redacted. A live etcd is read in ranges split at collections, so that no response is
// huge.
func (s *BundleContents) Write(ctx context.Context, w io.Writer) (source.BundleStats, error) {
	snapshot, header := s.Snapshot, s.Snapshot.Header()
	var ranges []source.Range
	if snapshot.Seekable() {
		catalog, err := meta.Load(ctx, snapshot, meta.Want{Parts: model.PartCatalog})
		if err != nil {
			return source.BundleStats{}, err
		}
		ranges = meta.Ranges(header, model.PartAll, catalog)
	}
	redact := meta.Redactor(header)
	info := source.BundleInfo{Kitescope: s.Kitescope, Redacted: true}
	if s.Past != nil {
		oldest, err := s.Past.Oldest(ctx, header)
		if err != nil {
			return source.BundleStats{}, err
		}
		info.History = &source.ManifestHistory{Oldest: oldest}
	}
	info.Members = func(b *source.BundleWriter) error {
		if err := s.Answers.AddTo(b); err != nil {
			return err
		}
		if err := s.Profiles.AddTo(b); err != nil || s.Past == nil {
			return err
		}
		return b.AddPast(ctx, s.Past, header, info.History.Oldest, redact)
	}
	return source.WriteBundle(ctx, w, snapshot, info, ranges, redact)
}
