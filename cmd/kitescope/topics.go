package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
)

// helpTopics are texts of "kitescope help TOPIC".
func helpTopics(a *cli.App, root *cobra.Command) []*cobra.Command {
	flags := &cobra.Command{Use: "flags", Short: "Flags of every command"}
	flags.SetHelpFunc(func(*cobra.Command, []string) { _, _ = io.WriteString(a.Out, cli.EveryFlag(root)) })
	return []*cobra.Command{
		{Use: "exit-codes", Short: "What the exit codes mean", Long: helpExitCodes()},
		{Use: "sources", Short: "What --from reads", Long: helpSources},
		{Use: "processes", Short: "How the cluster's processes are asked", Long: helpProcesses},
		{Use: "selectors", Short: "How to choose rows", Long: helpSelectors},
		{Use: "output", Short: "Formats of -o", Long: helpOutput},
		{Use: "themes", Short: "Colours of the terminal UI", Long: helpThemes},
		{Use: "environment", Short: "Environment variables", Long: helpEnvironment},
		flags,
	}
}

// helpExitCodes is the table of exit codes as text.
func helpExitCodes() string {
	var b strings.Builder
	b.WriteString("Exit codes:\n")
	for _, x := range cli.ExitCodes() {
		fmt.Fprintf(&b, "\n  %-4d %s", x.Code, x.Meaning)
		for _, of := range x.Of {
			fmt.Fprintf(&b, "\n         %-17s %s", of[0], of[1])
		}
	}
	return b.String()
}

const helpSources = `--from reads any of these; which one it is, is found by itself:

  etcd://host:port[,host:port][/root]   a live etcd; all is read at one revision
  etcds://...                           the same over TLS (--ca, --cert, --key, --server-name, --insecure)
  FILE                                  an etcd snapshot (etcdctl snapshot save) or a member's db,
                                        a birdwatcher backup (.bak.gz), a bundle (kitescope snapshot save);
                                        gzipped or not
  -                                     any such file from standard input

Ages in a file count to when it was taken, which snapshots and bundles say themselves. A backup does
not: its date is believed if the newest checkpoint in it is of the same two minutes. That of a copy is
not, and ages are then "?".

The root path (Milvus's etcd.rootPath, such as by-dev) is found by itself. Where
there are several, --root chooses. An etcd with access control needs --user and a
password from KITESCOPE_ETCD_PASSWORD, --password-file or a prompt; a role that
may read the root's prefix is enough. A damaged file is refused; --salvage reads
what is left of it.`

const helpProcesses = `etcd says what should be; only the processes say what is. The UI, balance, diagnose
and profile ask them on a live cluster; get, describe, tree, overview and snapshot
save do with --live (and get where a selector or --columns names what only they know).

Whom to ask is in etcd: the sessions. Each process has --node-timeout (5s) for all
that it is asked, and all are asked at once; one that is dead costs its own row.
What was not answered is unknown: "?" in tables, and "kitescope get calls" says why.

  --map 10.2.0.7=localhost:30007    an address as it is reached from here; a host alone keeps
                                    the ports: --map 10.2.0.7=bastion
  --proxy socks5://localhost:1080   or http://host:port, for all processes
  --milvus-tls, --milvus-ca FILE    where processes speak TLS to each other
  --milvus-user NAME                with KITESCOPE_MILVUS_PASSWORD, or KITESCOPE_MILVUS_TOKEN alone
  --metrics-port PORT               only where a process does not tell its own

  --runtime FILE                    no questions: a recording of answers (JSON lines), the text of
                                    a process's /metrics, or a folder of those; repeatable
  snapshot save --live FILE         keeps the answers in the bundle, redacted

A context keeps --map, --proxy, TLS and user under "nodes:" in the configuration file.
Only questions are asked: nothing on a cluster is ever changed.`

const helpSelectors = `Words behind "get RESOURCE" choose rows; all of them must hold:

  coll=docs                    equal; names of columns have short forms
  state=growing,sealed         any of
  state!=Dropped               not equal
  rows>1e6  size>=1GiB         numbers, sizes
  checkpoint_age>5m            durations
  created_at<2026-11-01        times
  name~^docs_                  regular expression; !~ for its opposite
  watcher=                     has no value
  params.M=16                  one entry of pairs
  findings>0  worst=error      what checks find, as diagnose judges: all is read then
  docs*                        a bare word is a name or an id; * matches anything,
                               !docs excludes, several words are alternatives
  docs/_default                a name inside a collection

States, types and roles are found in any case, names as they are written.

"kitescope get RESOURCE --help" lists the columns of a resource.`

const helpOutput = `-o chooses the format; data goes to standard output, everything else to standard error:

  table       aligned columns that fit the terminal (default)
  wide        all columns for people, and FINDINGS: what checks find about each row
  json        {"apiVersion":"kitescope/v1","kind":"SegmentList","source":{...},"items":[...]}
  jsonl       one item a line
  yaml, csv   the same items
  name        resource/id, one a line
  template=T  a Go template: -o 'template={{range .items}}{{.id}} {{.rows}}{{"\n"}}{{end}}'
  markdown    a table for tickets and pull requests
  html        one page to keep or mail

For people (table, wide, markdown, html) dropped segments are left out unless --all or a
selector asks for them; every other format has them. Where a terminal is narrow, columns
that are the same in every row go first, and standard error says which are hidden.

Reports (diagnose, balance, profile top, replay, ...) have them too, but for name, which only get has. Their
--where, --sort, --columns and -n choose rows and columns, as get does.
diagnose also writes junit and sarif; see "kitescope diagnose --help".

Ids are strings (they exceed what a double holds), times RFC 3339 in UTC, sizes
bytes. docs/JSON.md documents every key; keys are only ever added.`

const helpThemes = `--theme takes a name (auto, terminal, dark, light, mono) or a YAML file. auto follows
the terminal's background. A file starts from a built-in theme and says what differs:

  name: amber
  base: dark
  styles:
    accent:   {foreground: "#ffbf00", bold: true}
    selected: {reverse: true}

Roles: plain, dim, title, accent, good, progress, warn, bad, added, removed, changed,
selected, more, less. A style has foreground and background ("#rrggbb" or 0 to 255), bold, faint
and reverse.`

const helpEnvironment = `Which cluster, and as whom:

  KITESCOPE_FROM           as --from
  KITESCOPE_CONTEXT        as --context
  KITESCOPE_ROOT           as --root
  KITESCOPE_CONFIG         the file of contexts and preferences; default: kitescope/config.yaml in
                           the user's configuration folder (XDG_CONFIG_HOME, where that is set)
  KITESCOPE_ETCD_USER      as --user
  KITESCOPE_ETCD_PASSWORD  the etcd password

Passwords and tokens of others; none of them is ever taken from a flag:

  KITESCOPE_MILVUS_PASSWORD, KITESCOPE_MILVUS_TOKEN
                           of the processes (--milvus-user), and of a Milvus that replay asks
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
  TERM                     dumb: no colour, no progress, no UI; linux: signs that its font has
  LC_ALL, LC_CTYPE, LANG   the first that is set says whether a terminal has UTF-8; if not, ASCII
  TMUX, WAYLAND_DISPLAY, DISPLAY, WSL_DISTRO_NAME, SSH_CONNECTION
                           which clipboard is yours (kitescope config, docs/reference/config.md)

The process:

  GOGC                     how much garbage may lie before it is collected, in percent of what is
                           in use, as of any Go program; kitescope chooses where it is not set

Flags come before the environment, the environment before the context's file.`
