package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync/atomic"

	tea "charm.land/bubbletea/v2"
	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/tui"
	"kitescope/tui/own"
)

// addOwn puts what a person added into the UI's configuration: their actions, and the other clusters that they named. changed reports
// whether one of those was opened.
func addOwn(a *cli.App, f cli.UIFlags, cfg *tui.Config) (changed func() bool) {
	var other atomic.Bool
	o := own.Options{
		Actions: a.CheckPreferences().OwnActions(),
		Shell:   func(command string) tea.ExecCommand { return &shellCommand{command: command} },
	}
	if f.Nodes != nil {
		o.Clusters = func() ([]own.Cluster, error) { return knownClusters(a, f, &other) }
	}
	cfg.Own = own.Make(o)
	return other.Load
}

// knownClusters are the contexts that the UI can change to, as the file has them now.
func knownClusters(a *cli.App, f cli.UIFlags, other *atomic.Bool) ([]own.Cluster, error) {
	path, err := cli.ConfigPath(a.Getenv)
	if err != nil {
		return nil, err
	}
	config, err := cli.ReadConfig(path)
	if err != nil {
		return nil, err
	}
	var list []own.Cluster
	for _, name := range config.Names() {
		list = append(list, own.Cluster{
			Name: name, About: cli.RedactWords([]string{config.Contexts[name].From})[0],
			Open: func(ctx context.Context) (*tui.Source, error) {
				s, err := openContext(ctx, a.ForContext(name), f)
				other.Store(other.Load() || err == nil)
				return s, err
			},
		})
	}
	return list, nil
}

// openContext opens a context for a UI that is there already.
func openContext(ctx context.Context, a *cli.App, f cli.UIFlags) (*tui.Source, error) {
	live := f.Nodes.Live
	f.Nodes = cli.AddNodeFlags(&cobra.Command{}, true) // the way to the processes of the first cluster is not the way to those of another one
	f.Nodes.Live = live
	c, err := a.Connection()
	if err != nil {
		return nil, err
	}
	o, err := openFeed(ctx, a, f, c)
	if err != nil {
		return nil, err
	}
	return &tui.Source{
		Feed: o.feed, Title: c.From, Command: a.CommandFor(c), NodeFlags: f.Nodes.CommandFor(c), Pages: o.pages(), Close: o.close,
	}, nil
}

// shellCommand is a command of the person's own, which has the terminal while it runs, and after it until a key is pressed.
type shellCommand struct {
	command     string
	in          io.Reader
	out, failed io.Writer
}

func (s *shellCommand) SetStdin(r io.Reader)  { s.in = r }
func (s *shellCommand) SetStdout(w io.Writer) { s.out = w }
func (s *shellCommand) SetStderr(w io.Writer) { s.failed = w }

// Run implements tea.ExecCommand.
func (s *shellCommand) Run() error {
	sh, err := exec.LookPath("sh")
	if err != nil {
		return errors.New("actions are for sh, and there is none here")
	}
	cmd := exec.Command(sh, "-c", s.command) //nolint:noctx // it has the terminal: who started it ends it
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.in, s.out, s.failed
	err = runInFront(cmd)
	how := "done"
	if err != nil {
		how = err.Error()
	}
	_, _ = fmt.Fprintf(s.out, "\n[%s] enter goes back to kitescope ", how)
	_, _ = bufio.NewReader(s.in).ReadString('\n')
	return err
}
