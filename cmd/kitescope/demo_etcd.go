package main

import (
	"bytes"
	"context"
	_ "embed" // the captured cluster
	"fmt"
	"net"
	"net/url"
	"os"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"

	"kitescope/inspect/source"
)

// demoCluster is a bundle of a real Milvus 2.3.5 cluster with four query nodes,
// captured while one of them was underloaded (testdata/snapshots/cluster-2.3.5-t7).
//
//go:embed demo.kite
var demoCluster []byte

// demoEtcd is an etcd on loopback that lives in a temporary folder.
type demoEtcd struct {
	endpoint string // host:port
	root     string
	etcd     *embed.Etcd
	dir      string
}

// startDemoEtcd starts an etcd with the captured cluster in it. This is the only
// place where kitescope writes to an etcd, and it is its own.
func startDemoEtcd(ctx context.Context) (_ *demoEtcd, err error) {
	d := &demoEtcd{}
	defer func() {
		if err != nil {
			d.stop()
			err = fmt.Errorf("start the demo's etcd: %w", err)
		}
	}()
	if d.dir, err = os.MkdirTemp("", "kitescope-demo-"); err != nil {
		return nil, err
	}
	if d.etcd, err = startEtcd(d.dir); err != nil {
		return nil, err
	}
	select {
	case <-d.etcd.Server.ReadyNotify():
	case err := <-d.etcd.Err():
		return nil, err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(30 * time.Second):
		return nil, fmt.Errorf("not ready after 30 s")
	}
	d.endpoint = d.etcd.Clients[0].Addr().String()
	return d, d.fill(ctx)
}

func startEtcd(dir string) (*embed.Etcd, error) {
	cfg := embed.NewConfig()
	cfg.Dir = dir
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	cfg.UnsafeNoFsync = true             // it is thrown away
	cfg.TickMs, cfg.ElectionMs = 10, 100 // alone: no need to wait a second for votes
	client, err := freeURL()
	if err != nil {
		return nil, err
	}
	peer, err := freeURL()
	if err != nil {
		return nil, err
	}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	return embed.StartEtcd(cfg)
}

// freeURL finds a free loopback port. etcd wants to know its own address before
// it listens, so port 0 would not do.
func freeURL() (url.URL, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return url.URL{}, err
	}
	defer l.Close()
	return url.URL{Scheme: "http", Host: l.Addr().String()}, nil
}

// fill puts the captured keys into the etcd, in the order in which they were written.
func (d *demoEtcd) fill(ctx context.Context) error {
	src, err := source.Open(ctx, "-", source.Options{Stdin: bytes.NewReader(demoCluster), Now: time.Now})
	if err != nil {
		return err
	}
	defer src.Close()
	snapshot, err := src.Pin(ctx)
	if err != nil {
		return err
	}
	defer snapshot.Close()
	d.root = snapshot.Header().Root
	const opsPerTxn = 128 // etcd's default limit
	var ops []*etcdserverpb.RequestOp
	flush := func() error {
		if len(ops) == 0 {
			return nil
		}
		_, err := d.etcd.Server.Txn(ctx, &etcdserverpb.TxnRequest{Success: ops})
		ops = nil
		return err
	}
	err = snapshot.Scan(ctx, []source.Range{source.Prefix("")}, func(kv source.KV) error {
		ops = append(ops, &etcdserverpb.RequestOp{Request: &etcdserverpb.RequestOp_RequestPut{
			RequestPut: &etcdserverpb.PutRequest{Key: bytes.Clone(kv.Key), Value: bytes.Clone(kv.Value)},
		}})
		if len(ops) == opsPerTxn {
			return flush()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// from is the --from word of this etcd.
func (d *demoEtcd) from() string { return "etcd://" + d.endpoint + "/" + d.root }

// stop ends the etcd and removes its folder.
func (d *demoEtcd) stop() {
	if d.etcd != nil {
		d.etcd.Close()
	}
	if d.dir != "" {
		_ = os.RemoveAll(d.dir) // a temporary folder: nothing to do about an error
	}
}
