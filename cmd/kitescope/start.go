package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/session/demo"
	"kitescope/inspect/source"
	"kitescope/internal/words"
)

// choice is a cluster or file that the user can open.
type choice struct {
	name, what string
	open       func(*cli.App)
}

// maxFiles is the maximum number of files that are offered.
const maxFiles = 9

// choices returns the clusters that can be opened: the configured contexts, at most maxFiles files in the
// working folder, and the demo.
func choices(a *cli.App) ([]choice, error) {
	config, _, err := a.Config()
	if err != nil {
		return nil, err
	}
	var list []choice
	for _, name := range config.Names() {
		list = append(list, choice{
			name, "context: " + cli.RedactWords([]string{config.Contexts[name].From})[0],
			func(a *cli.App) { a.Flags.Context = name },
		})
	}
	found := source.List(".")
	for _, f := range found[:min(len(found), maxFiles)] {
		what := f.What + ", " + words.Age(a.Now().Sub(f.Modified)) + " old"
		list = append(list, choice{f.Path, what, func(a *cli.App) { a.Flags.From = f.Path }})
	}
	return append(list, choice{
		"demo", "a captured cluster; nothing to set up", func(a *cli.App) { a.Flags.From = demo.From },
	}), nil
}

// chooseCluster prompts the user for the cluster to open and sets the flags accordingly. It is used if the
// command line does not name a cluster.
func chooseCluster(ctx context.Context, a *cli.App) error {
	list, err := choices(a)
	if err != nil {
		return err
	}
	width := 0
	for _, c := range list {
		width = max(width, len(c.name))
	}
	a.Notef("No cluster given. Open which one?")
	for i, c := range list {
		a.Notef("  %d  %-*s  %s", i+1, width, words.Sanitize(c.name), words.Sanitize(c.what))
	}
	for {
		_, _ = fmt.Fprintf(a.Err, "Number [1], or an address (etcd://host:2379) or file; q quits: ")
		line, err := readLine(ctx, a.In)
		if err != nil {
			return err
		}
		switch n, err := strconv.Atoi(line); {
		case line == "q":
			return &cli.CodeError{Code: cli.ExitOK}
		case line == "":
			list[0].open(a)
		case err != nil:
			a.Flags.From = line
		case n < 1 || n > len(list):
			a.Notef("No such number: %d.", n)
			continue
		default:
			list[n-1].open(a)
		}
		return nil
	}
}

// readLine reads one line and trims it. It reads no further, because the next reader needs the rest. It
// returns io.EOF if the input has ended, and the error of ctx if ctx is canceled.
func readLine(ctx context.Context, in io.Reader) (string, error) {
	type answer struct {
		line string
		err  error
	}
	typed := make(chan answer, 1)
	go func() {
		var b strings.Builder
		one := make([]byte, 1)
		for {
			n, err := in.Read(one)
			switch {
			case n == 1 && one[0] == '\n', err == io.EOF && b.Len() > 0:
				typed <- answer{strings.TrimSpace(b.String()), nil}
				return
			case n == 1:
				b.WriteByte(one[0])
			case err != nil:
				typed <- answer{"", err}
				return
			}
		}
	}()
	select {
	case got := <-typed:
		return got.line, got.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
