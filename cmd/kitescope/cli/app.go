// Package cli holds the code that the commands of kitescope share. An App determines the cluster from flags,
// environment and configuration, makes a session.Spec for it, and loads it with a session.Loader. It writes rendered
// output to stdout, and notes and warnings to stderr. The package also defines usage errors and exit codes. Like
// package main, it may access the process.
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

// App is the state that commands share: the streams of the process and the global flags.
type App struct {
	*Streams
	Flags GlobalFlags
	// ProfilesMissing reports that a command's output lacks profiles: see strictly.
	ProfilesMissing bool
	debug           *debugLog // nil before openDebug
	Demo            *LazyDemo
	noted           notes
	clock           func() time.Time // nil for the clock of the process
	preferences     *Preferences     // read once; nil before
	// glyphs are the characters allowed in output for people. forPeople reports whether this command writes
	// such output.
	glyphs    render.Glyphs
	forPeople bool
	// extendedGrace reports whether the command writes a result that it completes when it is interrupted.
	extendedGrace atomic.Bool
}

// ExtendGracePeriod extends the grace period after an interrupt, because the command now has a result to write.
func (a *App) ExtendGracePeriod() { a.extendedGrace.Store(true) }

// GracePeriod returns how long a command may take to end after an interrupt. A limit is needed because opening a pipe
// without a writer blocks forever.
func (a *App) GracePeriod() time.Duration {
	if a.extendedGrace.Load() {
		return time.Minute
	}
	const usual = 900 * time.Millisecond
	return usual
}

// Connection is the resolved cluster and user: from flags, or else from the environment, or else
// from the context in the configuration file.
type Connection struct {
	ContextSpec
	// fromContext is the name of the context, or "" if the source was given by --from.
	fromContext string
	// at is the moment that --at names, in the cluster of --from or the context.
	at session.At
}

// Newest returns the connection without a moment.
func (c Connection) Newest() Connection {
	c.at = session.At{}
	return c
}

// Connection returns the connection to the source of the flags, the environment or the context.
func (a *App) Connection() (Connection, error) {
	c, err := a.ConnectionTo(a.Flags.From)
	c.at = a.Flags.At
	return c, err
}

var errNoCluster = errors.New("no cluster given: --from is missing")

// ConnectionTo returns the connection to the given source. If from is "", it uses the source of the environment
// or the context.
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
		a.SetDemoClock()
	}
	if c.From == "" {
		return c, Usage(
			errNoCluster,
			"--from etcd://host:2379 (live), --from FILE (etcd snapshot, birdwatcher backup, bundle), or try: "+
				"kitescope demo",
		)
	}
	return c, nil
}

// namedContext returns the context of the flag or the environment, or else the default context. It returns
// the zero connection if no default context is set, or if KITESCOPE_FROM takes its place. It reads the file
// only if needed, because a broken file must not affect users who name a source.
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
		return Connection{},
			Usage(fmt.Errorf("no context %q in %s", name, path), "list contexts with kitescope context list")
	}
	return Connection{ContextSpec: spec, fromContext: name}, nil
}

// storedPassword returns the password that needs no prompt: from --password-file, the environment, or the
// variable or file of the context, in this order.
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

// Password returns the etcd password from the environment, a file, or a prompt. It is never read from the
// command line. It returns "" if the connection needs no password.
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

// Loader returns a loader with the settings of the flags, e.g. --timeout and --debug. It reports its progress on the
// progress line.
func (a *App) Loader() *session.Loader {
	return &session.Loader{
		Now: a.Now, Stdin: a.In, Timeout: a.Flags.timeout, Log: a.callLogger(),
		OpenCustom: func(ctx context.Context, spec *session.Spec) (source.Source, bool, error) {
			switch {
			case spec.From == demo.From:
				src, err := a.Demo.open(ctx, spec.Root)
				return src, true, err
			case spec.From == "-" && a.InTTY:
				return nil, true,
					Usage(errors.New("--from - reads standard input, but it is a terminal"),
						"pipe a file into it: kitescope get collections --from - < etcd_snapshot.db")
			}
			return nil, false, nil
		},
		OnMoment: a.noteMoment,
		OnRead: func(s source.Snapshot) (source.Snapshot, func()) {
			p := a.StartProgress(s)
			return p, p.Done
		},
		OnLongWindow: func(window time.Duration) func() {
			a.Transient.Show(fmt.Sprintf("watching requests for %s (--window sets another time)", window))
			return a.Transient.Clear
		},
	}
}

