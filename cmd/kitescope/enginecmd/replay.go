// Package enginecmd implements the commands about vector indexes. "engine" opens an index and searches it.
// "replay" replays a log of queries on the segments of a cluster or on a server, and predicts its results on a
// changed cluster. The packages engine/target, replay and replay/whatif do the work.
package enginecmd

import (
	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
)

// Commands returns the commands "engine" and "replay" with their subcommands.
func Commands() []cli.Entry {
	return []cli.Entry{
		{
			Name: "engine", Short: "Query engine: open, build, search, verify and time index files",
			Group: cli.GroupEngine, Build: engineCommand, Subcommands: engineCommands(),
		},
		{
			Name: "replay", Short: "Replay queries on a cluster's own segments, and predict changes",
			Group: cli.GroupEngine, Build: replayCommand, Subcommands: replayCommands(),
		},
	}
}

// replayCommand returns the command "replay", without its subcommands.
func replayCommand(*cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "replay",
		Long: `Replay a log of queries on a cluster's own segments, read from storage, to find out
before touching production: is it the growing segments, the imbalance, the index, the
parameters, or the machine? And by how much?

Segments come from --from (live, or any file kitescope reads), their files from
--storage. Nothing is written to a cluster. With --target the same queries go to a
real Milvus, PostgreSQL with pgvector, OpenSearch or MariaDB, and the answers are
compared with the engine's.`,
		Example: `  kitescope replay info docs --from etcd://10.0.0.5:2379
  kitescope replay sample docs --count 1000 --out queries.jsonl
  kitescope replay run docs --queries queries.jsonl --ef 64 -O before.json
  kitescope replay whatif docs --queries queries.jsonl --change index,balance
  kitescope replay plot before.json after.json --kind qps --out qps.svg`,
	}
}

// replayCommands returns the subcommands of "replay".
func replayCommands() []cli.Entry {
	return []cli.Entry{
		{Name: "info", Short: "Show what would be replayed: segments, states, nodes, files", Build: replayInfo},
		{Name: "run", Short: "Measure recall, latency and cost by segment, state, index, node", Build: replayRun},
		{Name: "sweep", Short: "Measure all combinations of sessions, rates and ef", Build: replaySweep},
		{Name: "whatif", Short: "Predict the queries on a changed cluster, with the accuracy", Build: replayWhatIf},
		{
			Name: "sample", Short: "Draw queries from a collection's own vectors, with a stated noise",
			Build: replaySample,
		},
		{
			Name: "capture", Short: "Extract rate and shape of a load from a Milvus proxy's access log",
			Build: replayCapture,
		},
		{
			Name: "show", Short: "Show a saved result or prediction, or compare it with an earlier one",
			Build: replayShow,
		},
		{Name: "plot", Short: "Plot results: QPS by concurrency, recall, latency, cost", Build: replayPlot},
		{Name: "report", Short: "Write results and a prediction as one HTML page, with plots", Build: replayReport},
	}
}
