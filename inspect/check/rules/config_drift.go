package rules

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// configDrift reports processes whose configuration differs from that of their peers or from etcd.
var configDrift = &check.Check{
	ID:       "config-drift",
	Title:    "Configuration differs between processes, or from the dynamic keys in etcd",
	Severity: check.Warning,
	Symptoms: []string{check.AfterUpgrade, check.AfterRestart},
	Starts:   "config_changed | node_joined",
	Parts:    model.PartSessions,
	Needs:    check.NeedConfig,
	Doc: `One query node was started with another configuration file than its peers. The check compares the
configuration that processes report (ShowConfigurations).

- Processes of one role must agree on every key. Keys shared by all roles (` + "`common`" + `, ` + "`quotaAndLimits`" +
		`,
  ` + "`etcd`" + `, ` + "`minio`" + `, ` + "`kafka`" + `, ` + "`pulsar`" + `, ` + "`mq`" +
		`) must be the same everywhere. The
  finding is about the process that differs from the majority: a warning, or info if it differs only in logging.
  Without a majority it names both sides and blames neither. A key that is set in etcd is compared with etcd only.
- Dynamic keys (` + "`config/`" + ` in etcd) must match the reports of processes of their role. Processes apply a key
  within 8 seconds (measured). Those that read it only at startup report the new value and run with the old one: a
  process that registered before the key was written (by etcd's revisions) is reported until it restarts. Not judged
  yet: keys set, changed or deleted in a live etcd in the last 10 seconds before the processes were queried. A
  different value is a warning. A key that no process of its role reports is info: it may be misspelled. If no process
  of a role reports its keys, they are unknown: MixCoord (Milvus 2.6) reports only RootCoord's.

Defaults differ between versions: each process is compared only with others of its version.

Not compared: values specific to a process (ports, addresses, the metrics port, server ids, host names, and local
directories: ` + "`localStorage.path`" + `, ` + "`log.file.rootPath`" + `, ` + "`etcd.data.dir`" + `,
` + "`etcd.log.path`" + `, ` + "`rocksmq.path`" + `) and secrets. A key that only some processes report counts as a
difference only among processes of one role. Proxies up to 2.3 do not report their configuration.`,
	Remedy: `Give all processes of a role the same configuration file and environment, and restart the one that
differs. If a dynamic key is not applied, restart the process or correct the spelling: Milvus ignores case, dots,
slashes and underscores in keys.`,
	Run:         runConfigDrift,
	FollowsFrom: []check.Cause{{Check: "mixed-versions", Applies: check.Shares("nodes")}},
}

func runConfigDrift(p *check.Pass) {
	var told []*model.LiveNode
	for _, n := range p.Runtime.Nodes {
		if n.Config == nil {
			noteUnseenConfig(p, n)
		} else {
			told = append(told, n)
		}
	}
	if len(facts.ByVersion(told)) > 1 {
		p.NoteUnseen("differences between processes of different versions: not compared")
	}
	drifts := p.Views.Drifts()
	configured := configuredKeys(p)
	changed := changedKeys(p)
	maps.Copy(configured, changed)
	for _, n := range p.Runtime.Nodes {
		if d := drifts[n].Without(configured); d != nil {
			reportDrift(p, n, d)
		}
	}
	for _, e := range p.Dynamic() {
		if !changed[model.FoldConfigKey(e.Name)] {
			judgeDynamic(p, e)
		}
	}
}

// noteUnseenConfig notes that a process did not report its configuration. It skips processes that cannot: old versions,
// and proxies and streaming nodes, whose services have no such call (pkg/proto/proxy.proto and streaming.proto up
// to 2.6). The query node inside a streaming node reports it for both
// (internal/distributed/streamingnode/service.go).
func noteUnseenConfig(p *check.Pass, n *model.LiveNode) {
	if n.Outcome == model.Answered && (n.Role == "proxy" || n.Role == "streamingnode") {
		return
	}
	for _, c := range n.Calls {
		if c.Method == "ShowConfigurations" && c.Outcome == model.Unimplemented {
			return
		}
	}
	p.NoteUnseen("configuration of " + n.Name() + ": " + facts.WhySilent(n))
}

func reportDrift(p *check.Pass, n *model.LiveNode, d *facts.Drift) {
	keys := make([]check.Evidence, len(d.Keys))
	names := make([]string, len(d.Keys))
	severity := check.Info
	for i, x := range d.Keys {
		names[i] = properName(x.Key)
		keys[i] = check.Fact(names[i], fmt.Sprintf("%s, others: %s", x.Value, x.Usual), n.Name()+" ShowConfigurations")
		if folded := model.FoldConfigKey(x.Key); !strings.HasPrefix(folded, "log") &&
			!strings.HasPrefix(folded, "grpclog") && !strings.HasPrefix(folded, "trace") {
			severity = check.Warning
		}
	}
	f := check.Finding{
		Severity: severity, Object: n.Ref(), Evidence: keys,
		Message: fmt.Sprintf("%s differs from %s in %s", n.Name(), facts.LiveNames(d.Peers), words.Summarize(names)),
		Impact:  "One process behaves differently from its peers; only some requests show it.",
		Fix: check.Fix(check.Do("give %s (%s) the configuration file and environment of %s, then restart it", n.Name(),
			n.Address, d.Peers[0].Name()).
			Restarting(p.Cluster, 2*time.Minute, n.Role)),
	}
	if d.Undecided {
		f.Message = fmt.Sprintf("%s and %s differ in %s, with no majority for either value", n.Name(),
			facts.LiveNames(d.Peers), words.Summarize(names))
		f.Fix = check.Fix(check.Do("compare the configuration file and environment of %s (%s) with those of %s, and "+
			"restart the wrong one with the intended values", n.Name(), n.Address, d.Peers[0].Name()).
			Restarting(p.Cluster, 2*time.Minute, n.Role))
	}
	f.Objects = append(f.Objects, facts.Refs(d.Peers, (*model.LiveNode).Ref)...)
	p.Report(f)
}

// properName returns a known switch as written in configuration files, because processes report names in lower
// case.
func properName(key string) string {
	folded := model.FoldConfigKey(key)
	for _, t := range toggles() {
		if model.FoldConfigKey(t.key) == folded {
			return t.key
		}
	}
	return key
}
