package preflight

import (
	"net"
	"slices"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

var order = rule{
	forward: true,
	Check: check.Check{
		ID:       "upgrade-order",
		Title:    "Components must be upgraded in this order",
		Severity: check.Warning,
		Parts:    model.PartSessions,
		Doc: `Lists the order of the registered processes, and roles that are added or removed:

- before 2.6: root, data, index and query coordinators, then index, data and query nodes, proxies last (docs of 2.3 to
  2.5, rolling upgrade).
- to 2.6: MixCoord replaces the coordinators, a streaming node is added, data nodes replace index nodes (docs of 2.6,
  What is new).
- from versions before 2.2.3 no rolling upgrade: stop all processes first (docs of 2.4, Upgrade Milvus Cluster).

Roles of one process (standalone) are replaced together. Covers the step to the first version of
` + "`upgrade-path`" + `.

Warning if roles change, versions are mixed or no rolling upgrade is possible; else info.`,
		Remedy: `Replace one role at a time. Wait until its processes are healthy.`,
	},
	run: runOrder,
}

func runOrder(p *check.Pass, plan Plan) {
	if !facts.Alive(p.Cluster) {
		p.Skip("no process is registered")
		return
	}
	next := plan.next()
	f := check.Finding{Severity: check.Info}
	for _, role := range roleOrder() {
		if list := facts.Processes(p.Cluster, role); len(list) > 0 {
			f.Evidence = append(f.Evidence, check.Fact(role, facts.SessionNames(list), "etcd"))
		}
	}
	c := changeOf(processes(p), next)
	f.Message = "upgrade in this order: " + strings.Join(labels(c.order), ", ")
	if c.standalone {
		f.Message = "replace the single process, which has all roles"
	}
	if len(c.added) > 0 {
		f.Severity, f.Message = check.Warning, f.Message+"; new: "+words.Summarize(c.added)
	}
	if len(c.removed) > 0 {
		f.Severity, f.Message = check.Warning, f.Message+"; removed: "+words.Summarize(c.removed)
	}
	if !plan.rollingPossible() {
		f.Severity, f.Message = check.Warning,
			"no rolling upgrade from "+plan.From.String()+": stop all processes first; then "+f.Message
	}
	if next.To != plan.To {
		f.Message = "first to " + next.To.String() + ": " + f.Message
	}
	if len(p.Version.Others) > 0 {
		f.Severity = check.Warning
		f.Message += "; versions are already mixed: " +
			words.Summarize(append([]string{p.Version.Text}, p.Version.Others...))
	}
	f.Impact = "In another order, processes call others that do not know the call yet."
	f.Fix = check.Fix(orderSteps(p, plan, c)...)
	p.Report(f)
}

// rollingPossible reports whether a rolling upgrade is possible.
func (p Plan) rollingPossible() bool { return !p.From.Before(Version{release(2, 2), 3}) }

func orderSteps(p *check.Pass, plan Plan, c change) []check.Step {
	next := plan.next()
	to := next.To.String()
	steps := []check.Step{check.Do("save a snapshot of etcd, and a bundle for comparison")}
	if !plan.rollingPossible() {
		steps = append(steps, check.Do("stop all Milvus processes"))
	}
	if next.crosses(release(2, 2)) {
		steps = append(steps, check.Do("run the migration tool of Milvus 2.2 (meta-migration) on the metadata"))
	}
	if onOneHost(p) {
		steps = append(steps, check.Do("if one process has all roles (standalone), replace it; "+
			"otherwise replace the processes one by one"))
	}
	if next.crosses(release(2, 6)) && slices.Contains(c.removed, "rootcoord") {
		steps = append(steps,
			check.Do("first run the coordinators as one MixCoord of %s: 2.6 takes over only from that",
				plan.From.String()))
	}
	if len(c.added) > 0 {
		steps = append(steps, check.Do("add %s to the deployment", c.added))
	}
	for _, x := range c.order {
		switch {
		case c.standalone:
			steps = append(steps, check.Do("replace the process, and wait until it is registered with %s", to))
		case slices.Contains(c.added, x[0]):
			steps = append(steps, check.Do("start the %s, and wait until it is registered with %s", x[0], to))
		case len(x) > 1:
			steps = append(steps,
				check.Do("replace every process of %s, and wait until all are registered with %s", x, to))
		default:
			steps = append(steps, check.Do("replace every %s, and wait until all are registered with %s", x[0], to))
		}
	}
	if len(c.removed) > 0 {
		steps = append(steps, check.Do("remove %s from the deployment once the rest runs %s", c.removed, to))
	}
	if next.To.Release == release(2, 5) && plan.crosses(release(2, 6)) &&
		slices.ContainsFunc(c.order, func(roles []string) bool { return slices.Equal(roles, []string{"rootcoord"}) }) {
		steps = append(steps, check.Do("run the coordinators as one MixCoord: 2.6 takes over only from that"))
	}
	if next.To != plan.To {
		steps = append(steps, check.Shell(check.Kitescope("preflight --to").Arg(plan.To.String())).
			Does("shows the next steps from there"))
	}
	return append(steps, check.Shell(check.Kitescope("diagnose")).Does("shows what the upgrade left unfinished"))
}

// roleOrder returns the roles in the order of an upgrade.
func roleOrder() []string {
	return []string{
		"rootcoord", "datacoord", "indexcoord", "querycoord", "mixcoord", "streamingnode", "indexnode", "datanode",
		"querynode", "proxy",
	}
}

// processes returns the registered roles, grouped by process: since 2.3 all sessions of a process have the same id.
// The groups are in the order of an upgrade, each by its first role.
func processes(p *check.Pass) (all [][]string) {
	at := map[model.NodeID]int{}
	for _, role := range roleOrder() {
		list := facts.Processes(p.Cluster, role)
		if len(list) == 0 {
			continue
		}
		in := len(all)
		for _, s := range list {
			if i, ok := at[s.Node]; ok {
				in = min(in, i)
			}
		}
		if in == len(all) {
			all = append(all, nil)
		}
		all[in] = append(all[in], role)
		for _, s := range list {
			at[s.Node] = in
		}
	}
	return all
}

// onOneHost reports whether each role has one session and all are on one host. Up to 2.2 the sessions of a
// standalone have different ids.
func onOneHost(p *check.Pass) bool {
	hosts, roles, ids := map[string]bool{}, map[string]int{}, map[model.NodeID]bool{}
	for _, s := range p.Sessions {
		host, _, _ := net.SplitHostPort(s.Address)
		hosts[host], ids[s.Node] = true, true
		if roles[s.Role]++; roles[s.Role] > 1 {
			return false
		}
	}
	return len(hosts) == 1 && len(ids) == len(p.Sessions) && len(roles) > 1 &&
		facts.ReleaseOf(p.Cluster).Before(release(2, 3))
}

// change holds the changes of the processes in an upgrade.
type change struct {
	order          [][]string // roles of the processes that are replaced or added
	added, removed []string   // roles
	standalone     bool       // standalone process has all roles
}

func changeOf(all [][]string, plan Plan) (c change) {
	if len(all) == 1 && len(all[0]) > 1 {
		return change{order: all, standalone: true}
	}
	if !plan.crosses(release(2, 6)) {
		return change{order: all}
	}
	old := []string{"rootcoord", "datacoord", "indexcoord", "querycoord", "indexnode"}
	has := func(role string) bool {
		return slices.ContainsFunc(all, func(roles []string) bool { return slices.Contains(roles, role) })
	}
	for _, roles := range all {
		stay := slices.DeleteFunc(slices.Clone(roles), func(r string) bool { return slices.Contains(old, r) })
		switch {
		case slices.Contains(roles, "rootcoord") && slices.Contains(roles, "querycoord"):
			// already one process: it becomes the MixCoord
			c.order = append(c.order, roles)
		case len(stay) > 0:
			c.order = append(c.order, stay)
		default:
			c.removed = append(c.removed, roles...)
		}
	}
	if slices.Contains(c.removed, "rootcoord") && !has("mixcoord") {
		c.order, c.added = slices.Insert(c.order, 0, []string{"mixcoord"}), append(c.added, "mixcoord")
	}
	if !has("streamingnode") {
		at := 0
		if len(c.order) > 0 && (c.order[0][0] == "mixcoord" || c.order[0][0] == "rootcoord") {
			at = 1
		}
		c.order, c.added = slices.Insert(c.order, at, []string{"streamingnode"}), append(c.added, "streamingnode")
	}
	return c
}

// label returns the label of a process with the given roles.
func label(roles []string) string {
	if len(roles) == 1 {
		return roles[0]
	}
	return "process of " + words.List("and", roles...)
}

func labels(all [][]string) []string {
	list := make([]string, len(all))
	for i, roles := range all {
		list[i] = label(roles)
	}
	return list
}
