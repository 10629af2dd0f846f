// Package cli is what the commands of kitescope share. What enters are the process's streams and the flags of every command; what
// leaves is an App, which settles from flags, environment and configuration which cluster is meant, makes a session.Spec of
// that, writes what was rendered, and says what is to be known. Errors that are mistakes of the command line, and exit
// codes, are defined here. It may touch the process, as package main does.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/inspect/session/demo"
	"kitescope/inspect/source"
	"kitescope/internal/words"
	"kitescope/render"
)

// GlobalFlags are the flags of every command that reads a cluster.
type GlobalFlags struct {
	From, Context, Root              string
	User, PasswordFile               string
	CA, Cert, Key, ServerName        string
	Insecure, salvage, Strict, Quiet bool
	staleRead                        bool
	timeout                          time.Duration
	At                               session.At
	Now                              string
	color, debug, ascii              string
}

// App is what commands share: the process's streams and the global flags.
type App struct {
	*Streams
	Flags GlobalFlags
	// Lacking says that profiles are missing from what a command shows: see strictly.
	Lacking     bool
	debug       *debugLog // nil before openDebug
	Demo        *LazyDemo
	noted       notes
	clock       func() time.Time // nil: that of the process
	preferences *Preferences     // read once; nil before
	// glyphs are the characters that output for people may have, forPeople says that this command has such.
	glyphs    render.Glyphs
	forPeople bool
	// keeps reports whether the command writes a result that it completes when it is interrupted.
	keeps atomic.Bool
}

// Keeps gives the command time to end once it is interrupted: from now on there is something that it keeps.
func (a *App) Keeps() { a.keeps.Store(true) }

// Grace returns how long a command may take to end once it is interrupted. Opening a pipe that nobody writes to never ends.
func (a *App) Grace() time.Duration {
	if a.keeps.Load() {
		return time.Minute
	}
	const usual = 900 * time.Millisecond
	return usual
}

// Connection is the settled answer to "which cluster, and as whom": flags, then
// environment, then the context in the configuration file.
type Connection struct {
	ContextSpec
	// fromContext is the context's name, "" where --from decided.
	fromContext string
	// at is the moment that --at names, of the cluster that --from or the context names.
	at session.At
}

// Newest is the connection without a moment.
func (c Connection) Newest() Connection {
	c.at = session.At{}
	return c
}

// Connection is the one to the source that flags, environment or context name.
func (a *App) Connection() (Connection, error) {
	c, err := a.ConnectionTo(a.Flags.From)
	c.at = a.Flags.At
	return c, err
}

var errNoCluster = errors.New("no cluster given: --from is missing")

// ConnectionTo is the connection to a source that is named, "" for the one that environment or context name.
func (a *App) ConnectionTo(from string) (Connection, error) {
	var c Connection
	if a.Flags.timeout <= 0 {
		return c, Usagef("--timeout must be above 0, not %s", a.Flags.timeout)
	}
	if from == "" {
		var err error
		if c, err = a.namedContext(); err != nil {
			return c, err
		}
	}
	c.From = cmp.Or(from, c.From, a.Getenv("KITESCOPE_FROM"))
	c.Root = cmp.Or(a.Flags.Root, a.Getenv("KITESCOPE_ROOT"), c.Root)
	c.User = cmp.Or(a.Flags.User, a.Getenv("KITESCOPE_ETCD_USER"), c.User)
	c.PasswordFile = cmp.Or(a.Flags.PasswordFile, c.PasswordFile)
	c.CA, c.Cert, c.Key = cmp.Or(a.Flags.CA, c.CA), cmp.Or(a.Flags.Cert, c.Cert), cmp.Or(a.Flags.Key, c.Key)
	c.ServerName = cmp.Or(a.Flags.ServerName, c.ServerName)
	c.Insecure = a.Flags.Insecure || c.Insecure
	if c.From == demo.From {
		a.StopForDemo()
	}
	if c.From == "" {
		return c, Usage(
			errNoCluster,
			"--from etcd://host:2379 (live), --from FILE (etcd snapshot, birdwatcher backup, bundle), or try: kitescope demo",
		)
	}
	return c, nil
}

