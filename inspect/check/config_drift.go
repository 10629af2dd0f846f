package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
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

// sharedPrefixes are those of keys that every role reads.
func sharedPrefixes() []string {
	return []string{"common", "quotaandlimits", "etcd", "minio", "kafka", "pulsar", "mq", "metastore", "rocksmq"}
}

// ownKey reports whether a folded key is naturally each process's own.
func ownKey(key string) bool {
	switch key {
	case "localstoragepath", "logfilerootpath", "etcddatadir", "etcdlogpath", "rocksmqpath", "commonmetricsport", "nodeid", "serverid", "hostname", "podname", "podip":
		return true
	}
	for _, suffix := range []string{"port", "ip", "alias"} {
		if role, ok := strings.CutSuffix(key, suffix); ok && slices.Contains(roleKeys(), strings.TrimSuffix(role, "internal")) {
			return true
		}
	}
	return false
}

// roleKeys are the prefixes of keys that belong to a role.
func roleKeys() []string {
	return []string{"rootcoord", "datacoord", "querycoord", "indexcoord", "mixcoord", "proxy", "querynode", "datanode", "indexnode", "streamingnode"}
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
	drifts := p.shared.views.drifts()
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

// findDrifts compares the processes of each role, and all of them in what every role reads.
func findDrifts(r *model.Runtime) map[*model.LiveNode]*drift {
	byRole := make(map[string][]*model.LiveNode)
	var all []*model.LiveNode
	addresses := make(map[string]bool)
	for _, n := range r.Nodes {
		if n.Config == nil {
			continue
		}
		byRole[n.Role] = append(byRole[n.Role], n)
		if !addresses[n.Address] { // several roles of one process tell the same
			addresses[n.Address] = true
			all = append(all, n)
		}
	}
	found := make(map[*model.LiveNode]*drift)
	for _, nodes := range byRole {
		for _, peers := range byVersion(nodes) {
			compareConfigs(peers, func(key string) bool { return !sharedKey(key) }, found)
		}
	}
	for _, peers := range byVersion(all) {
		compareConfigs(peers, sharedKey, found)
	}
	return found
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

func sharedKey(key string) bool {
	return slices.ContainsFunc(sharedPrefixes(), func(prefix string) bool { return strings.HasPrefix(key, prefix) })
}

// drift is how one process differs from most, or from as many others as there are like it: then nobody knows who is right.
type drift struct {
	keys      []Evidence
	peers     []*model.LiveNode
	undecided bool
}

// without is the drift in other keys, nil if there is none.
func (d *drift) without(configured map[string]bool) *drift {
	if d == nil {
		return nil
	}
	rest := *d
	rest.keys = slices.DeleteFunc(slices.Clone(d.keys), func(e Evidence) bool { return configured[model.FoldConfigKey(e.Name)] })
	if len(rest.keys) == 0 {
		return nil
	}
	return &rest
}

// notSet stands for the value of a key that a process does not tell.
const notSet = "not set"

// compareConfigs finds, key by key, the processes that differ from the value that most have.
func compareConfigs(nodes []*model.LiveNode, wanted func(string) bool, found map[*model.LiveNode]*drift) {
	if len(nodes) < 2 {
		return
	}
	keys := make(map[string]bool) // whether each is to be compared
	for _, n := range nodes {
		for key := range n.Config.Values {
			if _, known := keys[key]; !known {
				keys[key] = wanted(key) && !ownKey(key)
			}
		}
	}
	maps.DeleteFunc(keys, func(_ string, compared bool) bool { return !compared })
	oneRole := !slices.ContainsFunc(nodes, func(n *model.LiveNode) bool { return n.Role != nodes[0].Role })
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		compareKey(nodes, key, oneRole, found)
	}
}

// byVersion groups processes by the version that they say. Those that say none are taken to be of the only one there is.
func byVersion(nodes []*model.LiveNode) map[string][]*model.LiveNode {
	groups := make(map[string][]*model.LiveNode)
	for _, n := range nodes {
		groups[versionOf(n)] = append(groups[versionOf(n)], n)
	}
	if len(groups) == 2 && groups[""] != nil {
		return map[string][]*model.LiveNode{"": nodes}
	}
	return groups
}

// versionOf is the version that a process says, "" if it is unknown.
func versionOf(n *model.LiveNode) string {
	if n.System == nil {
		return ""
	}
	return strings.TrimPrefix(n.System.Version, "v")
}

// compareKey compares one key among processes of one version. strict: a process that does not tell it differs from one that does.
func compareKey(nodes []*model.LiveNode, key string, strict bool, found map[*model.LiveNode]*drift) {
	if sameEverywhere(nodes, key, strict) {
		return
	}
	counts := make(map[string]int)
	values := make([]string, len(nodes))
	usual := ""
	for i, n := range nodes {
		v, ok := n.Config.Values[key]
		switch {
		case ok:
			values[i] = canonical(v)
		case strict:
			values[i] = notSet
		default:
			continue
		}
		counts[values[i]]++
		if usual == "" { // of equals, what the first process has
			usual = values[i]
		}
	}
	for _, v := range slices.Sorted(maps.Keys(counts)) {
		if counts[v] > counts[usual] {
			usual = v
		}
	}
	if len(counts) < 2 {
		return
	}
	undecided := false
	for v, n := range counts {
		undecided = undecided || v != usual && n == counts[usual]
	}
	for i, n := range nodes {
		if values[i] == "" || values[i] == usual {
			continue
		}
		d := found[n]
		if d == nil {
			d = &drift{}
			found[n] = d
		}
		d.undecided = d.undecided || undecided
		d.keys = append(d.keys, Evidence{nameOfKey(nodes, key), fmt.Sprintf("%s, others: %s", values[i], usual), n.Name() + " ShowConfigurations"})
		for j, peer := range nodes {
			if values[j] == usual && !slices.Contains(d.peers, peer) {
				d.peers = append(d.peers, peer)
			}
		}
	}
}

// sameEverywhere reports whether all processes tell the same: nearly all keys.
func sameEverywhere(nodes []*model.LiveNode, key string, strict bool) bool {
	first, told := "", false
	for i, n := range nodes {
		v, ok := n.Config.Values[key]
		switch {
		case ok && !told:
			if first, told = v, true; strict && i > 0 {
				return false
			}
		case ok && v != first || !ok && strict && told:
			return false
		}
	}
	return true
}

// nameOfKey is the dotted name of a folded key, as far as any of the processes tells it.
func nameOfKey(nodes []*model.LiveNode, key string) string {
	for _, t := range toggles() { // processes tell names in lower case
		if model.FoldConfigKey(t.key) == key {
			return t.key
		}
	}
	for _, n := range nodes {
		if name := n.Config.Name(key); name != key {
			return name
		}
	}
	return key
}

// canonical writes equal values the same: 1 and 1.0, true and True.
func canonical(v string) string {
	v = strings.TrimSpace(v)
	if f, err := strconv.ParseFloat(v, 64); err == nil {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	if b, err := strconv.ParseBool(v); err == nil {
		return strconv.FormatBool(b)
	}
	return cmp.Or(v, `""`)
}

func (p *Pass) reportDrift(n *model.LiveNode, d *drift) {
	names := make([]string, len(d.keys))
	severity := Info
	for i, e := range d.keys {
		names[i] = e.Name
		if folded := model.FoldConfigKey(e.Name); !strings.HasPrefix(folded, "log") && !strings.HasPrefix(folded, "grpclog") && !strings.HasPrefix(folded, "trace") {
			severity = Warning
		}
	}
	f := Finding{
		Severity: severity, Object: n.Ref(), Evidence: slices.Clone(d.keys),
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

func liveNames(list []*model.LiveNode) string {
	names := make([]string, len(list))
	for i, n := range list {
		names[i] = n.Name()
	}
	return few(names)
}
