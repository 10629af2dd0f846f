// Command demo serves the cluster of "kitescope demo" from a real etcd on loopback until it is interrupted.
// It prints the --from value for that etcd to standard output.
//
//	go run -C tools/bench ./demo
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"kitescope/inspect/session/demo"
	"kitescope/inspect/source/sourcetest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := serve(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func serve(ctx context.Context) error {
	cluster, err := demo.Start(ctx, nil)
	if err != nil {
		return err
	}
	defer cluster.Close()
	dir, err := os.MkdirTemp("", "kitescope-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	etcd, err := sourcetest.Serve(ctx, dir, nil)
	if err != nil {
		return err
	}
	defer etcd.Close()
	src, err := cluster.Source("")
	if err != nil {
		return err
	}
	snapshot, err := src.Pin(ctx)
	if err != nil {
		return err
	}
	if err := sourcetest.Fill(ctx, etcd, snapshot); err != nil {
		return err
	}
	from := "etcd://" + etcd.Clients[0].Addr().String() + "/" + snapshot.Header().Root
	fmt.Println(from)
	fmt.Fprintf(os.Stderr, `serving a captured Milvus 2.3.5 cluster until interrupted; read it from a second terminal:
kitescope diagnose --from %[1]s --now %[2]s
kitescope profile pull --from %[1]s --seconds 2 --metrics-port %[3]s
`, from, demo.Now().Format(time.RFC3339), cluster.ProxyPort())
	select {
	case <-ctx.Done():
		return nil
	case err := <-etcd.Err():
		return fmt.Errorf("serve the demo: %w", err)
	}
}
