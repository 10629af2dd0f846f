package cli

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"kitescope/inspect/session"
)

// Begin settles what all commands have in common, once their flags are read.
func (a *App) Begin(cmd *cobra.Command) error {
	if err := a.SetClock(); err != nil {
		return err
	}
	if err := a.settleGlyphs(cmd); err != nil {
		return err
	}
	if a.Flags.Quiet {
		a.Transient = nil
	}
	if a.Flags.From != "" && a.Flags.Context != "" {
		return Usage(errors.New("--from and --context both name a cluster"), "use only one of them")
	}
	return a.openDebug()
}

// AddAt adds the flag of commands that can show a cluster as it was: those that need no process.
func (a *App) AddAt(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var(&a.Flags.At, "at", "show the cluster as it was then, from etcd's history: "+session.AtForms+" (UTC)")
	put(f.Lookup("at"), sectionCluster)
}

// AddUnknownSettings adds the flag of commands that list settings.
func AddUnknownSettings(cmd *cobra.Command, unknown *bool) {
	cmd.Flags().BoolVar(unknown, "show-unknown-settings", false, "show the text of settings in etcd that Milvus is not known to have; it may be a secret")
}

// AddGlobalFlags adds the flags of every command.
func (a *App) AddGlobalFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	g := &a.Flags
	In(f, sectionCluster, func() {
		f.StringVar(&g.From, "from", "", "what to read: etcd://host:port[,host:port]/root, etcds://..., a file, or - for standard input")
		f.StringVar(&g.Context, "context", "", "context from the configuration file, instead of --from")
		f.StringVar(&g.Root, "root", "", "Milvus root path in etcd, if there are several")
		f.StringVar(&g.Now, "now", "", "use this as the current time (RFC 3339): ages in a live source count up to it")
	})
	In(f, sectionEtcd, func() {
		f.StringVar(&g.User, "user", "", "etcd user; the password comes from KITESCOPE_ETCD_PASSWORD, --password-file or a prompt")
		f.StringVar(&g.PasswordFile, "password-file", "", "file with the etcd password")
		f.StringVar(&g.CA, "ca", "", "CA certificate of an etcds:// server (PEM)")
		f.StringVar(&g.Cert, "cert", "", "client certificate for mTLS (PEM)")
		f.StringVar(&g.Key, "key", "", "key of the client certificate (PEM)")
		f.StringVar(&g.ServerName, "server-name", "", "name to expect in the server's certificate")
		f.BoolVar(&g.Insecure, "insecure", false, "do not verify the server's certificate")
		f.DurationVar(&g.timeout, "timeout", 30*time.Second, "deadline of each request")
		f.BoolVar(&g.salvage, "salvage", false, "read as much as possible of a damaged file; list the rest as missing")
		f.BoolVar(&g.staleRead, "stale-read", false, "read from one etcd member without quorum: for an etcd that has lost its leader")
	})
	In(f, sectionMessages, func() {
		f.BoolVar(&g.Strict, "strict", false, "exit 4 if something could not be read or decoded")
		f.BoolVarP(&g.Quiet, "quiet", "q", false, "only errors on stderr")
		f.StringVar(&g.color, "color", "auto", "auto, always or never; NO_COLOR is honoured")
		f.StringVar(&g.ascii, "ascii", "auto", "draw with ASCII characters alone: auto (by the locale of a terminal), always or never")
		f.Lookup("ascii").NoOptDefVal = "always"
		f.StringVar(&g.debug, "debug", "", "log each etcd call and each RPC to processes with its duration, to stderr or (--debug=FILE) a file")
		f.Lookup("debug").NoOptDefVal = toStderr
	})
	_ = root.RegisterFlagCompletionFunc("context", a.CompleteContexts)
	_ = root.RegisterFlagCompletionFunc("ascii", Fixed("auto", "always", "never"))
	_ = root.RegisterFlagCompletionFunc("color", Fixed("auto", "always", "never"))
}
