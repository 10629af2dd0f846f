// Package vectors has the commands about vector indexes: "engine", which opens an index and searches it, and "replay", which asks the
// queries of a log of a cluster's segments, of a server, or of a cluster that does not exist yet. What enters is a cli.App and the
// words of a command line; the work is done by engine/target, replay and replay/whatif.
package vectors

import (
	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
)

// ReplayCommand is "replay" with its subcommands.
func ReplayCommand(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "replay", Short: "Ask a query load of a cluster's own segments, and of the cluster it could be", GroupID: cli.GroupEngine,
		Long: `Take the segments that a cluster serves, their files in storage and a log of queries, and answer
what one asks before touching production: is it the growing segments, the imbalance, the index,
the parameters, or the machine? And by how much.

  info     what would be replayed: segments, states, nodes, files, what is missing
  run      recall, latency, cost by segment, state, index and node
  sweep    the same over numbers of sessions and ef: QPS by concurrency, recall against QPS
  whatif   another cluster: indexed, balanced, more nodes, other parameters
  sample   draw queries from a collection's own vectors
  capture  rate and shape of a load from a proxy's access log
  show     a saved result again, or beside an earlier one
  plot     pictures of results: SVG, PNG, PDF
  report   results as one HTML page

Segments come from --from (live, or any file that kitescope reads), their files from --storage.
Nothing is written to a cluster. With --target the same queries go to a real Milvus, or to
PostgreSQL with pgvector, and the engine's answers are what theirs are held against.`,
		Example: `  kitescope replay info docs --from etcd://10.0.0.5:2379 --storage s3://milvus/files?endpoint=10.0.0.9:9000
  kitescope replay sample docs --count 1000 --out queries.jsonl
  kitescope replay run docs --queries queries.jsonl --ef 64 --save before.json
  kitescope replay whatif docs --queries queries.jsonl --change index --change index,balance
  kitescope replay plot before.json after.json --kind qps --out qps.svg`,
		Args: cli.NoCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		replayInfo(a), replayRun(a), replaySweep(a), replayWhatIf(a), replaySample(a), replayCapture(a),
		replayShow(a), replayPlot(a), replayReport(a),
	)
	return cmd
}
