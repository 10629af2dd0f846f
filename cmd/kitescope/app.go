package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/inspect/session/demo"
	"kitescope/inspect/source"
)

// globalFlags are the flags of every command that reads a cluster.
type globalFlags struct {
	from, context, root              string
	user, passwordFile               string
	ca, cert, key, serverName        string
	insecure, salvage, strict, quiet bool
	staleRead                        bool
	timeout                          time.Duration
	now                              string
	color, cpuProfile                string
}

// app is what commands share: the process's streams and the global flags.
type app struct {
	*streams
	flags globalFlags
	// lacking says that profiles are missing from what a command shows: see strictly.
	lacking bool
	own     ownProfile
	demo    *lazyDemo
	noted   map[string]bool // see note
	stopped bool            // the clock stands still
}

// connection is the settled answer to "which cluster, and as whom": flags, then
// environment, then the context in the configuration file.
type connection struct {
	contextSpec
	// fromContext is the context's name, "" where --from decided.
	fromContext string
}

// connection is the one to the source that flags, environment or context name.
func (a *app) connection() (connection, error) { return a.connectionTo(a.flags.from) }

// connectionTo is the connection to a source that is named, "" for the one that environment or context name.
func (a *app) connectionTo(from string) (connection, error) {
	var c connection
	if a.flags.timeout <= 0 {
		return c, usagef("--timeout is a duration above 0, not %s", a.flags.timeout)
	}
	if from == "" {
		var err error
		if c, err = a.namedContext(); err != nil {
			return c, err
		}
	}
	c.From = cmp.Or(from, c.From, a.getenv("KITESCOPE_FROM"))
	c.Root = cmp.Or(a.flags.root, a.getenv("KITESCOPE_ROOT"), c.Root)
	c.User = cmp.Or(a.flags.user, a.getenv("KITESCOPE_ETCD_USER"), c.User)
	c.PasswordFile = cmp.Or(a.flags.passwordFile, c.PasswordFile)
	c.CA, c.Cert, c.Key = cmp.Or(a.flags.ca, c.CA), cmp.Or(a.flags.cert, c.Cert), cmp.Or(a.flags.key, c.Key)
	c.ServerName = cmp.Or(a.flags.serverName, c.ServerName)
	c.Insecure = a.flags.insecure || c.Insecure
	if c.From == demo.From {
		a.stopForDemo()
	}
	if c.From == "" {
		return c, &usageError{
			errors.New("no cluster named: --from is missing"),
			"--from etcd://host:2379 (live), --from FILE (etcd snapshot, birdwatcher backup, bundle), or try: kitescope demo",
		}
	}
	return c, nil
}

// namedContext is the context that a flag or the environment names, else the default
// one; the zero connection where KITESCOPE_FROM says which cluster, or nothing does.
// The file is read only then, so that a broken one stops nobody who names a source.
func (a *app) namedContext() (connection, error) {
	name := cmp.Or(a.flags.context, a.getenv("KITESCOPE_CONTEXT"))
	if name == "" && a.getenv("KITESCOPE_FROM") != "" {
		return connection{}, nil
	}
	path, err := configPath(a.getenv)
	if err != nil {
		return connection{}, err
	}
	config, err := readConfig(path)
	if err != nil {
		return connection{}, err
	}
	if name = cmp.Or(name, config.Current); name == "" {
		return connection{}, nil
	}
	spec, ok := config.Contexts[name]
	if !ok {
		return connection{}, &usageError{fmt.Errorf("no context %q in %s", name, path), "see: kitescope context list"}
	}
	return connection{contextSpec: spec, fromContext: name}, nil
}

// storedPassword is the password that needs no keyboard: from --password-file, the
// environment, or the places that the context names, in this order.
func (a *app) storedPassword(c connection) (password string, ok bool, err error) {
	read := func(path string) (string, bool, error) {
		text, err := os.ReadFile(path)
		if err != nil {
			return "", false, fmt.Errorf("read the password file: %w", err)
		}
		return strings.TrimRight(string(text), "\r\n"), true, nil
	}
	if a.flags.passwordFile != "" {
		return read(a.flags.passwordFile)
	}
	for _, name := range []string{"KITESCOPE_ETCD_PASSWORD", c.PasswordEnv} {
		if name == "" {
			continue
		}
		if password := a.getenv(name); password != "" {
			return password, true, nil
		}
	}
	if c.PasswordFile != "" {
		return read(c.PasswordFile)
	}
	return "", false, nil
}

// password comes from the environment, a file, or the keyboard; never from the command line.
func (a *app) password(ctx context.Context, c connection) (string, error) {
	if !a.spec(c).WantsPassword() {
		return "", nil
	}
	if password, ok, err := a.storedPassword(c); ok || err != nil {
		return password, err
	}
	password, err := a.readPassword(ctx, fmt.Sprintf("etcd password of %s: ", c.User))
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", &usageError{
			fmt.Errorf("no password for etcd user %s", c.User),
			"set KITESCOPE_ETCD_PASSWORD or use --password-file; there is no terminal to ask on",
		}
	}
	return password, nil
}

