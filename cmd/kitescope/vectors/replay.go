// Package vectors has the commands about vector indexes: "engine", which opens an index and searches it, and "replay", which asks the
// queries of a log of a cluster's segments, of a server, or of a cluster that does not exist yet. What enters is a cli.App and the
// words of a command line; the work is done by engine/target, replay and replay/whatif.
package vectors

import (
	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
)

// Commands are engine and replay, with what is below them.
func Commands() []cli.Entry {
	return []cli.Entry{
		{Name: "engine", Short: "The query engine: open, build, search, verify and time index files", Group: cli.GroupEngine, Build: engineCommand, Below: engineCommands()},
		{Name: "replay", Short: "Ask a query load of a cluster's own segments, and of the cluster it could be", Group: cli.GroupEngine, Build: replayCommand, Below: replayCommands()},
	}
}

// replayCommand is "replay" with its subcommands.
func replayCommand(*cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "replay",
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
  kitescope replay run docs --queries queries.jsonl --ef 64 -O before.json
  kitescope replay whatif docs --queries queries.jsonl --change index --change index,balance
  kitescope replay plot before.json after.json --kind qps --out qps.svg`,
	}
}

// replayCommands are the commands below it.
func replayCommands() []cli.Entry {
	return []cli.Entry{
		{Name: "info", Short: "What would be replayed: segments, states, nodes, files, what is missing", Build: replayInfo},
		{Name: "run", Short: "Recall, latency, and where the time goes: by segment, state, index, node", Build: replayRun},
		{Name: "sweep", Short: "QPS by concurrency and recall against QPS: all combinations of sessions, rates and ef", Build: replaySweep},
		{Name: "whatif", Short: "What the same queries would do on another cluster, and how sure that is", Build: replayWhatIf},
		{Name: "sample", Short: "Draw queries from a collection's own vectors, with a stated noise", Build: replaySample},
		{Name: "capture", Short: "Rate and shape of a load, from a Milvus proxy's access log", Build: replayCapture},
		{Name: "show", Short: "A saved result or prediction again, or beside an earlier one", Build: replayShow},
		{Name: "plot", Short: "Pictures of results: QPS by concurrency, recall, latency, cost, before and after", Build: replayPlot},
		{Name: "report", Short: "Results and a prediction as one HTML page, pictures included", Build: replayReport},
	}
}