// namedContext is the context that a flag or the environment names, else the default
// one; the zero connection where KITESCOPE_FROM says which cluster, or nothing does.
// The file is read only then, so that a broken one stops nobody who names a source.
func (a *App) namedContext() (Connection, error) {
	name := cmp.Or(a.Flags.Context, a.Getenv("KITESCOPE_CONTEXT"))
	if name == "" && a.Getenv("KITESCOPE_FROM") != "" {
		return Connection{}, nil
	}
	config, path, err := a.Config()
	if err != nil {
		return Connection{}, err
	}
	if name = cmp.Or(name, config.Current); name == "" {
		return Connection{}, nil
	}
	spec, ok := config.Contexts[name]
	if !ok {
		return Connection{}, Usage(fmt.Errorf("no context %q in %s", name, path), "list contexts with kitescope context list")
	}
	return Connection{ContextSpec: spec, fromContext: name}, nil
}

// storedPassword is the password that needs no keyboard: from --password-file, the
// environment, or the places that the context names, in this order.
func (a *App) storedPassword(c Connection) (password string, ok bool, err error) {
	read := func(path string) (string, bool, error) {
		text, err := os.ReadFile(path)
		if err != nil {
			return "", false, fmt.Errorf("read the password file: %w", err)
		}
		return strings.TrimRight(string(text), "\r\n"), true, nil
	}
	if a.Flags.PasswordFile != "" {
		return read(a.Flags.PasswordFile)
	}
	for _, name := range []string{"KITESCOPE_ETCD_PASSWORD", c.PasswordEnv} {
		if name == "" {
			continue
		}
		if password := a.Getenv(name); password != "" {
			return password, true, nil
		}
	}
	if c.PasswordFile != "" {
		return read(c.PasswordFile)
	}
	return "", false, nil
}

// Password comes from the environment, a file, or the keyboard; never from the command line.
func (a *App) Password(ctx context.Context, c Connection) (string, error) {
	if !a.Spec(c).WantsPassword() {
		return "", nil
	}
	if password, ok, err := a.storedPassword(c); ok || err != nil {
		return password, err
	}
	password, err := a.ReadPassword(ctx, fmt.Sprintf("etcd password of %s: ", c.User))
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", Usage(
			fmt.Errorf("no password for etcd user %s", c.User),
			"set KITESCOPE_ETCD_PASSWORD or use --password-file; no terminal to prompt on",
		)
	}
	return password, nil
}

// Loader loads clusters as the flags say: with --timeout, and what is read told on the line about progress.
func (a *App) Loader() *session.Loader {
	return &session.Loader{
		Now: a.Now, Stdin: a.In, Timeout: a.Flags.timeout, Tell: a.tells(),
		OpenOwn: func(ctx context.Context, spec *session.Spec) (source.Source, bool, error) {
			switch {
			case spec.From == demo.From:
				src, err := a.Demo.open(ctx, spec.Root)
				return src, true, err
			case spec.From == "-" && a.InTTY:
				return nil, true, Usage(errors.New("--from - reads standard input, but it is a terminal"), "pipe a file into it: kitescope get collections --from - < etcd_snapshot.db")
			}
			return nil, false, nil
		},
		AsOf: a.noteMoment,
		Reading: func(s source.Snapshot) (source.Snapshot, func()) {
			p := a.StartProgress(s)
			return p, p.Done
		},
	}
}

// Spec says how the source of a connection is read. Its processes are left alone.
func (a *App) Spec(c Connection) *session.Spec {
	return &session.Spec{
		From: c.From, Root: c.Root, User: c.User,
		Password: func(ctx context.Context) (string, error) { return a.Password(ctx, c) },
		TLS: source.TLS{
			CAFile: c.CA, CertFile: c.Cert, KeyFile: c.Key, ServerName: c.ServerName, InsecureSkipVerify: c.Insecure,
		},
		At: c.at, Salvage: a.Flags.salvage, StaleRead: a.Flags.staleRead,
	}
}

// noteMoment says which moment is shown, where it is not the newest.
func (a *App) noteMoment(p meta.Point) {
	if !p.Dated {
		a.Note("as of revision %d, time unknown", p.Revision)
		return
	}
	unless := ""
	if p.Moment.Open {
		unless = " if RootCoord ran then"
	}
	a.Note("as of %s, within %s%s (revision %d)", p.Moment.Time.UTC().Format("2006-01-02 15:04:05 UTC"), words.Span(p.Moment.Error), unless, p.Revision)
}

// Asking is spec where the processes are asked if flags say so. A wrong flag is told before anything is opened.
func (a *App) Asking(c Connection, n *NodeFlags) (*session.Spec, error) {
	spec := a.Spec(c)
	spec.Live, spec.Recordings, spec.Outage = n.Live, n.Recordings, n.Outage
	var err error
	if spec.Prometheus, err = a.prometheus(n); err != nil {
		return nil, err
	}
	if !spec.At.IsZero() && n.Live {
		if n.live.Changed {
			return nil, Usage(errors.New("--live shows the present, --at a past moment"), "use only one of them")
		}
		spec.Live = false
	}
	if !spec.Live || spec.Prometheus != nil {
		return spec, nil
	}
	spec.Nodes, err = a.ClientOptions(c, n)
	return spec, err
}

