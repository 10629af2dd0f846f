package sourcetest

import (
	"context"
	"net/url"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"

	"kitescope/inspect/source"
)

// Server is a real etcd inside the test's process.
type Server struct {
	// Address is host:port of the client listener.
	Address string
	// Client may write; it has no user.
	Client *clientv3.Client
	Etcd   *embed.Etcd
	// Dir is the data directory.
	Dir string
	// Stop ends it before the test does.
	Stop func()
}

// startTimeout bounds the start of a server.
const startTimeout = 30 * time.Second

// StartEtcd runs an etcd on free ports of the loopback until the test ends.
// configure may change its configuration, for TLS or quotas.
func StartEtcd(t testing.TB, configure func(*embed.Config)) *Server {
	t.Helper()
	config := embed.NewConfig()
	config.Dir = t.TempDir()
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	config.UnsafeNoFsync = true
	config.TickMs, config.ElectionMs = 10, 100 // it is alone, and needs no second to vote for itself
	anyPort := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{anyPort}, []url.URL{anyPort}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{anyPort}, []url.URL{anyPort}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	if configure != nil {
		configure(config)
	}
	server, err := embed.StartEtcd(config)
	if err != nil {
		t.Fatalf("start etcd: %v", err)
	}
	stop := sync.OnceFunc(server.Close)
	t.Cleanup(stop)
	select {
	case <-server.Server.ReadyNotify():
	case err := <-server.Err():
		t.Fatalf("start etcd: %v", err)
	case <-time.After(startTimeout):
		t.Fatalf("start etcd: not ready after %s", startTimeout)
	}
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

// Load puts keys into the server.
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
