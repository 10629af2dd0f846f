package main

import (
	"bufio"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
)

func completionCommand(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "completion bash|zsh|fish|powershell",
		Long: `Print a completion script for a shell. It completes commands, flags, resources,
selectors and, with --from or a context, the names of objects.`,
		Example: `  source <(kitescope completion bash)
  kitescope completion zsh > "${fpath[1]}/_kitescope"
  kitescope completion fish > ~/.config/fish/completions/kitescope.fish`,
		Args:      cli.Args(1, 1, "the name of a shell", "available: bash, zsh, fish, powershell"),
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			scripts := map[string]func(w io.Writer) error{
				"bash":       func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
				"zsh":        root.GenZshCompletion,
				"fish":       func(w io.Writer) error { return root.GenFishCompletion(w, true) },
				"powershell": root.GenPowerShellCompletionWithDesc,
			}
			script, ok := scripts[args[0]]
			if !ok {
				return cli.Usage(fmt.Errorf("no completion for shell %q", args[0]),
					"available: bash, zsh, fish, powershell")
			}
			return a.WriteBytes(func(w *bufio.Writer) error { return script(w) })
		},
	}
}
