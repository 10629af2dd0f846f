package main

import (
	"bufio"
	"fmt"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
)

func configCommand(*cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "config",
		Long: `config.yaml holds contexts and preferences: theme, first page, ASCII. It is
optional. Errors in it are ignored: the UI warns, and config check lists them.

docs/reference/config.md explains every key.`,
		Example: `  kitescope config path
  kitescope config check`,
	}
}

// configCommands returns the subcommands of config.
func configCommands() []cli.Entry {
	return []cli.Entry{
		{Name: "path", Short: "Print the path of the file, which need not exist", Build: configPath},
		{Name: "check", Short: "List errors in the file, by line", Build: configCheck},
	}
}

func configPath(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "path", Args: cobra.NoArgs, Example: "  kitescope config path",
		RunE: func(*cobra.Command, []string) error {
			path, err := cli.ConfigPath(a.Getenv)
			if err != nil {
				return err
			}
			return a.WriteBytes(func(w *bufio.Writer) error { _, err := fmt.Fprintln(w, path); return err })
		},
	}
}

func configCheck(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "check", Args: cobra.NoArgs, Example: "  kitescope config check",
		RunE: func(*cobra.Command, []string) error {
			p := a.Preferences()
			for _, problem := range p.Problems {
				a.Notef("%s: %s", p.Path, cli.OneLine(problem))
			}
			if len(p.Problems) > 0 {
				return &cli.CodeError{Code: cli.ExitFailed}
			}
			a.Warn("%s: OK", p.Path)
			return nil
		},
	}
}
