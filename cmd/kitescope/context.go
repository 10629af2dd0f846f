package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/internal/redact"
	"kitescope/internal/words"
)

func contextCommand(*cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "context",
		Long: `Manage contexts: named clusters with the flags to reach them. A context never
stores a password, only where to find one.`,
		Example: `  kitescope context add prod --from etcds://etcd.prod:2379/by-dev --ca ca.pem
  kitescope context use prod
  kitescope context list`,
	}
}

// contextCommands returns the subcommands of context.
func contextCommands() []cli.Entry {
	return []cli.Entry{
		{Name: "add", Short: "Add or replace a context", Build: contextAdd},
		{Name: "use", Short: "Make a context the default", Build: contextUse},
		{Name: "list", Short: "List contexts; * marks the default", Build: contextList},
		{Name: "remove", Short: "Remove a context", Build: contextRemove},
	}
}

func oneContext(cmd *cobra.Command, args []string) error {
	return cli.Args(1, 1, "the name of a context", "see: "+cmd.CommandPath()+" --help")(cmd, args)
}

func contextAdd(a *cli.App) *cobra.Command {
	var passwordEnv string
	n := &cli.NodeFlags{}
	cmd := &cobra.Command{
		Use: "add NAME --from SOURCE [flags]", Args: oneContext,
		Long: `Add or replace a context. It stores the flags for reaching etcd and the
processes; of passwords, only where to find them.`,
		Example: `  kitescope context add prod --from etcd://10.0.0.5:2379/by-dev \
    --user viewer --password-env PROD_ETCD_PASSWORD`,
		RunE: func(_ *cobra.Command, args []string) error {
			g := a.Flags
			if g.From == "" {
				return cli.Usage(fmt.Errorf("context add %s: --from is missing", args[0]), "")
			}
			if _, address, ok := strings.Cut(g.From, "://"); ok &&
				strings.Contains(strings.SplitN(address, "/", 2)[0], "@") {
				return cli.Usage(fmt.Errorf("context add %s: --from has a user name", args[0]),
					"use --user and --password-env or --password-file")
			}
			if _, address, ok := strings.Cut(n.Proxy, "://"); ok && strings.Contains(address, "@") {
				return cli.Usage(fmt.Errorf("context add %s: --proxy has a user name", args[0]),
					"a context stores no password: give this proxy on the command line")
			}
			spec := cli.ContextSpec{
				From: g.From, Root: g.Root, User: g.User, PasswordEnv: passwordEnv, PasswordFile: g.PasswordFile,
				CA: g.CA, Cert: g.Cert, Key: g.Key, ServerName: g.ServerName, Insecure: g.Insecure,
			}
			if way := n.NodeSpec; !way.Empty() {
				spec.Nodes = &way
			}
			if err := spec.ResolvePaths(); err != nil {
				return err
			}
			return a.EditConfig(func(c *cli.ConfigFile) error {
				if c.Contexts == nil {
					c.Contexts = map[string]cli.ContextSpec{}
				}
				c.Contexts[args[0]] = spec
				if c.Current == "" {
					c.Current = args[0]
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&passwordEnv, "password-env", "", "environment variable with the etcd password")
	n.AddConnectionFlags(cmd.Flags())
	cmd.Flags().StringVar(&n.PasswordEnv, "milvus-password-env", "", "environment variable with the Milvus password")
	return cmd
}

func contextUse(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "use NAME", Args: oneContext, ValidArgsFunction: a.CompleteContexts,
		Example: "  kitescope context use prod",
		RunE: func(_ *cobra.Command, args []string) error {
			return a.EditConfig(func(c *cli.ConfigFile) error {
				if err := c.Has(args[0]); err != nil {
					return err
				}
				c.Current = args[0]
				return nil
			})
		},
	}
}

func contextRemove(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Args: oneContext, ValidArgsFunction: a.CompleteContexts,
		Example: "  kitescope context remove prod",
		RunE: func(_ *cobra.Command, args []string) error {
			return a.EditConfig(func(c *cli.ConfigFile) error {
				if err := c.Has(args[0]); err != nil {
					return err
				}
				delete(c.Contexts, args[0])
				if c.Current == args[0] {
					c.Current = ""
				}
				return nil
			})
		},
	}
}

func contextList(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "list", Args: cobra.NoArgs,
		Example: "  kitescope context list",
		RunE: func(*cobra.Command, []string) error {
			config, path, err := a.Config()
			if err != nil {
				return err
			}
			if len(config.Contexts) == 0 {
				a.Warn("no contexts in %s; see: kitescope context add --help", path)
				return nil
			}
			var b strings.Builder
			b.WriteString("  NAME\tFROM\tUSER\n")
			for _, name := range config.Names() {
				mark := " "
				if name == config.Current {
					mark = "*"
				}
				spec := config.Contexts[name]
				fmt.Fprintf(&b, "%s %s\t%s\t%s\n", mark, words.Sanitize(name), words.Sanitize(redact.Text(spec.From)),
					cmp.Or(words.Sanitize(spec.User), "-"))
			}
			return a.Write(func(out *bufio.Writer) error {
				w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
				if _, err := io.WriteString(w, b.String()); err != nil {
					return err
				}
				return w.Flush()
			})
		},
	}
}
