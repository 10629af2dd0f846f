package cli

import (
	"errors"
	"time"

	"github.com/spf13/cobra"
)

// Begin applies the global flags. It is called after the flags are parsed.
func (a *App) Begin(cmd *cobra.Command) error {
	if err := a.SetClock(); err != nil {
		return err
	}
	if err := a.setGlyphs(cmd); err != nil {
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

// AddAt adds the --at flag to commands that can show a past state because they need no process data.
func (a *App) AddAt(cmd *cobra.Command) {
	cmd.Flags().Var(&a.Flags.At, "at", "as of this time: 09:14, -5m, rev:24519")
}

// AddUnknownSettings adds the flag of commands that list settings.
func AddUnknownSettings(cmd *cobra.Command, unknown *bool) {
	cmd.Flags().BoolVar(unknown, "show-unknown-settings", false, "show values of settings unknown to Milvus")
}

// AddGlobalFlags adds the flags of every command.
func (a *App) AddGlobalFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	g := &a.Flags
	WithSection(f, sectionCluster, func() {
		f.StringVar(&g.From, "from", "", "source: etcd://host:port/root, a file, ... (see: help sources)")
		f.StringVar(&g.Context, "context", "", "context of the configuration file, instead of --from")
		f.StringVar(&g.Root, "root", "", "Milvus root path in etcd, if there are several")
		f.StringVar(&g.Now, "now", "", "current time for ages in a live source (RFC 3339)")
	})
	WithSection(f, sectionEtcd, func() {
		f.StringVar(&g.User, "user", "", "etcd user; password: KITESCOPE_ETCD_PASSWORD, or a prompt")
		f.StringVar(&g.PasswordFile, "password-file", "", "file with the etcd password")
		f.StringVar(&g.CA, "ca", "", "CA certificate of an etcds:// server (PEM)")
		f.StringVar(&g.Cert, "cert", "", "client certificate for mTLS (PEM)")
		f.StringVar(&g.Key, "key", "", "key of the client certificate (PEM)")
		f.StringVar(&g.ServerName, "server-name", "", "name to expect in the server's certificate")
		f.BoolVar(&g.Insecure, "insecure", false, "do not verify the server's certificate")
		f.DurationVar(&g.timeout, "timeout", 30*time.Second, "deadline of each request")
		f.BoolVar(&g.salvage, "salvage", false, "read what is readable of a damaged file")
		f.BoolVar(&g.staleRead, "stale-read", false, "read from one etcd member, without quorum")
	})
	WithSection(f, sectionMessages, func() {
		f.BoolVar(&g.Strict, "strict", false, "exit 4 if something could not be read or decoded")
		f.BoolVarP(&g.Quiet, "quiet", "q", false, "only errors on stderr")
		f.StringVar(&g.color, "color", "auto", "auto, always or never")
		f.StringVar(&g.ascii, "ascii", "auto", "draw in ASCII: auto (by the locale), always or never")
		f.Lookup("ascii").NoOptDefVal = "always"
		f.StringVar(&g.debug, "debug", "", "log calls to etcd and processes, to stderr or --debug=FILE")
		f.Lookup("debug").NoOptDefVal = toStderr
	})
	_ = root.RegisterFlagCompletionFunc("context", a.CompleteContexts)
	_ = root.RegisterFlagCompletionFunc("ascii", FixedCompletions("auto", "always", "never"))
	_ = root.RegisterFlagCompletionFunc("color", FixedCompletions("auto", "always", "never"))
}
