// Package gains has the commands that say what a change of a program gains: "pgo", which takes a Go program from profiles to a build
// that is held against the one before, and "compare", which holds results of benchmarks against each other. What enters is a
// cli.App and the words of a command line; the work is done by profile/pgo, trial and bench.
package gains

import (
	"context"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/profile/pgo"
)

// Profiles are those that the words of a command line name, or those of a cluster, which are pulled: all of it as with the commands
// below "profile", which have the same flags.
type Profiles interface {
	// Register adds the flags that say how profiles are found and read.
	Register(cmd *cobra.Command)
	// KeepMangled leaves names as the linker has them, whatever the flags say.
	KeepMangled()
	// Inputs reads each profile on its own.
	Inputs(ctx context.Context, a *cli.App, words []string) ([]pgo.Input, error)
}

// Commands are pgo and compare, with what is below them; input makes the profiles of one command.
func Commands(input func() Profiles) []cli.Entry {
	return []cli.Entry{
		{Name: "pgo", Short: "Build Go programs with PGO and verify the gain: judge, pack, ...", Group: cli.GroupProfile, Build: pgoCommand, Below: pgoCommands(input)},
		{Name: "compare", Short: "Compare benchmark results: what changed, and what is noise", Group: cli.GroupProfile, Build: compareCommand},
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

// pgoCommands are the commands below it.
func pgoCommands(input func() Profiles) []cli.Entry {
	with := func(build func(*cli.App, Profiles) *cobra.Command) func(*cli.App) *cobra.Command {
		return func(a *cli.App) *cobra.Command { return build(a, input()) }
	}
	return []cli.Entry{
		{Name: "judge", Short: "Check profiles: would Go accept them, what is the maximum gain", Build: with(pgoJudge)},
		{Name: "pack", Short: "Merge profiles into a default.pgo, with a record of its sources", Build: with(pgoPack)},
		{Name: "verify", Short: "Check whether a program was built with PGO, and which profile it used", Build: pgoVerify},
		{Name: "trial", Short: "Build without and with a profile, alternate runs, report the gain", Build: pgoTrial},
	}
}