// Following is asking for a feed, which may do without the flags that say how processes are reached.
func (a *App) Following(c Connection, n *NodeFlags) (*session.Spec, error) {
	spec := a.Spec(c)
	if n.prometheus != "" {
		return nil, Usage(errors.New("--prometheus is read only once; this command keeps running"), "omit it: the processes are queried repeatedly")
	}
	if len(n.Recordings) > 0 || !spec.IsLive() {
		spec.Recordings = n.Recordings
		return spec, nil
	}
	return a.Asking(c, n)
}

// Open opens a source: the one that is named, or for "" the one that environment and context name.
func (a *App) Open(ctx context.Context, from string) (source.Source, error) {
	c, err := a.ConnectionTo(from)
	if err != nil {
		return nil, err
	}
	if from == a.Flags.From {
		c.at = a.Flags.At
	}
	return a.Loader().Open(ctx, a.Spec(c))
}

// Load reads the metadata of one cluster, once: of the source that open opens.
func (a *App) Load(ctx context.Context, from string, want meta.Want) (*model.Cluster, error) {
	src, err := a.Open(ctx, from)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	return a.Loader().Metadata(ctx, src, want)
}

// LoadThenAndNow reads the metadata of the cluster that is named as it was at --at, and as it is.
func (a *App) LoadThenAndNow(ctx context.Context, want meta.Want) (before, after *model.Cluster, err error) {
	conn, err := a.Connection()
	if err != nil {
		return nil, nil, err
	}
	at := conn.at
	loader := a.Loader()
	src, err := loader.Open(ctx, a.Spec(conn.Newest()))
	if err != nil {
		return nil, nil, err
	}
	defer src.Close()
	past, err := loader.Then(src, at)
	if err != nil {
		return nil, nil, err
	}
	if before, err = loader.Metadata(ctx, past, want); err != nil {
		return nil, nil, err
	}
	after, err = loader.Metadata(ctx, src, want)
	return before, after, err
}

// LoadLive reads one cluster and what its processes say: from recordings, from the bundle
// that it is in, or by asking them, where that is wanted and the source is live.
func (a *App) LoadLive(ctx context.Context, n *NodeFlags, want meta.Want) (*model.Cluster, error) {
	conn, err := a.Connection()
	if err != nil {
		return nil, err
	}
	spec, err := a.Asking(conn, n)
	if err != nil {
		return nil, err
	}
	if a.Loads != nil {
		return a.Loads(fmt.Sprint(conn.From, conn.at.String(), n.Live, n.Recordings, n.prometheus), func() (*model.Cluster, error) {
			spec.Want = meta.Want{Parts: model.PartAll, Records: true}
			return a.Loader().Load(ctx, spec)
		})
	}
	spec.Want = want
	return a.Loader().Load(ctx, spec)
}

// NamesCluster reports whether flags, environment or context name a cluster.
func (a *App) NamesCluster() bool {
	_, err := a.Connection()
	return !errors.Is(err, errNoCluster)
}

// Warn writes one line for people, unless --quiet.
func (a *App) Warn(format string, args ...any) {
	if !a.Flags.Quiet {
		a.tellLine(fmt.Sprintf(format, args...))
	}
}

// tellLine writes a note or an error, which a terminal would break inside of words.
func (s *Streams) tellLine(text string) {
	text = "kitescope: " + OneLine(text)
	if s.ErrTTY && s.Size != nil {
		if width, _ := s.Size(); width > 0 {
			text = strings.Join(render.Wrap(text, width), "\n")
		}
	}
	s.Tell("%s", text)
}

// notes are what was said once, by commands that work on several clusters at a time as well.
type notes struct {
	mu   sync.Mutex
	said map[string]bool
}

// first reports whether a text was not said before.
func (n *notes) first(text string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.said[text] {
		return false
	}
	if n.said == nil {
		n.said = map[string]bool{}
	}
	n.said[text] = true
	return true
}

// Note is warn for what is known of an input: it is said once, however often the input is met.
func (a *App) Note(format string, args ...any) {
	if a.Flags.Quiet {
		return
	}
	if text := fmt.Sprintf(format, args...); a.noted.first(text) {
		a.Warn("%s", text)
	}
}
