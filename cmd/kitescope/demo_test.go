package main

import (
	"context"
	"os"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	"kitescope/inspect/session/demo"
	"kitescope/inspect/source/sourcetest"
)

// servedDemo is the demo in a real etcd, which tests can change and stop.
type servedDemo struct {
	*demo.Cluster
	etcd *embed.Etcd
	// host is the address of the etcd, and root is Milvus's root path in it.
	host, root string
	dir        string
}

// startDemo starts the demo and the etcd. The caller must call stop.
func startDemo(ctx context.Context) (*servedDemo, error) {
	d := &servedDemo{}
	err := d.start(ctx)
	if err != nil {
		d.stop()
		return nil, err
	}
	return d, nil
}

// demoClient starts the demo and the etcd for a test, and returns them with a client of the etcd.
func demoClient(t *testing.T) (*servedDemo, *clientv3.Client) {
	t.Helper()
	demo, err := startDemo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(demo.stop)
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{demo.host}, DialTimeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return demo, client
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

// from returns the value of --from for the etcd.
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
