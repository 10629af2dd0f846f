package main

import (
	"context"

	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/inspect/session/kept"
	"kitescope/inspect/source"
)

// spoolRuntime collects what goes into a bundle beside the metadata: what processes of a live
// cluster say where they are to be asked, what recordings hold, or what the bundle that is
// read has kept. The cluster is for silentSessions.
func (a *app) spoolRuntime(ctx context.Context, src source.Source, snapshot source.Snapshot, conn connection, n *nodeFlags) (*kept.Answers, *model.Cluster, error) {
	s, err := kept.NewAnswers()
	if err != nil {
		return nil, nil, err
	}
	c, err := a.fillSpool(ctx, s, src, snapshot, conn, n)
	if err != nil {
		s.Close()
		return nil, nil, err
	}
	return s, c, nil
}

func (a *app) fillSpool(ctx context.Context, s *kept.Answers, src source.Source, snapshot source.Snapshot, conn connection, n *nodeFlags) (*model.Cluster, error) {
	none := model.Build(model.Parts{})
	switch origin := src.(type) {
	case source.Live:
		if len(n.recordings) > 0 {
			break
		}
		if !n.live {
			return none, nil
		}
		c, err := meta.Load(ctx, snapshot, meta.Want{Parts: session.NodeNeeds})
		if err != nil {
			return nil, err
		}
		options, err := a.clientOptions(conn, n)
		if err != nil {
			return nil, err
		}
		options.Keep = s.Keep
		if c, err = session.Ask(ctx, origin, options, c); err != nil {
			return nil, err
		}
		s.Etcd = c.Etcd
		return c, nil
	case *source.Bundle:
		if len(n.recordings) == 0 {
			return none, s.TakeKept(ctx, origin)
		}
	}
	for _, path := range n.recordings {
		if err := s.TakeRecording(path); err != nil {
			return nil, err
		}
	}
	return none, nil
}

// spoolProfiles takes the profiles that are wanted beside a snapshot, or copies those that a folder has,
// or the bundle that is saved again. nil where there are none.
func (a *app) spoolProfiles(ctx context.Context, src source.Source, f snapshotFlags, n *nodeFlags) (*kept.ProfileFiles, error) {
	bundle, isBundle := src.(*source.Bundle)
	switch {
	case f.profilesFrom != "":
		return kept.FolderProfiles(f.profilesFrom)
	case f.profiles != nil:
		return a.takeProfiles(ctx, f.profiles, n)
	case isBundle:
		return kept.CopyProfiles(ctx, bundle)
	}
	return nil, nil
}

func (a *app) takeProfiles(ctx context.Context, f *pullFlags, n *nodeFlags) (*kept.ProfileFiles, error) {
	j, err := a.newPullJob(f, n, nil)
	if err != nil {
		return nil, err
	}
	targets, err := j.targets(ctx)
	if err != nil {
		return nil, err
	}
	shown := a.showPull(j)
	defer shown.stop()
	return kept.PullProfiles(ctx, targets, j.options)
}
