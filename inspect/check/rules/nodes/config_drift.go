package nodes

import (
	"fmt"
	"maps"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/words"
)

// configDrift finds processes whose configuration is not that of their peers, or not that of etcd.
var configDrift = &check.Check{
	ID:       "config-drift",
	Title:    "Configuration differs between processes, or from the dynamic keys in etcd",
	Severity: check.Warning,
	Since:    "0.3",
	Parts:    model.PartSessions,
	Needs:    check.NeedConfig,
	Doc: `Compares what the processes themselves say is their configuration (ShowConfigurations).

- Processes of one role have to agree on every key; keys that all roles share (` + "`common`, `quotaAndLimits`, `etcd`, `minio`, `kafka`, `pulsar`, `mq`" + `) have to
  be the same everywhere. The process that differs from most is the finding: a warning, or information if it differs only in logging. Where as many have the one value as the
  other nobody is blamed: both are named. A key that is set in etcd is judged by that alone.
- Dynamic keys (` + "`config/`" + ` in etcd) have to be what the processes of their role have. They take a key over within 8 seconds (measured), unless it is one that
  is read at the start only: what was set, altered or deleted in a live etcd within the last 10 seconds before they were asked is not judged yet. One that another value is told for is a warning; one that no process of its role tells is information: it may be misspelt. Keys of a role of which no process tells them are unknown: MixCoord (Milvus 2.6) tells those of RootCoord only.

Processes of different versions have different defaults: each is compared with those of its own version only.

Left out: what is naturally a process's own - ports, addresses, the metrics port, server ids, host names, and directories on its disk
(` + "`localStorage.path`, `log.file.rootPath`, `etcd.data.dir`, `etcd.log.path`, `rocksmq.path`" + `) - and secrets. A key that only some tell counts as different only
among processes of one role. Proxies up to 2.3 do not tell their configuration.`,
	Remedy: `Give all processes of a role the same configuration file and environment and restart the one that differs. A dynamic key that is not applied needs a restart too, or
another spelling: Milvus folds case, dots, slashes and underscores away.`,
	Run:         runConfigDrift,
	FollowsFrom: []check.Cause{{Check: "mixed-versions", Of: check.Shares("nodes")}},
}

func runConfigDrift(p *check.Pass) error {
	var told []*model.LiveNode
	for _, n := range p.Runtime.Nodes {
		if n.Config == nil {
			unseenConfig(p, n)
		} else {
			told = append(told, n)
		}
	}
	if len(facts.ByVersion(told)) > 1 {
		p.Unseen("processes of different versions: their configurations are not compared with each other")
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
	return nil
}

// unseenConfig notes that a process did not tell its configuration, but for those that cannot: old versions,
// and proxies and streaming nodes, whose services have no such call (pkg/proto/proxy.proto and streaming.proto up
// to 2.6). The query node inside a streaming node tells it for both (internal/distributed/streamingnode/service.go).
func unseenConfig(p *check.Pass, n *model.LiveNode) {
	if n.Outcome == model.Answered && (n.Role == "proxy" || n.Role == "streamingnode") {
		return
	}
	for _, c := range n.Calls {
		if c.Method == "ShowConfigurations" && c.Outcome == model.Unimplemented {
			return
		}
	}
	p.Unseen("configuration of " + n.Name() + ": " + facts.WhySilent(n))
}

func reportDrift(p *check.Pass, n *model.LiveNode, d *facts.Drift) {
	keys := make([]check.Evidence, len(d.Keys))
	names := make([]string, len(d.Keys))
	severity := check.Info
	for i, x := range d.Keys {
		names[i] = properName(x.Key)
		keys[i] = check.Fact(names[i], fmt.Sprintf("%s, others: %s", x.Value, x.Usual), n.Name()+" ShowConfigurations")
		if folded := model.FoldConfigKey(x.Key); !strings.HasPrefix(folded, "log") && !strings.HasPrefix(folded, "grpclog") && !strings.HasPrefix(folded, "trace") {
			severity = check.Warning
		}
	}
	f := check.Finding{
		Severity: severity, Object: n.Ref(), Evidence: keys,
		Message: fmt.Sprintf("%s differs from %s in %s", n.Name(), facts.LiveNames(d.Peers), words.Few(names)),
		Impact:  "One process works differently from its peers, which shows only in some queries.",
		Hint:    check.Advise("compare configuration file and environment of %s (%s) with those of %s, and restart it", n.Name(), n.Address, d.Peers[0].Name()),
	}
	if d.Undecided {
		f.Message = fmt.Sprintf("%s and %s differ in %s: as many have the one value as the other", n.Name(), facts.LiveNames(d.Peers), words.Few(names))
		f.Hint = check.Advise("compare configuration file and environment of %s (%s) with those of %s, and restart the one that is not as it is meant", n.Name(), n.Address, d.Peers[0].Name())
	}
	for _, peer := range d.Peers[:min(len(d.Peers), facts.MaxObjects)] {
		f.Objects = append(f.Objects, peer.Ref())
	}
	p.Report(f)
}

// properName is a key as configuration files write it, where it is a switch that is known: processes tell names in lower case.
func properName(key string) string {
	folded := model.FoldConfigKey(key)
	for _, t := range toggles() {
		if model.FoldConfigKey(t.key) == folded {
			return t.key
		}
	}
	return key
}
