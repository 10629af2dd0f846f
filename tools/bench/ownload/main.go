// Command ownload gives kitescope the work of bench-inspect, bench-profile and bench-engine, for its own default.pgo: `kitescope pgo
// trial` runs it with one binary after the other.
//
// What enters is a kitescope and the data that -prepare made; what leaves is nothing, or with -profile a CPU profile of
// all commands together.
//
//	ownload -prepare DIR             make the data: 60,000 segments in an etcd's file and behind an etcd, profiles, vectors
//	ownload -data DIR BIN            run the commands
//	ownload -data DIR -profile FILE BIN
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"kitescope/tools/bench/dataset"
	"kitescope/tools/bench/metagen"
	"kitescope/tools/bench/profilegen"
)

// segments are so many that starting up is the lesser part of each command.
const segments = 60_000

// samples are those of the profile that is looked at; parts is how many small ones are merged.
const (
	samples = 200_000
	parts   = 20
)

func main() {
	prepare := flag.String("prepare", "", "make the data in this folder, and serve it until interrupted")
	data := flag.String("data", "", "folder with the data")
	profile := flag.String("profile", "", "write a CPU profile to this file")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *prepare, *data, *profile, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "ownload:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, prepare, data, profile string, args []string) error {
	switch {
	case prepare != "" && len(args) == 0:
		return serve(ctx, prepare)
	case data != "" && len(args) == 1:
		return load(ctx, data, profile, args[0])
	}
	return errors.New("-prepare DIR, or -data DIR and one kitescope")
}

// Names of what lies in the data folder.
const (
	snapshotFile = "etcd.db"
	addressFile  = "etcd.address"
	profileFile  = "cpu.pb.gz"
)

func partFile(i int) string { return fmt.Sprintf("part-%d.pb.gz", i) }

// serve makes the data and keeps an etcd on it. The address is written last: with it everything is there.
func serve(ctx context.Context, dir string) (err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	etcd, err := dataset.FindEtcd(ctx, dir)
	if err != nil {
		return err
	}
	shape := metagen.Of(segments)
	store, err := dataset.Ensure(ctx, etcd, shape)
	if err != nil {
		return err
	}
	if err := copyFile(filepath.Join(dir, snapshotFile), dataset.DBFile(store)); err != nil {
		return err
	}
	big := profilegen.Big()
	big.Samples = samples
	shapes := map[string]profilegen.Shape{profileFile: big}
	for i := range parts {
		shapes[partFile(i)] = profilegen.Part(i)
	}
	if err := makeVectors(ctx, dir); err != nil {
		return err
	}
	cache, err := profilegen.CacheDir()
	if err != nil {
		return err
	}
	for name, s := range shapes {
		path, err := s.File(cache)
		if err != nil {
			return err
		}
		if err := copyFile(filepath.Join(dir, name), path); err != nil {
			return err
		}
	}
	server, err := etcd.Start(ctx, store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	address := "etcd://" + server.Endpoint
	if err := os.WriteFile(filepath.Join(dir, addressFile), []byte(address), 0o644); err != nil {
		return err
	}
	fmt.Println("serving", address)
	<-ctx.Done()
	return os.Remove(filepath.Join(dir, addressFile))
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// load runs every command once, one after the other. With a profile each writes its own, and bin merges them.
func load(ctx context.Context, data, profile, bin string) (err error) {
	address, err := os.ReadFile(filepath.Join(data, addressFile))
	if err != nil {
		return fmt.Errorf("%w: run ownload -prepare %s beside this", err, data)
	}
	own, err := os.MkdirTemp("", "kitescope-ownload-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(own)) }()
	merge := []string{"profile", "merge", "--collapse", "-q", "-O", profile, "--force"}
	for i, args := range commands(data, string(address)) {
		if profile != "" {
			part := filepath.Join(own, partFile(i))
			args, merge = append(args, "--cpuprofile", part), append(merge, part)
		}
		if err := command(ctx, bin, args); err != nil {
			return err
		}
	}
	if profile == "" {
		return nil
	}
	return command(ctx, bin, merge)
}

func command(ctx context.Context, bin string, args []string) error {
	cmd := exec.CommandContext(ctx, bin, args...)
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil && !found(err) {
		return fmt.Errorf("kitescope %s: %w\n%s", strings.Join(args, " "), err, said.String())
	}
	return nil
}

// found reports whether a command ended with exit code 3: it did its work and found something.
func found(err error) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	return ok && exit.ExitCode() == 3
}

// commands are the work of bench-inspect, bench-profile and bench-engine, on less data.
func commands(data, address string) [][]string {
	file := func(name string) string { return filepath.Join(data, name) }
	merge := []string{"profile", "merge", "-O", file("merged.pb.gz"), "--force"}
	for i := range parts {
		merge = append(merge, file(partFile(i)))
	}
	live, offline := []string{"--from", address}, []string{"--from", file(snapshotFile)}
	list := [][]string{
		append([]string{"get", "segments", "-o", "json"}, live...),
		append([]string{"get", "segments"}, live...),
		append([]string{"snapshot", "save", file("saved.kite"), "--force"}, live...),
		append([]string{"get", "segments", "-o", "json"}, offline...),
		append([]string{"get", "segments", "state=flushed"}, offline...),
		append([]string{"diagnose"}, offline...),
		{"get", "channels", "--from", file("saved.kite")},
		{"profile", "top", file(profileFile)},
		{"profile", "flame", file(profileFile), "-o", "html", "-O", file("flame.html"), "--force"},
		{"profile", "diff", file(profileFile), file(profileFile), "-o", "json"},
		merge,
		{"engine", "build", file(vectorsFile), "-o", file("built.hnsw"), "--force"},
		{"engine", "search", file(graphFile), "--queries", file(queriesFile), "--ef", "64", "--threads", "1", "-o", "json"},
		{"engine", "search", file(vectorsFile), "--queries", file(queriesFile), "--threads", "1", "-o", "csv"},
	}
	return list
}