// Spec returns the spec for reading the source of a connection, without its processes.
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

// noteMoment writes a note with the moment that is shown, for a past moment.
func (a *App) noteMoment(p meta.Point) {
	if !p.Dated {
		a.Note("as of revision %d, time unknown", p.Revision)
		return
	}
	unless := ""
	if p.Moment.Open {
		unless = " if RootCoord was running"
	}
	a.Note("as of %s, within %s%s (revision %d)", p.Moment.Time.UTC().Format("2006-01-02 15:04:05 UTC"),
		words.Span(p.Moment.Error), unless, p.Revision)
}

// LiveSpec returns a spec that includes the processes if the flags request them. Usage errors are returned
// before anything is opened.
func (a *App) LiveSpec(c Connection, n *NodeFlags) (*session.Spec, error) {
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
	spec.LongWindow = n.Linger && !n.windowFlag.Changed
	return spec, err
}

// FeedSpec is like LiveSpec, but for a feed. It rejects --prometheus with a usage error, because Prometheus is
// read only once. It ignores the flags for reaching processes if recordings are given or the source is not
// live.
func (a *App) FeedSpec(c Connection, n *NodeFlags) (*session.Spec, error) {
	spec := a.Spec(c)
	if n.prometheus != "" {
		return nil,
			Usage(errors.New("--prometheus is read only once; this command keeps running"),
				"omit it: the processes are queried repeatedly")
	}
	if len(n.Recordings) > 0 || !spec.IsLive() {
		spec.Recordings = n.Recordings
		return spec, nil
	}
	return a.LiveSpec(c, n)
}

// Open opens the given source. If from is "", it opens the source of the environment or the context.
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

// Load reads the metadata of the cluster at from once.
func (a *App) Load(ctx context.Context, from string, want meta.Want) (*model.Cluster, error) {
	src, err := a.Open(ctx, from)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	return a.Loader().Metadata(ctx, src, want)
}

// LoadThenAndNow reads the metadata of the cluster twice: at --at and now.
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
	past, err := loader.SourceAt(src, at)
	if err != nil {
		return nil, nil, err
	}
	if before, err = loader.Metadata(ctx, past, want); err != nil {
		return nil, nil, err
	}
	after, err = loader.Metadata(ctx, src, want)
	return before, after, err
}

// LoadLive reads one cluster and the data of its processes: from recordings, from its bundle, or by querying
// the processes of a live source if the flags request it.
func (a *App) LoadLive(ctx context.Context, n *NodeFlags, want meta.Want) (*model.Cluster, error) {
	conn, err := a.Connection()
	if err != nil {
		return nil, err
	}
	spec, err := a.LiveSpec(conn, n)
	if err != nil {
		return nil, err
	}
	if a.Loads != nil {
		return a.Loads(fmt.Sprint(conn.From, conn.at.String(), n.Live, n.Recordings, n.prometheus),
			func() (*model.Cluster, error) {
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

// Warn writes one line to stderr, unless --quiet is set.
func (a *App) Warn(format string, args ...any) {
	if !a.Flags.Quiet {
		a.writeLine(fmt.Sprintf(format, args...))
	}
}

// writeLine writes a note or an error. It wraps the text because a terminal would break it within words.
func (s *Streams) writeLine(text string) {
	text = "kitescope: " + OneLine(text)
	if s.ErrTTY && s.Size != nil {
		if width, _ := s.Size(); width > 0 {
			text = strings.Join(render.Wrap(text, width), "\n")
		}
	}
	s.Notef("%s", text)
}

// notes records the texts of the notes that were written. It is safe for concurrent use, because some
// commands process several clusters at a time.
type notes struct {
	mu   sync.Mutex
	seen map[string]bool
}

// add records text. It reports whether text is new.
func (n *notes) add(text string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.seen[text] {
		return false
	}
	if n.seen == nil {
		n.seen = map[string]bool{}
	}
	n.seen[text] = true
	return true
}

// Note is like Warn, but writes each text only once, e.g. if the same input is read several times.
func (a *App) Note(format string, args ...any) {
	if a.Flags.Quiet {
		return
	}
	if text := fmt.Sprintf(format, args...); a.noted.add(text) {
		a.Warn("%s", text)
	}
}
