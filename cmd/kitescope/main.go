// Command kitescope shows the content of a Milvus cluster, read from etcd or from a file, in a terminal UI or
// as commands for scripts.
//
// This package and its subpackages read flags, environment and configuration, call the packages that do the work,
// and write the result. No other package uses the standard streams, signals or exit codes.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"kitescope/cmd/kitescope/cli"
	"kitescope/cmd/kitescope/gctune"
)

func main() {
	s := cli.ProcessStreams()
	s.Collector = gctune.Process()
	p := newProgram(s)
	if code, done := p.guard(os.Args[1:]); done {
		os.Exit(code)
	}
	// A closed pipe does not kill the process. The command ends normally instead: silently, with its own exit code.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, func() {
		const twice = 100 * time.Millisecond // timeout(1) sends a signal to its command and then to the group
		time.Sleep(twice)
		stop() // so that a second signal ends the process at once
		time.Sleep(max(0, p.GracePeriod()-twice))
		cli.PrintError(ctx, s, ctx.Err())
		os.Exit(cli.ExitInterrupted)
	})
	code := p.run(guarded(ctx), os.Args[1:])
	stop()
	os.Exit(code)
}
