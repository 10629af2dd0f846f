package main

import (
	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
)

func pgoCommand(*cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "pgo",
		Long: `Take a Go service from CPU profiles to a rebuild that is proven better, or learn that there is
nothing to gain.

  judge   check profiles: does Go accept them, are they good, what is the maximum gain
  pack    merge them into a default.pgo, with a record of its sources
  verify  check that a binary was built with it, and that it took effect
  trial   all steps with measurements: build without and with, alternate runs, compare

Go itself keeps no hash of the profile in a binary, accepts an empty one silently, and can
make a program slower: docs/PGO.md has the whole procedure.`,
		Example: `  kitescope profile pull --from etcd://10.0.0.5:2379 --seconds 30 -O before
  kitescope pgo judge before
  kitescope pgo pack --dir ./milvus before
  kitescope pgo trial --dir ./service --bench . -O trial`,
	}
}

// pgoCommands are the commands below it.
func pgoCommands() []cli.Entry {
	return []cli.Entry{
		{Name: "judge", Short: "Check profiles: does Go accept them, are they good, what is the maximum gain", Build: pgoJudge},
		{Name: "pack", Short: "Merge profiles into a default.pgo, with a record of its sources", Build: pgoPack},
		{Name: "verify", Short: "Check whether a program was built with PGO, which profile it used, and whether it took effect", Build: pgoVerify},
		{Name: "trial", Short: "Build without and with a profile, alternate runs, report the gain", Build: pgoTrial},
	}
}
