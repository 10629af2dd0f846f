package main

import (
	"bytes"
	"context"
	_ "embed" // the captured cluster
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"

	"kitescope/inspect/live"
	"kitescope/inspect/live/recorded"
	"kitescope/inspect/source"
)

// demoCluster is a bundle of a real Milvus 2.3.5 cluster with four query nodes,
// captured while one of them was underloaded (testdata/snapshots/cluster-2.3.5-t7).
//
//go:embed demo.kite
var demoCluster []byte

// demoEtcd is an etcd on loopback that lives in a temporary folder.
type demoEtcd struct {
	client   url.URL
	snapshot source.Snapshot
	source   source.Source
	etcd     *embed.Etcd
	dir      string
	// answers are what the captured processes said; servers say it again while the demo runs.
	answers []live.Record
	servers *recorded.Servers
	// profiles are those of the captured processes, by the address of their HTTP servers.
	profiles map[string]map[string][]byte
}

// anyPort is a port of loopback that the system chooses as a server listens on it.
func anyPort() url.URL { return url.URL{Scheme: "http", Host: "127.0.0.1:0"} }

// newDemoEtcd reads the captured cluster; start starts the etcd, and from then on it is known where that listens. stop is wanted after both.
func newDemoEtcd(ctx context.Context) (*demoEtcd, error) {
	d := &demoEtcd{client: anyPort()}
	var err error
	d.source, err = source.Open(ctx, "-", source.Options{Stdin: bytes.NewReader(demoCluster), Now: time.Now})
	if err == nil {
		d.snapshot, err = d.source.Pin(ctx)
	}
	if err == nil {
		d.answers, err = keptAnswers(ctx, d.source)
	}
	if err == nil {
		d.profiles, err = recordedProfiles(ctx, d.source)
	}
	if err != nil {
		return nil, fmt.Errorf("prepare the demo: %w", err)
	}
	return d, nil
}

// settle chooses the port before start, for who has to name it first. Somebody else may take it in between.
func (d *demoEtcd) settle(ctx context.Context) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("prepare the demo: %w", err)
	}
	defer l.Close()
	d.client.Host = l.Addr().String()
	return nil
}

// from is the --from word of this etcd.
func (d *demoEtcd) from() string { return "etcd://" + d.client.Host + "/" + d.snapshot.Header().Root }

// start starts the etcd and puts the captured cluster into it. This is the only
// place where kitescope writes to an etcd, and it is its own.
func (d *demoEtcd) start(ctx context.Context) error {
	err := d.startEtcd()
	if err == nil {
		d.servers, err = recorded.Start(d.answers, recorded.Options{
			Metrics: metricsByAddress(d.answers), Profiles: d.profiles, Recorded: d.taken(), Now: clockAt(d.taken()),
		})
	}
	if err == nil {
		select {
		case <-d.etcd.Server.ReadyNotify():
			err = d.fill(ctx)
		case err = <-d.etcd.Err():
		case <-ctx.Done():
			err = ctx.Err()
		case <-time.After(30 * time.Second):
			err = errors.New("not ready after 30 s")
		}
	}
	if err != nil {
		d.stopEtcd() // a second start begins anew, not with half a cluster
		return fmt.Errorf("start the demo's etcd: %w", err)
	}
	return nil
}

func (d *demoEtcd) startEtcd() (err error) {
	if d.dir, err = os.MkdirTemp("", "kitescope-demo-"); err != nil {
		return err
	}
	cfg := embed.NewConfig()
	cfg.Dir = d.dir
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	cfg.UnsafeNoFsync = true             // it is thrown away
	cfg.TickMs, cfg.ElectionMs = 10, 100 // alone: no need to wait a second for votes
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{d.client}, []url.URL{d.client}
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{anyPort()}, []url.URL{anyPort()}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	if d.etcd, err = embed.StartEtcd(cfg); err != nil {
		return err
	}
	d.client.Host = d.etcd.Clients[0].Addr().String()
	return nil
}

// fill puts the captured keys into the etcd, in the order in which they were written.
func (d *demoEtcd) fill(ctx context.Context) error {
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
	err := d.snapshot.Scan(ctx, []source.Range{source.Prefix("")}, func(kv source.KV) error {
		ops = append(ops, &etcdserverpb.RequestOp{Request: &etcdserverpb.RequestOp_RequestPut{
			RequestPut: &etcdserverpb.PutRequest{Key: bytes.Clone(kv.Key), Value: d.hosted(kv)},
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

// stop ends the etcd and removes its folder.
func (d *demoEtcd) stop() {
	d.stopEtcd()
	_ = d.snapshot.Close() // it was only read
	_ = d.source.Close()
}

func (d *demoEtcd) stopEtcd() {
	if d.servers != nil {
		d.servers.Close()
		d.servers = nil
	}
	if d.etcd != nil {
		d.etcd.Close()
		d.etcd = nil
	}
	if d.dir != "" {
		_ = os.RemoveAll(d.dir) // a temporary folder: nothing to do about an error
		d.dir = ""
	}
}
