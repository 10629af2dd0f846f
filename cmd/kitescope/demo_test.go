package main

import (
	"context"
	"os"

	"go.etcd.io/etcd/server/v3/embed"

	"kitescope/inspect/session/demo"
	"kitescope/inspect/source/sourcetest"
)

// servedDemo is the demo in a real etcd, which tests change and stop.
type servedDemo struct {
	*demo.Cluster
	etcd *embed.Etcd
	// host is where the etcd listens, root Milvus's root path in it.
	host, root string
	dir        string
}

// startedDemo starts both; stop them.
func startedDemo(ctx context.Context) (*servedDemo, error) {
	d := &servedDemo{}
	err := d.start(ctx)
	if err != nil {
		d.stop()
		return nil, err
	}
	return d, nil
}

func (d *servedDemo) start(ctx context.Context) (err error) {
	if d.Cluster, err = demo.Start(ctx, nil); err != nil {
		return err
	}
	if d.dir, err = os.MkdirTemp("", "kitescope-demo-"); err != nil {
		return err
	}
	if d.etcd, err = sourcetest.Serve(ctx, d.dir, nil); err != nil {
		return err
	}
	d.host = d.etcd.Clients[0].Addr().String()
	src, err := d.Source("")
	if err != nil {
		return err
	}
	snapshot, err := src.Pin(ctx)
	if err != nil {
		return err
	}
	d.root = snapshot.Header().Root
	return sourcetest.Fill(ctx, d.etcd, snapshot)
}

// from is the --from word of the etcd.
func (d *servedDemo) from() string { return "etcd://" + d.host + "/" + d.root }

func (d *servedDemo) stop() {
	if d.etcd != nil {
		d.etcd.Close()
	}
	_ = os.RemoveAll(d.dir)
	if d.Cluster != nil {
		d.Close()
	}
}
