package main

import (
	"context"
	"time"

	"kitescope/tools/e2e/lab"
)

// Lab is the running cluster and the identities of its processes.
type Lab struct {
	*lab.Lab
	here      string // tools/e2e/chaos
	kitescope *lab.Kitescope
	known     map[string]string // session name of each process at the start of the round, e.g. "querynode-5" for "querynode1"
}

// fresh stops everything and starts a new cluster with the data of client.py.
func (l *Lab) fresh(ctx context.Context) error {
	if err := l.Fresh(ctx, "SEGMAX=2", "AUTOBALANCE=true"); err != nil {
		return err
	}
	return l.Client(ctx, 6*time.Minute, "seed")
}
