// Command woodpecker generates test data of Woodpecker for the main module. It fills two logs of a real,
// embedded Woodpecker, with metadata in a real etcd and data in a folder, then truncates and damages them. It
// writes a snapshot of that etcd and the state of the logs according to Woodpecker's own client. It is a
// module of its own, because Woodpecker has hundreds of dependencies.
//
//	go run -C tools/woodpecker . -out ../../testdata/woodpecker
package main

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/zilliztech/woodpecker/common/config"
	"github.com/zilliztech/woodpecker/woodpecker"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
)

func main() {
	out := flag.String("out", "", "the folder to write to")
	flag.Parse()
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(out string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	dir, err := os.MkdirTemp("", "woodpecker")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	server, err := startEtcd(filepath.Join(dir, "etcd"))
	if err != nil {
		return err
	}
	defer server.Close()
	etcd, err := clientv3.New(clientv3.Config{Endpoints: []string{server.Clients[0].Addr().String()}})
	if err != nil {
		return err
	}
	defer etcd.Close()
	s := &scene{etcd: etcd, data: filepath.Join(dir, "data")}
	if err := s.play(ctx); err != nil {
		return err
	}
	return save(ctx, etcd, &s.truth, out)
}

func startEtcd(dir string) (*embed.Etcd, error) {
	cfg := embed.NewConfig()
	cfg.Dir, cfg.LogLevel = dir, "error"
	local := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{local}, []url.URL{local}
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{local}, []url.URL{local}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	server, err := embed.StartEtcd(cfg)
	if err != nil {
		return nil, err
	}
	<-server.Server.ReadyNotify()
	return server, nil
}

// client opens Woodpecker as Milvus does with woodpecker.storage.type: local.
func (s *scene) client(ctx context.Context) (woodpecker.Client, error) {
	cfg, err := config.NewConfiguration()
	if err != nil {
		return nil, err
	}
	cfg.Woodpecker.Storage.Type, cfg.Woodpecker.Storage.RootPath = "local", s.data
	cfg.Log.Level, cfg.Log.Stdout = "error", false
	return woodpecker.NewEmbedClient(ctx, cfg, s.etcd, nil, false)
}

// save writes the snapshot, as etcdctl snapshot save does, and the truth.
func save(ctx context.Context, etcd *clientv3.Client, truth any, out string) error {
	snapshot, err := etcd.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer snapshot.Close()
	file, err := os.Create(filepath.Join(out, "etcd_snapshot.db.gz"))
	if err != nil {
		return err
	}
	zip, err := gzip.NewWriterLevel(file, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := io.Copy(zip, snapshot); err != nil {
		return err
	}
	if err := zip.Close(); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	text, err := json.MarshalIndent(truth, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "truth.json"), append(text, '\n'), 0o644)
}
