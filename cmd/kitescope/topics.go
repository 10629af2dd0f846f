package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kitescope/cmd/kitescope/cli"
	"kitescope/cmd/kitescope/pgocmd"
	"kitescope/replay/live"
	"kitescope/replay/whatif"
)

// helpTopics returns a command for each topic of "kitescope help TOPIC".
func helpTopics(a *cli.App, tree *cli.Tree) []*cobra.Command {
	connection := &cobra.Command{Use: "connection", Short: "Flags that most commands have: cluster, etcd, processes"}
	connection.SetHelpFunc(func(*cobra.Command, []string) {
		of := &cobra.Command{}
		cli.AddNodeFlags(of, true)
		of.Flags().AddFlagSet(tree.Root.PersistentFlags())
		_, _ = io.WriteString(a.Out, cli.ExplainFlags(of.Flags(), a.HelpWidth(), cli.ConnectionSections()...))
	})
	more := func(name, intro, group string, commands ...string) *cobra.Command {
		topic := &cobra.Command{Use: name, Short: "More flags of " + group + " " + strings.Join(commands, ", ")}
		topic.SetHelpFunc(func(*cobra.Command, []string) {
			all := pflag.NewFlagSet("", pflag.ContinueOnError)
			for _, name := range commands {
				cmd, _, _ := tree.Find([]string{group, name})
				all.AddFlagSet(cmd.Flags())
			}
			_, _ = io.WriteString(a.Out, intro+cli.ExplainFlags(all, a.HelpWidth(), name))
		})
		return topic
	}
	var changes strings.Builder
	words, docs := whatif.Words()
	for i, word := range words {
		fmt.Fprintf(&changes, "  %-38s  %s\n", word, docs[i])
	}
	return []*cobra.Command{
		connection,
		{Use: "exit-codes", Short: "What the exit codes mean", Long: helpExitCodes()},
		{Use: "sources", Short: "What --from reads", Long: helpSources},
		{Use: "processes", Short: "How kitescope queries the cluster's processes", Long: helpProcesses},
		{Use: "selectors", Short: "How to choose rows", Long: helpSelectors},
		{Use: "output", Short: "Formats of -o", Long: helpOutput},
		{Use: "environment", Short: "Environment variables", Long: helpEnvironment},
		{Use: "resources", Short: "What get lists", Long: "Resources of kitescope get:\n\n" + resourceList()},
		{Use: "benchmarks", Short: "What compare reads", Long: helpBenchmarks + pgocmd.FormatDoc()},
		{Use: "changes", Short: "Words of replay whatif --change", Long: helpChanges + changes.String()},
		more(cli.SectionReplay, "--target is one of:\n\n  "+strings.Join(live.Shapes(), "\n  ")+"\n\n", "replay", "run",
			"whatif"),
		more(cli.SectionTrial, "", "pgo", "trial"),
	}
}

// helpExitCodes returns the table of exit codes as text.
func helpExitCodes() string {
	var b strings.Builder
	b.WriteString("Exit codes:\n")
	for _, x := range cli.ExitCodes() {
		fmt.Fprintf(&b, "\n  %-4d %s", x.Code, x.Meaning)
		for _, of := range x.ByCommand {
			fmt.Fprintf(&b, "\n         %-17s %s", of[0], of[1])
		}
	}
	return b.String()
}

const helpSources = `--from reads any of these; the kind is detected:

  etcd://host:port[,host:port][/root]   a live etcd; everything is read at one revision
  etcds://...                           the same over TLS (--ca, --cert, --key, --server-name, --insecure)
  FILE                                  an etcd snapshot (etcdctl snapshot save) or a member's db,
                                        a birdwatcher backup (.bak.gz), a bundle (kitescope snapshot save);
                                        gzipped or not
  -                                     any such file from standard input

A context stores a source and how to reach it: kitescope context add --help.

--storage, the place of segment files, is a folder, a tar archive, or
s3://BUCKET/PREFIX?endpoint=HOST:PORT&tls=false, with keys in
KITESCOPE_STORAGE_ACCESS_KEY and KITESCOPE_STORAGE_SECRET_KEY, or AWS's. replay finds
it in the cluster's configuration; diagnose reads at most 1,000 folders, for 30 s.

Ages in a file count up to when it was taken, which snapshots and bundles record. For a backup the
file's date is used if the newest checkpoint in it is within two minutes; otherwise (a copy) ages are
"?".

The root path (Milvus's etcd.rootPath, such as by-dev) is detected. If there are
several, choose with --root. An etcd with access control needs --user and a
password from KITESCOPE_ETCD_PASSWORD, --password-file or a prompt; a role that
may read the root's prefix is enough. A damaged file is rejected; --salvage reads
what it can.`

