package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"kitescope/words"
)

func contextCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "context", Short: "Name clusters: add, use, list, remove", GroupID: groupSetup,
		Long: `Name clusters, so that they need not be spelled out. A context keeps the flags
that lead to a cluster. It never keeps a password, only where to find one.`,
		Example: `  kitescope context add prod --from etcds://etcd.prod:2379/by-dev --ca ca.pem --user viewer
  kitescope context use prod
  kitescope context list`,
		Args: noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(contextAdd(a), contextUse(a), contextList(a), contextRemove(a))
	return cmd
}

// noCommand rejects words behind a command that has only subcommands.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return unknownCommand(cmd, args[0])
	}
	return nil
}

func oneContext(cmd *cobra.Command, args []string) error {
	return wantArgs(cmd, args, 1, 1, "the name of a context", "see: "+cmd.CommandPath()+" --help")
}

// editConfig changes the file of contexts.
func (a *app) editConfig(edit func(*configFile) error) error {
	path, err := configPath(a.getenv)
	if err != nil {
		return err
	}
	config, err := readConfig(path)
	if err != nil {
		return err
	}
	if err := edit(config); err != nil {
		return err
	}
	return config.write(path)
}

func contextAdd(a *app) *cobra.Command {
	var passwordEnv string
	n := &nodeFlags{}
	cmd := &cobra.Command{
		Use: "add NAME --from SOURCE [flags]", Short: "Add or replace a context", Args: oneContext,
		Example: "  kitescope context add prod --from etcd://10.0.0.5:2379/by-dev --user viewer --password-env PROD_ETCD_PASSWORD",
		RunE: func(_ *cobra.Command, args []string) error {
			g := a.flags
			if g.from == "" {
				return &usageError{fmt.Errorf("context add %s: --from is missing", args[0]), ""}
			}
			if _, address, ok := strings.Cut(g.from, "://"); ok && strings.Contains(strings.SplitN(address, "/", 2)[0], "@") {
				return &usageError{fmt.Errorf("context add %s: --from holds user information", args[0]), "use --user and --password-env or --password-file"}
			}
			if _, address, ok := strings.Cut(n.Proxy, "://"); ok && strings.Contains(address, "@") {
				return &usageError{fmt.Errorf("context add %s: --proxy holds user information", args[0]), "a context keeps no password: name this proxy on the command line"}
			}
			spec := contextSpec{
				From: g.from, Root: g.root, User: g.user, PasswordEnv: passwordEnv, PasswordFile: g.passwordFile,
				CA: g.ca, Cert: g.cert, Key: g.key, ServerName: g.serverName, Insecure: g.insecure,
			}
			if way := n.nodeSpec; !way.empty() {
				spec.Nodes = &way
			}
			if err := spec.settle(); err != nil {
				return err
			}
			return a.editConfig(func(c *configFile) error {
				if c.Contexts == nil {
					c.Contexts = map[string]contextSpec{}
				}
				c.Contexts[args[0]] = spec
				if c.Current == "" {
					c.Current = args[0]
				}
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&passwordEnv, "password-env", "", "environment variable that holds the etcd password")
	n.addWay(cmd.Flags())
	cmd.Flags().StringVar(&n.PasswordEnv, "milvus-password-env", "", "environment variable that holds the Milvus password")
	return cmd
}

func contextUse(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "use NAME", Short: "Make a context the default", Args: oneContext, ValidArgsFunction: a.completeContexts,
		Example: "  kitescope context use prod",
		RunE: func(_ *cobra.Command, args []string) error {
			return a.editConfig(func(c *configFile) error {
				if err := c.has(args[0]); err != nil {
					return err
				}
				c.Current = args[0]
				return nil
			})
		},
	}
}

func contextRemove(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Forget a context", Args: oneContext, ValidArgsFunction: a.completeContexts,
		Example: "  kitescope context remove prod",
		RunE: func(_ *cobra.Command, args []string) error {
			return a.editConfig(func(c *configFile) error {
				if err := c.has(args[0]); err != nil {
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

// has is the error of a context that is not there.
func (c *configFile) has(name string) error {
	if _, ok := c.Contexts[name]; !ok {
		hint := "there are none; see: kitescope context add --help"
		if len(c.Contexts) > 0 {
			hint = "there are: " + strings.Join(c.names(), ", ")
		}
		return &usageError{fmt.Errorf("no context %q", name), hint}
	}
	return nil
}

func contextList(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List contexts; * marks the default", Args: cobra.NoArgs,
		Example: "  kitescope context list",
		RunE: func(*cobra.Command, []string) error {
			path, err := configPath(a.getenv)
			if err != nil {
				return err
			}
			config, err := readConfig(path)
			if err != nil {
				return err
			}
			if len(config.Contexts) == 0 {
				a.warn("no contexts in %s; see: kitescope context add --help", path)
				return nil
			}
			var b strings.Builder
			b.WriteString("  NAME\tFROM\tUSER\n")
			for _, name := range config.names() {
				mark := " "
				if name == config.Current {
					mark = "*"
				}
				spec := config.Contexts[name]
				fmt.Fprintf(&b, "%s %s\t%s\t%s\n", mark, words.Harmless(name), words.Harmless(spec.From), cmp.Or(words.Harmless(spec.User), "-"))
			}
			return a.write(func(out *bufio.Writer) error {
				w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
				if _, err := io.WriteString(w, b.String()); err != nil {
					return err
				}
				return w.Flush()
			})
		},
	}
}

// completeContexts completes names of contexts.
func (a *app) completeContexts(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	path, err := configPath(a.getenv)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	config, err := readConfig(path)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return config.names(), cobra.ShellCompDirectiveNoFileComp
}
