package main

import (
	"context"

	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// etcdHealth asks a live source how its etcd is; nil where there is none to ask.
func etcdHealth(ctx context.Context, src source.Source) *model.Etcd {
	live, ok := src.(source.Live)
	if !ok {
		return nil
	}
	h, err := live.Health(ctx)
	if err != nil {
		return &model.Etcd{Problem: oneLine(err.Error())}
	}
	e := &model.Etcd{At: h.Taken, Problem: h.Problem}
	for _, m := range h.Members {
		e.Members = append(e.Members, model.EtcdMember{
			Name: m.Name, Endpoint: m.Endpoint, Version: m.Version, Leader: m.Leader, Learner: m.Learner,
			DBSize: m.DBSize, DBInUse: m.DBInUse, DBQuota: m.DBQuota, Errors: m.Errors, Problem: m.Problem,
		})
	}
	return e
}
