package facts

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/model"
)

// difference is a key whose value on one process differs from the usual value. Key is written as processes name it.
type difference struct{ Key, Value, Usual string }

// Drift holds the differences of one process from most of its peers. Undecided is set if another value is as
// common as the usual one, so that it is unknown which value is right.
type Drift struct {
	Keys      []difference
	Peers     []*model.LiveNode
	Undecided bool
}

// findDrifts compares the processes of each role, and all processes in the keys that every role reads.
func findDrifts(r *model.Runtime) map[*model.LiveNode]*Drift {
	byRole := make(map[string][]*model.LiveNode)
	var all []*model.LiveNode
	addresses := make(map[string]bool)
	for _, n := range r.Nodes {
		if n.Config == nil {
			continue
		}
		byRole[n.Role] = append(byRole[n.Role], n)
		if !addresses[n.Address] { // several roles of one process report the same values
			addresses[n.Address] = true
			all = append(all, n)
		}
	}
	found := make(map[*model.LiveNode]*Drift)
	for _, nodes := range byRole {
		for _, peers := range ByVersion(nodes) {
			compareConfigs(peers, func(key string) bool { return !SharedKey(key) }, found)
		}
	}
	for _, peers := range ByVersion(all) {
		compareConfigs(peers, SharedKey, found)
	}
	return found
}

// Without returns the drift in keys other than those configured, nil if there is none.
func (d *Drift) Without(configured map[string]bool) *Drift {
	if d == nil {
		return nil
	}
	rest := *d
	rest.Keys = slices.DeleteFunc(slices.Clone(d.Keys), func(x difference) bool {
		return configured[model.FoldConfigKey(x.Key)]
	})
	if len(rest.Keys) == 0 {
		return nil
	}
	return &rest
}

// compareConfigs records, key by key, the processes whose value differs from the most common one.
func compareConfigs(nodes []*model.LiveNode, wanted func(string) bool, found map[*model.LiveNode]*Drift) {
	if len(nodes) < 2 {
		return
	}
	keys := make(map[string]bool) // the value is whether to compare the key
	for _, n := range nodes {
		for key := range n.Config.Values {
			if _, known := keys[key]; !known {
				keys[key] = wanted(key) && !perProcessKey(key) && !(n.Role == "mixcoord" && reportedByName(key))
			}
		}
	}
	maps.DeleteFunc(keys, func(_ string, compared bool) bool { return !compared })
	oneRole := !slices.ContainsFunc(nodes, func(n *model.LiveNode) bool { return n.Role != nodes[0].Role })
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		compareKey(nodes, key, oneRole, found)
	}
}

// ByVersion groups processes by the version that they report. Processes that report none are taken to run the only
// version there is.
func ByVersion(nodes []*model.LiveNode) map[string][]*model.LiveNode {
	groups := make(map[string][]*model.LiveNode)
	for _, n := range nodes {
		groups[versionOf(n)] = append(groups[versionOf(n)], n)
	}
	if len(groups) == 2 && groups[""] != nil {
		return map[string][]*model.LiveNode{"": nodes}
	}
	return groups
}

// versionOf returns the version that a process reports, "" if it is unknown.
func versionOf(n *model.LiveNode) string {
	if n.System == nil {
		return ""
	}
	return strings.TrimPrefix(n.System.Version, "v")
}

// compareKey compares one key among processes of one version. If strict is set, a process that does not report the
// key differs from one that does.
func compareKey(nodes []*model.LiveNode, key string, strict bool, found map[*model.LiveNode]*Drift) {
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
			values[i] = Canonical(v)
		case strict:
			values[i] = notSet
		default:
			continue
		}
		counts[values[i]]++
		if usual == "" { // on a tie, the value of the first process wins
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
			d = &Drift{}
			found[n] = d
		}
		d.Undecided = d.Undecided || undecided
		d.Keys = append(d.Keys, difference{nameOfKey(nodes, key), values[i], usual})
		for j, peer := range nodes {
			if values[j] == usual && !slices.Contains(d.Peers, peer) {
				d.Peers = append(d.Peers, peer)
			}
		}
	}
}

// sameEverywhere reports whether all processes report the same value. This is the case for nearly all keys.
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

// nameOfKey returns the dotted name of a folded key, or the key itself if no process reports a name.
func nameOfKey(nodes []*model.LiveNode, key string) string {
	for _, n := range nodes {
		if name := n.Config.Name(key); name != key {
			return name
		}
	}
	return key
}

// Canonical returns the same text for equal values, e.g. 1 and 1.0, or true and True.
func Canonical(v string) string {
	v = strings.TrimSpace(v)
	if f, err := strconv.ParseFloat(v, 64); err == nil {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	if b, err := strconv.ParseBool(v); err == nil {
		return strconv.FormatBool(b)
	}
	return cmp.Or(v, `""`)
}

// notSet is the value of a key that a process does not report.
const notSet = "not set"

// SharedKey reports whether every role reads a folded key.
func SharedKey(key string) bool {
	return slices.ContainsFunc(sharedPrefixes(), func(prefix string) bool { return strings.HasPrefix(key, prefix) })
}

// sharedPrefixes returns the prefixes of keys that every role reads.
func sharedPrefixes() []string {
	return []string{"common", "quotaandlimits", "etcd", "minio", "kafka", "pulsar", "mq", "metastore", "rocksmq"}
}

// reportedByName reports whether a MixCoord reports a folded key only if it is requested by name. A standby MixCoord is
// not asked for it.
func reportedByName(key string) bool {
	return strings.HasPrefix(key, "datacoord") || strings.HasPrefix(key, "querycoord")
}

// perProcessKey reports whether a folded key normally differs between processes.
func perProcessKey(key string) bool {
	switch key {
	case "localstoragepath", "logfilerootpath", "etcddatadir", "etcdlogpath", "rocksmqpath", "commonmetricsport",
		"nodeid", "serverid", "hostname", "podname", "podip":
		return true
	}
	for _, suffix := range []string{"port", "ip", "alias"} {
		if role, ok := strings.CutSuffix(key, suffix); ok &&
			slices.Contains(roleKeys(), strings.TrimSuffix(role, "internal")) {
			return true
		}
	}
	return false
}

// roleKeys returns the prefixes of keys that belong to a role.
func roleKeys() []string {
	return []string{
		"rootcoord", "datacoord", "querycoord", "indexcoord", "mixcoord", "proxy", "querynode", "datanode", "indexnode",
		"streamingnode",
	}
}
