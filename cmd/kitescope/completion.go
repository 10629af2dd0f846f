package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) completionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "completion bash|zsh|fish|powershell", Short: "Print a completion script for a shell", GroupID: groupSetup,
		Long: `Print a completion script for a shell. It completes commands, flags, resources,
selectors and, with --from or a context, the names of objects.`,
		Example: `  source <(kitescope completion bash)
  kitescope completion zsh > "${fpath[1]}/_kitescope"
  kitescope completion fish > ~/.config/fish/completions/kitescope.fish`,
		Args: func(_ *cobra.Command, args []string) error {
			return wantArgs(args, 1, 1, "completion for what? one shell is wanted", "there are: bash, zsh, fish, powershell")
		},
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.out, true)
			case "zsh":
				return root.GenZshCompletion(a.out)
			case "fish":
				return root.GenFishCompletion(a.out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(a.out)
			}
			return &usageError{fmt.Errorf("no completion for shell %q", args[0]), "there are: bash, zsh, fish, powershell"}
		},
	}
}
