// Command inspect measures kitescope against its bars. It writes tables of ratios in Markdown.
//
//  1. It builds kitescope, the floor program and, if etcd is not on PATH, an etcd.
//  2. It puts generated metadata into an etcd once and keeps that in the user's cache.
//  3. Commands take turns in several rounds, each in its own process, together with the floor and etcdctl.
//     Their listings are verified once.
//  4. Start-up is timed on a small cluster, and the UI on a pseudo terminal.
//  5. The tables go to standard output and, with -o, between the markers of a file.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"kitescope/tools/bench/document"
)

type options struct {
	repo, output         string
	segments, uiSegments int
	large                int
	rounds               int
	only                 string
}

// The parts of a run that -only can choose.
const (
	partCommands = "commands"
	partLarge    = "large"
	partStart    = "start"
	partUI       = "ui"
)

func main() {
	var o options
	flag.StringVar(&o.repo, "repo", ".", "kitescope's repository")
	flag.StringVar(&o.output, "o", "", "file whose tables, between its markers, are replaced")
	flag.IntVar(&o.segments, "segments", 200_000, "segments of the cluster that commands read")
	flag.IntVar(&o.large, "large", 1_000_000, "segments of the large cluster")
	flag.IntVar(&o.uiSegments, "ui-segments", 1_000_000, "segments of the cluster that the UI shows")
	flag.IntVar(&o.rounds, "rounds", 5, "rounds of commands; the large cluster gets half as many, rounded up")
	flag.StringVar(&o.only, "only", "", "comma-separated parts to run: commands, large, start, ui; all by default")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o, os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, out, progress io.Writer) error {
	parts := []string{partCommands, partLarge, partStart, partUI}
	if o.only != "" {
		parts = strings.Split(o.only, ",")
	}
	b, err := prepare(ctx, o.repo, progress)
	if err != nil {
		return err
	}
	defer b.close()
	var r report
	r.machine = b.machine()
	for _, part := range []struct {
		name string
		run  func() error
	}{
		{partCommands, func() (err error) { r.commands, err = b.commands(ctx, o.segments, o.rounds); return err }},
		{partLarge, func() (err error) { r.large, err = b.commands(ctx, o.large, (o.rounds+1)/2); return err }},
		{partStart, func() (err error) { r.start, err = b.start(ctx); return err }},
		{partUI, func() (err error) { r.ui, err = b.ui(ctx, o.uiSegments); return err }},
	} {
		if !slices.Contains(parts, part.name) {
			continue
		}
		if err := part.run(); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	text := r.markdown()
	if _, err := io.WriteString(out, text); err != nil {
		return err
	}
	if o.output == "" {
		return nil
	}
	return document.ReplaceMeasured(o.output, "bench-inspect", text)
}