const helpProcesses = `etcd has the desired state; only the processes know the actual one. On a live cluster
most commands query them, unless --live=false; get, tree and snapshot save do with --live
(and get if a selector or --columns needs it).

The sessions in etcd list the processes. All are queried in parallel, each within
--node-timeout (5s); a dead one costs only its own row. Missing answers are "?" in
tables; "kitescope get calls" has the reason.

  --map 10.2.0.7=localhost:30007    map an address to one reachable from here; a host alone
                                    keeps the ports: --map 10.2.0.7=bastion
  --proxy socks5://localhost:1080   or http://host:port, for all processes
  --milvus-tls, --milvus-ca FILE    if processes use TLS with each other
  --milvus-user NAME                with KITESCOPE_MILVUS_PASSWORD, or KITESCOPE_MILVUS_TOKEN alone
  --metrics-port PORT               only if a process does not report its own

  --runtime FILE                    do not query: read a recording of answers (JSON lines), the text
                                    of a process's /metrics, or a folder of those; repeatable
  snapshot save --live FILE         keeps the answers in the bundle, redacted

A context stores --map, --proxy, TLS and user under "nodes:" in the configuration file.
All calls are read-only: nothing on a cluster is ever changed.`

const helpChanges = `Words of replay whatif --change, in the order in which they are applied, however they
are written: scale=1e5,segment-rows=500k makes a billion rows from ten thousand, in
segments of 500,000. A word without effect is an error.

`

const helpBenchmarks = `Results that kitescope compare reads. In a folder each file is a run, and so is each
subfolder with all its files. Files of one run are matched by name, without the words
for programs and file types: ab-3.txt, vmstat-3.log and 3.perf.csv are run 3.

`

const helpSelectors = `Arguments after "get RESOURCE" select rows; all must match:

  coll=docs                    equal; columns are named as in --help, or by their header:
                               deleted_rows>0, deletes>0; "served by=13", served_by=13
  state=growing,sealed         any of
  state!=Dropped               not equal
  rows>1e6  size>=1GiB         numbers, sizes; as tables show them, too: rows=2,006, size=1.2MiB
                               (one number; "rows=2, 600" is either of two)
  checkpoint_age>5m            durations
  created_at<2026-11-01        times
  name~^docs_                  regular expression; !~ for its opposite
  served_by=querynode-19       a node, by name or id (served_by=19)
  watcher=                     no value
  params.M=16                  one entry of a map
  findings>0  worst=error      findings of diagnose (reads everything)
  docs*                        a bare word is a name or id; * matches anything, !docs
                               excludes, several words are alternatives
  docs/_default                a name inside a collection

States, types and roles ignore case; names do not.

"kitescope get RESOURCE --help" lists the columns of a resource.`

const helpOutput = `-o chooses the format; data goes to standard output, everything else to standard error:

  table       aligned columns that fit the terminal; of reports also sentences (default)
  wide        all human-readable columns, and all evidence
  json        one object: apiVersion, kind, source, items
  jsonl       one item per line
  yaml, csv   the same items; csv as in RFC 4180
  name        resource/id, one per line
  template=T  a Go template over the object that json prints
  markdown    for tickets and pull requests
  html        a self-contained page

  kitescope get segments -o 'template={{range .items}}{{.id}} {{.rows}}{{"\n"}}{{end}}'

All formats have the same rows: dropped segments and collections are left out unless --all
or a selector asks for them; stderr reports how many. On a narrow terminal, tables hide the least
important columns; stderr lists them.

Reports (diagnose, balance, profile top, replay, ...) have them too, except name. Their
--where, --sort, --columns and -n select rows and columns, like get.

Ids are strings (they exceed the precision of a double), times RFC 3339 in UTC, sizes
bytes. docs/reference/json.md documents every key; keys are only ever added.`

const helpEnvironment = `Cluster and user:

  KITESCOPE_FROM           as --from
  KITESCOPE_CONTEXT        as --context
  KITESCOPE_ROOT           as --root
  KITESCOPE_CONFIG         the file of contexts and preferences; default: kitescope/config.yaml in
                           the user's configuration folder (XDG_CONFIG_HOME, where that is set)
  KITESCOPE_ETCD_USER      as --user
  KITESCOPE_ETCD_PASSWORD  the etcd password

Other passwords and tokens; flags never take them:

  KITESCOPE_MILVUS_PASSWORD, KITESCOPE_MILVUS_TOKEN
                           of the processes (--milvus-user), and of a Milvus that replay queries
  KITESCOPE_PROMETHEUS_TOKEN
                           bearer token of --prometheus
  KITESCOPE_PROFILE_PASSWORD, KITESCOPE_PROFILE_TOKEN
                           of the URLs of profile pull and watch: password of the user in a URL,
                           bearer token
  KITESCOPE_TARGET_PASSWORD
                           of replay --target
  KITESCOPE_STORAGE_ACCESS_KEY, KITESCOPE_STORAGE_SECRET_KEY, KITESCOPE_STORAGE_SESSION_TOKEN
                           keys of s3:// (--storage); else
  AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN

The terminal:

  NO_COLOR                 no colour
  TERM                     dumb: no colour, no progress, no UI; linux: only glyphs in its font
  LC_ALL, LC_CTYPE, LANG   the first that is set decides whether a terminal has UTF-8; if not, ASCII

The process:

  GOGC                     Go's garbage collection target in percent; kitescope chooses if unset

Flags override the environment, the environment overrides the contexts file.`
