// Package pgocmd defines the commands that measure the gain of a change to a program. "pgo" builds a Go program from
// its CPU profiles and compares it with the build before. "compare" compares benchmark results. The commands parse
// flags and write reports; packages profile/pgo, profile/trial and profile/bench do the work.
package pgocmd

import (
	"context"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/profile/pgo"
)

// Profiles reads the profiles named on a command line, or pulls them from a cluster. It has the same flags as the
// subcommands of "profile".
type Profiles interface {
	// Register adds the flags that control how profiles are found and read.
	Register(cmd *cobra.Command)
	// KeepMangled keeps symbol names as the linker has them, regardless of the flags.
	KeepMangled()
	// Inputs reads each profile separately, without merging.
	Inputs(ctx context.Context, a *cli.App, words []string) ([]pgo.Input, error)
}

// Commands returns the commands pgo and compare with their subcommands. input creates the Profiles of a
// command.
func Commands(input func() Profiles) []cli.Entry {
	return []cli.Entry{
		{
			Name: "pgo", Short: "Build Go programs with PGO and verify the gain: judge, pack, ...",
			Group: cli.GroupProfile, Build: pgoCommand, Subcommands: pgoCommands(input),
		},
		{
			Name: "compare", Short: "Compare benchmark results: what changed, and what is noise",
			Group: cli.GroupProfile, Build: compareCommand,
		},
	}
}

func pgoCommand(*cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "pgo",
		Long: `Take a Go service from CPU profiles to a rebuild that is proven better, or learn that
there is nothing to gain. Go itself keeps no hash of the profile in a binary, accepts
an empty one silently, and can make a program slower.`,
		Example: `  kitescope profile pull --from etcd://10.0.0.5:2379 --seconds 30 -O before
  kitescope pgo judge before
  kitescope pgo pack --dir ./milvus before
  kitescope pgo trial --dir ./tool --load '{bin} -cpuprofile {profile} in.json'`,
	}
}

// pgoCommands returns the subcommands of pgo.
func pgoCommands(input func() Profiles) []cli.Entry {
	with := func(build func(*cli.App, Profiles) *cobra.Command) func(*cli.App) *cobra.Command {
		return func(a *cli.App) *cobra.Command { return build(a, input()) }
	}
	return []cli.Entry{
		{Name: "judge", Short: "Check profiles: would Go accept them, what is the maximum gain", Build: with(pgoJudge)},
		{Name: "pack", Short: "Merge profiles into a default.pgo, with a record of its sources", Build: with(pgoPack)},
		{
			Name: "verify", Short: "Check whether a program was built with PGO, and which profile it used",
			Build: pgoVerify,
		},
		{Name: "trial", Short: "Build without and with a profile, alternate runs, report the gain", Build: pgoTrial},
	}
}
