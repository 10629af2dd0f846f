package rules

import (
	"cmp"
	"fmt"
	"slices"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// nodeUnreachable finds registered processes that do not answer or are not healthy.
var nodeUnreachable = &check.Check{
	ID:       "node-unreachable",
	Title:    "Registered process does not respond",
	Severity: check.Error,
	Symptoms: []string{check.SearchesFail, check.LoadsHang, check.WritesFail, check.AfterRestart},
	Starts:   "node_stopping node_joined | node_changed",
	Doc: `After ` + "`kill -9`" + ` of one of four query nodes every search failed for 27 seconds, and the session was
still there after 12 (measured on 2.3.5). A process that dies without deregistering stays registered until its lease
expires, 30 seconds later (` + "`common.session.ttl`" + `). Until then QueryCoord leaves its segments and shards there,
and searches of collections with one replica fail.

Reported: a registered process that refuses connections (nothing listens there: it is dead), does not respond within
the deadline (it hangs or is overloaded), closes the connection, or reports that it is not healthy (info in the first
two minutes after its start); each with what depends on it. A process that is not reachable at all, or rejects
kitescope's credentials, is a warning, and only while others respond: the problem may be in between. If no process
responds, there is a single warning: kitescope may run outside the cluster's network (` + "`--map`" + `,
` + "`--proxy`" + `).

Not reported: standby coordinators, processes that are stopping (stopping-node-serving), and addresses at which
another process answers (stale-session).`,
	Remedy: `Refused: restart the process; the cluster takes over without it when its session expires. Timed out: look
at its CPU and memory, and at ` + "`kitescope get calls`" + ` for the calls it did answer. Kill a process that hangs but
keeps its lease, because it is never replaced. Not reachable from here only: give kitescope a route with
` + "`--map`" + ` or ` + "`--proxy`" + `.`,
	Parts: model.PartSessions | model.PartServing | model.PartObjects | model.PartChannels | model.PartSegments,
	Needs: check.NeedResponses,
	Run:   runNodeUnreachable,
	FollowsFrom: []check.Cause{
		endsDataNodes(), {Check: "process-restarting", Applies: check.Shares("nodes")}, etcdStops(),
	},
}

// etcdStops returns the cause for an etcd that does not work. Each process waits for etcd, and exits when its session
// expires.
func etcdStops() check.Cause {
	return check.Cause{
		Check:   "etcd-no-leader",
		Applies: func(_ *model.Cluster, _, cause *check.Finding) bool { return cause.Severity == check.Error },
	}
}

func runNodeUnreachable(p *check.Pass) {
	var silent []*model.LiveNode
	answered := false
	for _, n := range p.Runtime.Nodes {
		switch n.Outcome {
		case model.Answered:
			answered = true
			if n.State == "Abnormal" || n.State == "Initializing" {
				silent = append(silent, n)
			}
		case model.Stale, model.OtherCluster:
			answered = true
		case model.NotAsked, model.Unimplemented:
			if !p.IsGone(n) {
				p.NoteUnseen(n.Name() + ": " + facts.WhySilent(n))
			}
		default:
			if s := p.SessionIn(n.Node, n.Role); s != nil && (s.Standby || s.Stopping) || n.State == "StandBy" ||
				n.State == "Stopping" {
				continue
			}
			silent = append(silent, n)
		}
	}
	if !answered && len(silent) > 1 {
		reportAllSilent(p, silent)
		return
	}
	for _, group := range byProcess(silent) {
		reportSilent(p, group)
	}
}

// byProcess groups sessions that belong to one process, i.e. that have the same address and different roles, such as
// DataCoord and IndexCoord since 2.3. The death of a process is thus one finding. A process has each role once, so two
// query nodes at one address are two processes, and one took over the other's address. The first session of each group
// has the most important role.
func byProcess(nodes []*model.LiveNode) [][]*model.LiveNode {
	var groups [][]*model.LiveNode
	at := make(map[string]int)
	for _, n := range nodes {
		i, known := at[n.Address]
		taken := known && slices.ContainsFunc(groups[i], func(x *model.LiveNode) bool { return x.Role == n.Role })
		if known = known && !taken && n.Address != ""; !known {
			i = len(groups)
			at[n.Address] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], n)
	}
	needed := facts.NeededRoles()
	rank := func(n *model.LiveNode) int {
		if i := slices.IndexFunc(needed, func(r facts.Role) bool { return r.Name == n.Role }); i >= 0 {
			return i
		}
		return len(needed)
	}
	for _, g := range groups {
		slices.SortStableFunc(g, func(a, b *model.LiveNode) int { return cmp.Compare(rank(a), rank(b)) })
	}
	return groups
}

