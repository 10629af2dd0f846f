// Command generate fills an etcd with generated metadata, unless that was done before, and prints the data
// directory. With -serve it then serves the directory until it is interrupted.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"kitescope/tools/bench/dataset"
	"kitescope/tools/bench/metagen"
)

func main() {
	segments := flag.Int("segments", 200_000, "how many segments")
	collections := flag.Int("collections", metagen.Of(0).Collections, "how many collections")
	serve := flag.Bool("serve", false, "serve the data directory until interrupted")
	flag.Parse()
	shape := metagen.Of(*segments)
	shape.Collections = *collections
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, shape, *serve)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, shape metagen.Shape, serve bool) error {
	bin, err := os.MkdirTemp("", "kitescope-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(bin)
	etcd, err := dataset.FindEtcd(ctx, bin)
	if err != nil {
		return err
	}
	dir, err := dataset.Ensure(ctx, etcd, shape)
	if err != nil {
		return err
	}
	fmt.Println(dir)
	if !serve {
		return nil
	}
	server, err := etcd.Start(ctx, dir)
	if err != nil {
		return err
	}
	fmt.Printf("etcd %s serves it at %s\n", etcd.Version, server.Endpoint)
	<-ctx.Done()
	return server.Stop()
}
