package check

import (
	"fmt"
	"maps"
	"strings"

	"kitescope/inspect/model"
)

// ConfigDrift finds processes whose configuration is not that of their peers, or not that of etcd.
var ConfigDrift = &Check{
	ID:       "config-drift",
	Title:    "Configuration differs between processes, or from the dynamic keys in etcd",
	Severity: Warning,
	Since:    "0.3",
	Parts:    model.PartSessions,
	Needs:    NeedConfig,
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
	FollowsFrom: []Cause{{Check: "mixed-versions", Of: shares("nodes")}},
}

func runConfigDrift(p *Pass) error {
	p.unseenDynamic()
	var told []*model.LiveNode
	for _, n := range p.Runtime.Nodes {
		if n.Config == nil {
			p.unseenConfig(n)
		} else {
			told = append(told, n)
		}
	}
	if len(byVersion(told)) > 1 {
		p.Unseen("processes of different versions: their configurations are not compared with each other")
	}
	drifts := p.views.drifts()
	configured := p.configuredKeys()
	changed := p.changedKeys()
	maps.Copy(configured, changed)
	for _, n := range p.Runtime.Nodes {
		if d := drifts[n].without(configured); d != nil {
			p.reportDrift(n, d)
		}
	}
	for _, e := range p.Config {
		if !changed[model.FoldConfigKey(e.Name)] {
			p.judgeDynamic(e)
		}
	}
	return nil
}

// unseenConfig notes that a process did not tell its configuration, but for those that cannot: old versions,
// and proxies and streaming nodes, whose services have no such call (pkg/proto/proxy.proto and streaming.proto up
// to 2.6). The query node inside a streaming node tells it for both (internal/distributed/streamingnode/service.go).
func (p *Pass) unseenConfig(n *model.LiveNode) {
	if n.Outcome == model.Answered && (n.Role == "proxy" || n.Role == "streamingnode") {
		return
	}
	for _, c := range n.Calls {
		if c.Method == "ShowConfigurations" && c.Outcome == model.Unimplemented {
			return
		}
	}
	p.Unseen("configuration of " + n.Name() + ": " + why(n))
}

func (p *Pass) reportDrift(n *model.LiveNode, d *drift) {
	keys := make([]Evidence, len(d.keys))
	names := make([]string, len(d.keys))
	severity := Info
	for i, x := range d.keys {
		names[i] = properName(x.key)
		keys[i] = Evidence{names[i], fmt.Sprintf("%s, others: %s", x.value, x.usual), n.Name() + " ShowConfigurations"}
		if folded := model.FoldConfigKey(x.key); !strings.HasPrefix(folded, "log") && !strings.HasPrefix(folded, "grpclog") && !strings.HasPrefix(folded, "trace") {
			severity = Warning
		}
	}
	f := Finding{
		Severity: severity, Object: n.Ref(), Evidence: keys,
		Message: fmt.Sprintf("%s differs from %s in %s", n.Name(), liveNames(d.peers), few(names)),
		Impact:  "One process works differently from its peers, which shows only in some queries.",
		Hint:    advise("compare configuration file and environment of %s (%s) with those of %s, and restart it", n.Name(), n.Address, d.peers[0].Name()),
	}
	if d.undecided {
		f.Message = fmt.Sprintf("%s and %s differ in %s: as many have the one value as the other", n.Name(), liveNames(d.peers), few(names))
		f.Hint = advise("compare configuration file and environment of %s (%s) with those of %s, and restart the one that is not as it is meant", n.Name(), n.Address, d.peers[0].Name())
	}
	for _, peer := range d.peers[:min(len(d.peers), maxObjects)] {
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
