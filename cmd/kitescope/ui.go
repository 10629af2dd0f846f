package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kitescope/inspect/session"
	"kitescope/inspect/session/demo"
	"kitescope/inspect/source"
	"kitescope/inspect/view"
	"kitescope/paste"
	"kitescope/tui"
)

// uiFlags are the flags of commands that open the UI.
type uiFlags struct {
	theme    string
	noMouse  bool
	interval time.Duration
	page     string
	nodes    *nodeFlags
}

// register adds them to a command.
func (f *uiFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.theme, "theme", "auto", "auto, terminal, dark, light, mono, or a YAML file (see: kitescope help themes)")
	_ = cmd.RegisterFlagCompletionFunc("theme", fixed("auto", "dark", "light", "mono"))
	cmd.Flags().BoolVar(&f.noMouse, "no-mouse", false, "leave the mouse to the terminal")
	cmd.Flags().DurationVar(&f.interval, "interval", refreshInterval, "shortest time between two refreshes of a live cluster")
}

// refreshInterval is the shortest time between two refreshes where nothing else is said.
const refreshInterval = time.Second

func uiCommand(a *app) *cobra.Command {
	var f uiFlags
	cmd := &cobra.Command{
		Use: "ui [PAGE [selector...]]", Short: "Open the terminal UI (the default without a command)", GroupID: groupInspect,
		Long: `Open the terminal UI on a live cluster or a file. Press ? for its keys. A page is
what you would type behind ":" in it, such as "segments coll=docs".`,
		Example: `  kitescope ui --from etcd://10.0.0.5:2379
  kitescope ui segments coll=docs --from etcd_snapshot.db`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completeGet,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !a.outTTY {
				return &usageError{errors.New("the UI needs a terminal on standard output"), "for scripts: kitescope get --help"}
			}
			f.page = strings.Join(args, " ")
			return runUI(cmd.Context(), a, f)
		},
	}
	f.register(cmd)
	f.nodes = addNodeFlags(cmd, true)
	_ = cmd.RegisterFlagCompletionFunc("theme", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return themeNames(), cobra.ShellCompDirectiveDefault
	})
	return cmd
}

// runUI opens the UI on the cluster that flags, environment and context name.
func runUI(ctx context.Context, a *app, f uiFlags) error {
	c, err := a.connection()
	if err != nil {
		return err
	}
	// What can be told at once is no screen without a cluster, and what is asked for comes before the screen is taken over.
	if c.From != demo.From {
		if err := source.Find(c.From); err != nil {
			return err
		}
	}
	return openUI(ctx, a, f, c)
}

// openUI opens the UI on a cluster that is there as far as can be told without opening it.
func openUI(ctx context.Context, a *app, f uiFlags, c connection) error {
	password, err := a.password(ctx, c)
	if err != nil {
		return err
	}
	spec, err := a.following(c, f.nodes)
	if err != nil {
		return err
	}
	spec.Password = func(context.Context) (string, error) { return password, nil } // the terminal is the UI's from here on
	loader := a.loader()
	loader.Reading = nil // the UI tells how far it is
	feed, done, err := loader.Feed(spec)
	if err != nil {
		return err
	}
	defer done()
	feed.Interval = f.interval
	profiles := newProfileFeed(a, loader, spec, f.nodes)
	defer profiles.close()
	return showUI(ctx, a, f, c, feed, profiles)
}

// showUI runs the UI over a feed, and hands its end to the caller: data that
// never came is an error once the screen is given back.
func showUI(ctx context.Context, a *app, f uiFlags, c connection, feed *session.Feed, profiles tui.ProfileFeed) error {
	color, err := a.useColor()
	if err != nil {
		return err
	}
	theme, themes, err := theme(f.theme)
	if err != nil {
		return err
	}
	input := a.in
	if c.From == "-" {
		input = nil // standard input is the data; keys come from the terminal
	}
	err = tui.Run(ctx, tui.Config{
		Input: input, Output: a.out, Feed: clusterFeed{feed}, Resources: view.Resources,
		Title: c.From, Command: a.commandFor(c), NodeFlags: f.nodes.commandFor(c), Theme: theme, Themes: themes, NoColor: !color, ASCII: a.plainTerminal(), Mouse: !f.noMouse,
		StartPage: f.page, Now: a.now, SaveFile: saveFile, Profiles: profiles,
	})
	return cmp.Or(err, feed.Err())
}

