package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
)

// helpMetrics is the text of "kitescope metrics --help".
const helpMetrics = `Show the raw /metrics of all processes: the newest values, and rates between two
scrapes.

NODE is a session (querynode-13), a role (querynode) or an id (13). NAME is part of
a metric's name, Milvus's (sq_latency) or ours (task_queue); with * it is the
whole name. Other words are selectors: 'per_second>10', labels.query_type=search.

A live cluster is queried twice, --window apart. For a file, a recording or /metrics
texts (--runtime FOLDER, no --from needed) rates are between two scrapes of a
process, or else since it started. Means and quantiles are intervals, as wide as
Milvus's buckets. "kitescope get metrics --help" lists the columns.`

func metricsCommand(a *cli.App) *cobra.Command {
	var f getFlags
	var where []string
	cmd := &cobra.Command{
		Use:  "metrics [NODE...] [NAME...]",
		Long: helpMetrics,
		Example: `  kitescope metrics querynode-13 sq_ --from etcd://10.0.0.5:2379
  kitescope metrics querynode task_queue consistency_wait --sort -mean_high
  kitescope metrics --where 'per_second>0' --sort -per_second -n 20
  kitescope metrics proxy --runtime metrics/`,
		Args: cobra.ArbitraryArgs,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			return a.CompleteGet(cmd, append([]string{"metrics"}, args...), word)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), a, slices.Concat([]string{"metrics"}, metricWords(args), where))
		},
	}
	fl := cmd.Flags()
	f.register(cmd, "-per_second,metric", "metric,value; +means")
	fl.StringArrayVar(&where, "where", nil, "only rows that match: 'per_second>0'; repeatable")
	fl.BoolVarP(&f.watch, "watch", "w", false, "show changes until interrupted (live sources)")
	a.AddAt(cmd)
	f.nodes = cli.AddNodeFlags(cmd, true)
	return cmd
}

// isNode matches a session (querynode-13), a role (querynode) or an id (13).
var isNode = regexp.MustCompile(
	`^(proxy|querynode|datanode|indexnode|streamingnode|(?:root|data|query|index|mix)coord)?(-?[0-9]+)?$`,
)

// metricWords converts node and metric names to selector words. Several nodes are alternatives, and so are
// several names.
func metricWords(args []string) []string {
	var words, nodes []string
	for _, arg := range args {
		m := isNode.FindStringSubmatch(strings.ToLower(arg))
		switch {
		case arg == "":
			words = append(words, arg)
		case m != nil && m[1] != "" && (m[2] == "" || m[2][0] == '-'):
			nodes = append(nodes, m[1]+"-"+strings.TrimPrefix(m[2], "-")+map[bool]string{true: ".*"}[m[2] == ""])
		case m != nil && m[1] == "" && m[2][0] != '-':
			nodes = append(nodes, ".*-"+m[2])
		case strings.ContainsAny(arg, "=<>~!*"):
			words = append(words, arg)
		default:
			words = append(words, "*"+arg+"*")
		}
	}
	if len(nodes) > 0 {
		words = append(words, "nodes~^("+strings.Join(nodes, "|")+")$")
	}
	return words
}
