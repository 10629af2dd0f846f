package main

import (
	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
)

func pgoCommand(*cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "pgo",
		Long: `Take a Go service from CPU profiles to a rebuild that is proven to be better, or be told that
there is nothing to gain.

  judge   would Go accept these profiles, are they good, what can they reach
  pack    merge them into a default.pgo, with a record of where it comes from
  verify  was this binary built with it, and did it take effect
  trial   all of it with measurements: build without and with, run in turns, compare

Go itself keeps no hash of the profile in a binary, accepts an empty one silently, and can
make a program slower: docs/PGO.md walks the whole way.`,
		Example: `  kitescope profile pull --from etcd://10.0.0.5:2379 --seconds 30 -O before
  kitescope pgo judge before
  kitescope pgo pack --dir ./milvus before
  kitescope pgo trial --dir ./service --bench . -O trial`,
	}
}

// pgoCommands are the commands below it.
func pgoCommands() []cli.Entry {
	return []cli.Entry{
		{Name: "judge", Short: "Would Go accept these profiles, are they good, what can they reach", Build: pgoJudge},
		{Name: "pack", Short: "Merge profiles into a default.pgo, with a record of where it comes from", Build: pgoPack},
		{Name: "verify", Short: "Was this program built with PGO, with which profile, and did it take effect", Build: pgoVerify},
		{Name: "trial", Short: "Build without and with a profile, run both in turns, report what it is worth", Build: pgoTrial},
	}
}