// clusterFeed is a feed as the UI takes it.
type clusterFeed struct{ *session.Feed }

// Follow implements tui.Feed.
func (f clusterFeed) Follow(ctx context.Context, emit func(tui.Update)) {
	f.Feed.Follow(ctx, func(u session.Update) {
		shown := tui.Update{Cluster: u.Cluster, Err: u.Err, Since: u.Since, Live: u.Live, Progress: u.Progress}
		for _, l := range u.Lost {
			shown.Lost = append(shown.Lost, tui.Lost(l))
		}
		emit(shown)
	})
}

// commandFor is how to reach the same cluster from a command line. A password is never part of it.
func (a *app) commandFor(c connection) string {
	words := []string{programName()}
	if a.flags.now != "" {
		words = append(words, "--now", paste.Word(a.flags.now))
	}
	if c.fromContext != "" {
		return strings.Join(append(words, "--context", paste.Word(c.fromContext)), " ")
	}
	from := c.From
	if abs, err := filepath.Abs(from); err == nil && !strings.Contains(from, "://") && from != "-" {
		from = abs
	}
	words = append(words, "--from", paste.Word(from))
	for _, flag := range []struct{ name, value string }{
		{"--root", c.Root},
		{"--user", c.User},
		{"--password-file", c.PasswordFile},
		{"--ca", c.CA},
		{"--cert", c.Cert},
		{"--key", c.Key},
		{"--server-name", c.ServerName},
	} {
		if flag.value != "" {
			words = append(words, flag.name, paste.Word(flag.value))
		}
	}
	if c.Insecure {
		words = append(words, "--insecure")
	}
	return strings.Join(words, " ")
}

// commandFor are the flags by which a command knows of the processes what the UI does. What the context
// says of the way to them it knows anyhow. A password, of a proxy too, is never part of it.
func (n *nodeFlags) commandFor(c connection) string {
	var words []string
	for _, path := range n.recordings {
		if abs, err := filepath.Abs(path); err == nil {
			path = abs
		}
		words = append(words, "--runtime", paste.Word(path))
	}
	if len(words) > 0 || !isLiveSource(c.From) {
		return strings.Join(words, " ")
	}
	if !n.live {
		return "--live=false"
	}
	words = append(words, "--live")
	for _, word := range n.Map {
		words = append(words, "--map", paste.Word(word))
	}
	proxy := n.Proxy
	if strings.Contains(proxy, "@") {
		proxy = ""
	}
	for _, flag := range []struct{ name, value string }{
		{"--proxy", proxy},
		{"--milvus-user", n.User},
		{"--milvus-password-file", n.PasswordFile},
		{"--milvus-ca", n.CA},
		{"--milvus-cert", n.Cert},
		{"--milvus-key", n.Key},
		{"--milvus-server-name", n.ServerName},
	} {
		if flag.value != "" {
			words = append(words, flag.name, paste.Word(flag.value))
		}
	}
	if n.TLS {
		words = append(words, "--milvus-tls")
	}
	if n.Insecure {
		words = append(words, "--milvus-insecure")
	}
	if n.metricsPort > 0 {
		words = append(words, "--metrics-port", strconv.Itoa(n.metricsPort))
	}
	return strings.Join(words, " ")
}

// isLiveSource reports whether --from names a source that is asked, and no file.
func isLiveSource(from string) bool { return (&session.Spec{From: from}).IsLive() }

// programName is what to type: "go run" leaves the binary in a folder that is gone afterwards.
func programName() string {
	exe, err := os.Executable()
	if err == nil && strings.Contains(exe, string(filepath.Separator)+"go-build") {
		return "go run ./cmd/kitescope"
	}
	return "kitescope"
}

// saveFile writes a new file in the working folder; an existing one is never replaced.
func saveFile(name string, write func(io.Writer) error) (string, error) {
	ext := filepath.Ext(name)
	base := strings.TrimSuffix(filepath.Base(name), ext)
	for i := 1; i < 1000; i++ {
		path := base + ext
		if i > 1 {
			path = fmt.Sprintf("%s-%d%s", base, i, ext)
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		if err := errors.Join(write(f), f.Close()); err != nil {
			_ = os.Remove(path) // half a file is worse than none
			return "", err
		}
		return path, nil
	}
	return "", fmt.Errorf("save %s: a thousand such files are here already", name)
}
