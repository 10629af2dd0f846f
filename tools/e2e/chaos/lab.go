package main

import (
	"context"
	"time"

	"kitescope/tools/e2e/lab"
)

// Lab is the running cluster and the identities of its processes.
type Lab struct {
	*lab.Lab
	dir       string // tools/e2e/chaos
	kitescope *lab.Kitescope
	// session name of each process at the start of the round, e.g. "querynode-5" for "querynode1"
	sessionNames map[string]string
}

// recreate stops everything and starts a new cluster with the data of client.py.
func (l *Lab) recreate(ctx context.Context) error {
	if err := l.Recreate(ctx, "SEGMAX=2", "AUTOBALANCE=true"); err != nil {
		return err
	}
	return l.Client(ctx, 6*time.Minute, "seed")
}
