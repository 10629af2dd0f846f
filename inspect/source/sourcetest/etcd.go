package sourcetest

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"

	"kitescope/inspect/source"
)

// Server is a real etcd inside the test process.
type Server struct {
	// Address is host:port of the client listener.
	Address string
	// Client may write. It has no user.
	Client *clientv3.Client
	Etcd   *embed.Etcd
	// Dir is the data directory.
	Dir string
	// Stop stops the server before the test ends.
	Stop func()
}

// startTimeout bounds the start of a server.
const startTimeout = 30 * time.Second

// Serve starts an etcd in this process, on free ports of the loopback interface. It runs until it is closed.
// dir is its data directory. configure may change its configuration, e.g. for TLS or quotas.
func Serve(ctx context.Context, dir string, configure func(*embed.Config)) (*embed.Etcd, error) {
	config := embed.NewConfig()
	config.Dir = dir
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	config.UnsafeNoFsync = true
	config.BcryptCost = 4                      // the minimum, because the passwords protect nothing
	config.TickMs, config.ElectionMs = 10, 100 // a single member need not wait a second for its election
	anyPort := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{anyPort}, []url.URL{anyPort}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{anyPort}, []url.URL{anyPort}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	if configure != nil {
		configure(config)
	}
	server, err := embed.StartEtcd(config)
	if err != nil {
		return nil, fmt.Errorf("start etcd: %w", err)
	}
	select {
	case <-server.Server.ReadyNotify():
		return server, nil
	case err = <-server.Err():
	case <-ctx.Done():
		err = ctx.Err()
	case <-time.After(startTimeout):
		err = fmt.Errorf("not ready after %s", startTimeout)
	}
	server.Close()
	return nil, fmt.Errorf("start etcd: %w", err)
}

// Fill writes the keys of a snapshot to an etcd.
func Fill(ctx context.Context, server *embed.Etcd, snap source.Snapshot) error {
	const opsPerTxn = 128 // the default limit of etcd
	var ops []*etcdserverpb.RequestOp
	flush := func() error {
		_, err := server.Server.Txn(ctx, &etcdserverpb.TxnRequest{Success: ops})
		ops = nil
		return err
	}
	err := snap.Scan(ctx, []source.Range{{}}, func(kv source.KV) error {
		put := &etcdserverpb.PutRequest{Key: bytes.Clone(kv.Key), Value: bytes.Clone(kv.Value)}
		ops = append(ops, &etcdserverpb.RequestOp{Request: &etcdserverpb.RequestOp_RequestPut{RequestPut: put}})
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

// StartEtcd starts an etcd with Serve and stops it at the end of the test.
func StartEtcd(t testing.TB, configure func(*embed.Config)) *Server {
	t.Helper()
	dir := t.TempDir()
	var config *embed.Config
	server, err := Serve(t.Context(), dir, func(c *embed.Config) {
		if config = c; configure != nil {
			configure(c)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	stop := sync.OnceFunc(server.Close)
	t.Cleanup(stop)
	s := &Server{Address: server.Clients[0].Addr().String(), Etcd: server, Dir: config.Dir, Stop: stop}
	if config.ListenClientUrls[0].Scheme == "http" {
		s.Client, err = clientv3.New(clientv3.Config{Endpoints: []string{"http://" + s.Address}, Logger: zap.NewNop()})
		if err != nil {
			t.Fatalf("connect to etcd: %v", err)
		}
		t.Cleanup(func() { _ = s.Client.Close() })
	}
	return s
}

// Load writes keys to the server.
func (s *Server) Load(t testing.TB, kvs []source.KV) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	const batch = 100
	for len(kvs) > 0 {
		n := min(batch, len(kvs))
		ops := make([]clientv3.Op, n)
		for i, kv := range kvs[:n] {
			ops[i] = clientv3.OpPut(string(kv.Key), string(kv.Value))
		}
		if _, err := s.Client.Txn(ctx).Then(ops...).Commit(); err != nil {
			t.Fatalf("load etcd: %v", err)
		}
		kvs = kvs[n:]
	}
}
