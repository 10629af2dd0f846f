package main

import (
	"context"
	"time"

	"kitescope/tools/e2e/lab"
)

// Lab is the running cluster, and who was who in it.
type Lab struct {
	*lab.Lab
	here      string // tools/e2e/chaos
	kitescope *lab.Kitescope
	known     map[string]string // session names of processes, as the round found them: "querynode1" to "querynode-5"
}

// fresh ends everything and starts a new cluster with the data of client.py.
func (l *Lab) fresh(ctx context.Context) error {
	if err := l.Fresh(ctx, "SEGMAX=2", "AUTOBALANCE=true"); err != nil {
		return err
	}
	return l.Client(ctx, 6*time.Minute, "seed")
}
