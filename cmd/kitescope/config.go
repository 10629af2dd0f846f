package main

import (
	"bufio"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"kitescope/cmd/kitescope/cli"
	"kitescope/cmd/kitescope/prefs"
)

func configCommand(*cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "config",
		Long: `config.yaml has contexts and what you prefer: theme, columns and order of tables, keys,
aliases, commands of your own. It is never required. What is wrong in it is as if
it were not there: the UI says so, and config check says all of it, by line.

docs/reference/config.md explains every key.`,
		Example: `  kitescope config path
  kitescope config check
  kitescope config schema > kitescope.schema.json`,
	}
}

// configCommands are the commands below it.
func configCommands() []cli.Entry {
	return []cli.Entry{
		{Name: "path", Short: "Print where the file is, or would be", Build: configPath},
		{Name: "show", Short: "Print what holds: what the file says, and else what is usual", Build: configShow},
		{Name: "check", Short: "Say what is wrong with the file, by line", Build: configCheck},
		{Name: "schema", Short: "Print the JSON Schema of the file, for editors", Build: configSchema},
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

func configShow(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "show", Args: cobra.NoArgs, Example: "  kitescope config show",
		RunE: func(*cobra.Command, []string) error {
			path, err := cli.ConfigPath(a.Getenv)
			if err != nil {
				return err
			}
			file, _, problems, err := cli.ReadConfigStrictly(path)
			if err != nil {
				return err
			}
			if len(problems) > 0 {
				a.Warn("%s, %s; see: kitescope config check", path, problems[0])
			}
			prefs.FillIn(file)
			return a.WriteBytes(func(w *bufio.Writer) error {
				e := yaml.NewEncoder(w)
				e.SetIndent(2)
				return errors.Join(e.Encode(file), e.Close())
			})
		},
	}
}

func configCheck(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "check", Args: cobra.NoArgs, Example: "  kitescope config check",
		RunE: func(*cobra.Command, []string) error {
			c := a.CheckPreferences()
			c.CheckKeysOf((&opened{}).pages())
			for _, p := range c.Problems {
				a.Tell("%s: %s", c.Path, cli.OneLine(p.String()))
			}
			if len(c.Problems) > 0 {
				return &cli.CodeError{Code: cli.ExitFailed}
			}
			a.Warn("%s: nothing is wrong", c.Path)
			return nil
		},
	}
}

func configSchema(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "schema", Args: cobra.NoArgs,
		Example: `  kitescope config schema > kitescope.schema.json
  # and as the first line of config.yaml:
  # yaml-language-server: $schema=kitescope.schema.json`,
		RunE: func(*cobra.Command, []string) error {
			text, err := prefs.Schema(cli.ConfigFile{})
			if err != nil {
				return err
			}
			return a.WriteBytes(func(w *bufio.Writer) error { _, err := w.Write(text); return err })
		},
	}
}