// reportAllSilent reports that none of the registered processes answers.
func reportAllSilent(p *check.Pass, silent []*model.LiveNode) {
	f := check.Finding{
		Severity: check.Warning, Object: model.Ref{},
		Message: fmt.Sprintf("none of %s responds; first: %s at %s, %s",
			words.Plural(len(silent), "registered process"),
			silent[0].Name(), silent[0].Address, silent[0].Outcome.With(silent[0].Reason)),
		Impact: "What the processes serve is unknown. Either the whole cluster is down, or it is not reachable from " +
			"here.",
		Fix: check.Fix(check.Do("check whether clients can reach the proxies; " +
			"from outside the cluster's network pass --map or --proxy to kitescope")),
	}
	f.Objects = append(f.Objects, facts.Refs(silent, (*model.LiveNode).Ref)...)
	f.Evidence = []check.Evidence{
		check.Count("registered processes", len(silent), "etcd"), check.Count("responses", 0, "kitescope"),
	}
	p.Report(f)
}

// reportSilent reports a process that does not answer. group holds its sessions.
func reportSilent(p *check.Pass, group []*model.LiveNode) {
	n := group[0]
	d := dutiesOf(p, n.Role, n.Node)
	others := successors(p, n.Role, n.Node)
	f := check.Finding{
		Severity: check.Error, Object: n.Ref(), Cost: loss(p, &d), Impact: impact(p, &d, others),
		Objects:  dutyRefs(p, &d),
		Evidence: append([]check.Evidence{check.Fact("outcome", n.Outcome.With(n.Reason), n.Address)}, d.evidence()...),
	}
	name := facts.RoleLabel(n.Role) + " " + n.Name() + " at " + n.Address
	switch n.Outcome {
	case model.Refused:
		f.Message = name + " is registered but nothing listens there: the process is dead"
		f.Fix = restartSteps(p, n, others)
	case model.TimedOut, model.CutOff, model.Garbled:
		f.Message = name + " is registered but not responding: " + n.Outcome.String()
		f.Fix = killSteps(p, n, others)
	case model.NotReady, model.Failed, model.Answered:
		f.Message = name + " reports that it is not healthy: " + cmp.Or(n.State, n.Reason, n.Outcome.String())
		f.Fix = check.Fix(check.Do("read its log; it may still be starting"))
		if n.State == "Initializing" {
			check.DowngradeStarting(p.Facts, &f, n, "wait: it is still starting")
		}
	default: // Unreachable, Denied, TooLarge
		f.Severity = check.Warning
		f.Message = name + " is registered but not reachable: " + n.Outcome.String()
		f.Fix = check.Fix(check.Do("check whether the other processes reach it; the problem may be between it and " +
			"kitescope (--map, --proxy, credentials)"))
		if n.Outcome != model.Unreachable {
			// The process exists and may well be serving.
			f.Cost, f.Impact = 0, "Its state and what it serves are unknown."
		}
	}
	switch {
	case f.Severity < check.Error:
	case len(others) == 0 && facts.NeedsRole(p.Cluster, n.Role):
		promoteToRole(p, &f, n.Role)
	case len(d.collections) == 0 && (n.Role == "querynode" || n.Role == "datanode" || n.Role == "indexnode"):
		f.Severity = check.Warning
	}
	addOtherSessions(&f, group)
	if s := p.SessionIn(n.Node, n.Role); s != nil && s.HostName != "" {
		f.Evidence = append(f.Evidence, check.Fact("host", s.HostName, "etcd"))
	}
	f.Evidence = append(f.Evidence, otherRoles(p, n)...)
	p.Report(f)
}

// otherRoles returns evidence of answers from the same process: its HTTP server and its other sessions.
func otherRoles(p *check.Pass, n *model.LiveNode) []check.Evidence {
	if n.Process == nil {
		return nil
	}
	var list []check.Evidence
	if n.Process.Outcome == model.Answered {
		list = append(list, check.Fact("its HTTP server responds", cmp.Or(n.Process.Healthz, "yes"), n.Process.Address))
	}
	for _, r := range n.Process.Nodes {
		if r.ID != n.Name() &&
			slices.ContainsFunc(p.Runtime.Nodes, func(x *model.LiveNode) bool {
				return x.Name() == r.ID && x.Outcome == model.Answered
			}) {
			list = append(list, check.Fact("responding in the same process", r.ID, r.ID))
		}
	}
	return list
}
