package main

import (
	"context"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/inspect/session/kept"
	"kitescope/inspect/source"
	"kitescope/profile/pull"
)

// spoolRuntime collects what goes into a bundle beside the metadata: what processes of a live
// cluster say where they are to be asked, what recordings hold, or what the bundle that is
// read has kept. The cluster is for silentSessions.
func spoolRuntime(ctx context.Context, a *cli.App, src source.Source, snapshot source.Snapshot, conn cli.Connection, n *cli.NodeFlags) (*kept.Answers, *model.Cluster, error) {
	s, err := kept.NewAnswers()
	if err != nil {
		return nil, nil, err
	}
	c, err := fillSpool(ctx, a, s, src, snapshot, conn, n)
	if err != nil {
		s.Close()
		return nil, nil, err
	}
	return s, c, nil
}

func fillSpool(ctx context.Context, a *cli.App, s *kept.Answers, src source.Source, snapshot source.Snapshot, conn cli.Connection, n *cli.NodeFlags) (*model.Cluster, error) {
	none := model.Build(model.Parts{})
	switch origin := src.(type) {
	case source.Live:
		if len(n.Recordings) > 0 {
			break
		}
		if !n.Live {
			return none, nil
		}
		c, err := meta.Load(ctx, snapshot, meta.Want{Parts: session.NodeNeeds})
		if err != nil {
			return nil, err
		}
		options, err := a.ClientOptions(conn, n)
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
		if len(n.Recordings) == 0 {
			return none, s.TakeKept(ctx, origin)
		}
	}
	for _, path := range n.Recordings {
		if err := s.TakeRecording(path); err != nil {
			return nil, err
		}
	}
	return none, nil
}

// spoolProfiles takes the profiles that are wanted beside a snapshot, or copies those that a folder has,
// or the bundle that is saved again. nil where there are none.
func (f *snapshotFlags) spoolProfiles(ctx context.Context, a *cli.App, src source.Source, n *cli.NodeFlags) (*kept.ProfileFiles, error) {
	bundle, isBundle := src.(*source.Bundle)
	switch {
	case f.profilesFrom != "":
		return kept.FolderProfiles(f.profilesFrom)
	case f.profiles != nil:
		return f.profiles.takeProfiles(ctx, a, n)
	case isBundle:
		return kept.CopyProfiles(ctx, bundle)
	}
	return nil, nil
}

func (f *pullFlags) takeProfiles(ctx context.Context, a *cli.App, n *cli.NodeFlags) (*kept.ProfileFiles, error) {
	j, err := f.newJob(a, n, nil)
	if err != nil {
		return nil, err
	}
	var files *kept.ProfileFiles
	_, err = shownPull(ctx, a, j, func(ctx context.Context, targets []pull.Target, o pull.Options) (*pull.Manifest, error) {
		files, err = kept.PullProfiles(ctx, targets, o)
		return nil, err
	})
	return files, err
}
