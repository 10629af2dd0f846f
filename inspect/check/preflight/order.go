package preflight

import (
	"slices"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/words"
)

var order = rule{
	forward: true,
	Check: check.Check{
		ID:       "upgrade-order",
		Title:    "Components are to be upgraded in this order",
		Severity: check.Warning,
		Since:    since,
		Parts:    model.PartSessions,
		Doc: `Says in which order the processes that are registered are replaced, and which kinds of them go or come:

- before 2.6: root, data, index and query coordinators, then index, data and query nodes, proxies last (docs of 2.3 to 2.5, rolling upgrade).
- to 2.6: the coordinators become one MixCoord, a streaming node comes, index nodes go once data nodes build indexes (docs of 2.6, What is new).
- a rolling upgrade works from 2.2.3 on; from an older version all processes are stopped first (docs of 2.4, Upgrade Milvus Cluster).

Warning where kinds of processes go or come, or versions are mixed already; else info.`,
		Remedy: `Replace one kind of process at a time, and wait until all of a kind are healthy before the next.`,
	},
	run: runOrder,
}

func runOrder(p *check.Pass, plan Plan) error {
	if !facts.Alive(p.Cluster) {
		return p.Skip("no process is registered")
	}
	byRole := map[string][]*model.Session{}
	for _, s := range p.Sessions {
		byRole[s.Role] = append(byRole[s.Role], s)
	}
	f := check.Finding{Severity: check.Info}
	var order, comes, goes []string
	for _, role := range []string{"rootcoord", "datacoord", "indexcoord", "querycoord", "mixcoord", "streamingnode", "indexnode", "datanode", "querynode", "proxy"} {
		list := byRole[role]
		if len(list) == 0 {
			if plan.crosses(release(2, 6)) && (role == "streamingnode" || role == "mixcoord" && len(byRole["rootcoord"]) > 0) {
				order, comes = append(order, role), append(comes, role)
			}
			continue
		}
		f.Evidence = append(f.Evidence, check.Fact(role, facts.SessionNames(list), "etcd"))
		if plan.crosses(release(2, 6)) && slices.Contains([]string{"indexnode", "rootcoord", "datacoord", "indexcoord", "querycoord"}, role) {
			goes = append(goes, role)
			continue
		}
		order = append(order, role)
	}
	f.Message = "upgrade in this order: " + strings.Join(order, ", ")
	steps := []check.Step{check.Do("save a snapshot of etcd, and a bundle to compare with")}
	if len(comes) > 0 {
		f.Severity = check.Warning
		f.Message += "; new: " + words.Few(comes)
		steps = append(steps, check.Do("add %s to the deployment", comes))
	}
	for _, role := range order {
		if slices.Contains(comes, role) {
			steps = append(steps, check.Do("start the %s, and wait until it is registered with %s", role, plan.To.String()))
		} else {
			steps = append(steps, check.Do("replace every %s, and wait until all are registered with %s", role, plan.To.String()))
		}
	}
	if len(goes) > 0 {
		f.Severity = check.Warning
		f.Message += "; gone: " + words.Few(goes)
		steps = append(steps, check.Do("remove %s from the deployment once the rest runs %s", goes, plan.To.String()))
	}
	if plan.From.Before(Version{release(2, 2), 3}) {
		f.Severity = check.Warning
		f.Message = "no rolling upgrade from " + plan.From.String() + ": stop all processes first; then " + f.Message
		steps = slices.Insert(steps, 1, check.Do("stop all processes of Milvus"))
	}
	if len(p.Version.Others) > 0 {
		f.Severity = check.Warning
		f.Message += "; versions are mixed already: " + words.Few(append([]string{p.Version.Text}, p.Version.Others...))
	}
	f.Impact = "In another order processes call others that do not know the call yet."
	f.Fix = check.Fix(append(steps, check.Shell(check.Kitescope("diagnose")).Does("tells afterwards what the upgrade left undone"))...)
	p.Report(f)
	return nil
}