// loader loads clusters as the flags say: with --timeout, and what is read told on the line about progress.
func (a *app) loader() *session.Loader {
	return &session.Loader{
		Now: a.now, Stdin: a.in, Timeout: a.flags.timeout,
		OpenOwn: func(ctx context.Context, spec *session.Spec) (source.Source, bool, error) {
			switch {
			case spec.From == demo.From:
				src, err := a.demo.open(ctx, spec.Root)
				return src, true, err
			case spec.From == "-" && a.inTTY:
				return nil, true, &usageError{errors.New("--from - reads standard input, and that is a terminal"), "pipe a file into it: kitescope get collections --from - < etcd_snapshot.db"}
			}
			return nil, false, nil
		},
		Reading: func(s source.Snapshot) (source.Snapshot, func()) {
			p := a.startProgress(s)
			return p, p.stop
		},
	}
}

// spec says how the source of a connection is read. Its processes are left alone.
func (a *app) spec(c connection) *session.Spec {
	return &session.Spec{
		From: c.From, Root: c.Root, User: c.User,
		Password: func(ctx context.Context) (string, error) { return a.password(ctx, c) },
		TLS: source.TLS{
			CAFile: c.CA, CertFile: c.Cert, KeyFile: c.Key, ServerName: c.ServerName, InsecureSkipVerify: c.Insecure,
		},
		Salvage: a.flags.salvage, StaleRead: a.flags.staleRead,
	}
}

// asking is spec where the processes are asked if flags say so. A wrong flag is told before anything is opened.
func (a *app) asking(c connection, n *nodeFlags) (*session.Spec, error) {
	spec := a.spec(c)
	spec.Live, spec.Recordings = n.live, n.recordings
	if !n.live {
		return spec, nil
	}
	var err error
	spec.Nodes, err = a.clientOptions(c, n)
	return spec, err
}

// following is asking for a feed, which may do without the flags that say how processes are reached.
func (a *app) following(c connection, n *nodeFlags) (*session.Spec, error) {
	spec := a.spec(c)
	if len(n.recordings) > 0 || !spec.IsLive() {
		spec.Recordings = n.recordings
		return spec, nil
	}
	return a.asking(c, n)
}

// open opens a source: the one that is named, or for "" the one that environment and context name.
func (a *app) open(ctx context.Context, from string) (source.Source, error) {
	c, err := a.connectionTo(from)
	if err != nil {
		return nil, err
	}
	return a.loader().Open(ctx, a.spec(c))
}

// load reads the metadata of one cluster, once: of the source that open opens.
func (a *app) load(ctx context.Context, from string, want meta.Want) (*model.Cluster, error) {
	src, err := a.open(ctx, from)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	return a.loader().Metadata(ctx, src, want)
}

// loadLive reads one cluster and what its processes say: from recordings, from the bundle
// that it is in, or by asking them, where that is wanted and the source is live.
func (a *app) loadLive(ctx context.Context, n *nodeFlags, want meta.Want) (*model.Cluster, error) {
	conn, err := a.connection()
	if err != nil {
		return nil, err
	}
	spec, err := a.asking(conn, n)
	if err != nil {
		return nil, err
	}
	if a.loads != nil {
		return a.loads(fmt.Sprint(conn.From, n.live, n.recordings), func() (*model.Cluster, error) {
			spec.Want = meta.Want{Parts: model.PartAll, Records: true}
			return a.loader().Load(ctx, spec)
		})
	}
	spec.Want = want
	return a.loader().Load(ctx, spec)
}

// warn writes one line for people, unless --quiet.
func (a *app) warn(format string, args ...any) {
	if !a.flags.quiet {
		a.tell("kitescope: %s", oneLine(fmt.Sprintf(format, args...)))
	}
}

// note is warn for what is known of an input: it is said once, however often the input is met.
func (a *app) note(format string, args ...any) {
	if a.flags.quiet {
		return
	}
	text := fmt.Sprintf(format, args...)
	if a.noted == nil {
		a.noted = map[string]bool{}
	}
	if !a.noted[text] {
		a.noted[text] = true
		a.warn("%s", text)
	}
}

// completeness says on stderr what clusters lack, and under --strict makes it exit 4.
func (a *app) completeness(clusters ...*model.Cluster) error {
	lacking := 0
	for _, c := range clusters {
		where := "incomplete"
		if len(clusters) > 1 {
			where = c.Origin.Location + ": " + where
		}
		for i, gap := range c.Gaps {
			if i == 5 {
				a.note("%s: and %d more gaps", where, len(c.Gaps)-i)
				break
			}
			a.note("%s: could not read %s: %s", where, gap.Where, gap.Reason)
		}
		if n := len(c.Undecoded); n > 0 {
			a.note("%s: %d records could not be decoded in full, first: %s: %s (see: kitescope get undecoded)",
				where, n, c.Undecoded[0].Key, c.Undecoded[0].Reason)
		}
		if session.IsSilent(c.Etcd) {
			a.note("%s: %v", where, session.Silence(c.Etcd))
			lacking++
		}
		silent := silentSessions(c)
		for i, line := range silent {
			if i == 5 {
				a.note("%s: and %d more sessions", where, len(silent)-i)
				break
			}
			a.note("%s: %s", where, line)
		}
		lacking += len(c.Gaps) + len(c.Undecoded) + len(silent)
	}
	if a.flags.strict && lacking > 0 {
		return &codeError{code: exitIncomplete}
	}
	return nil
}
