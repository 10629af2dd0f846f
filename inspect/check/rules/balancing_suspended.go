package rules

import (
	"slices"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// balancingSuspended reports that an operator suspended balancing.
var balancingSuspended = &check.Check{
	ID:       "balancing-suspended",
	Title:    "Balancing is suspended by an operator",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow},
	Starts:   "node_joined | config_changed",
	Doc: `An operator suspended balancing before an upgrade or a repair and forgot to resume it (management calls
` + "`/management/querycoord/balance/suspend`" + `, later ` + "`PUT /management/batch/balance/status`" + ` and
` + "`/management/streaming/balance/status`" + `). The setting ` + "`queryCoord.autoBalance`" + ` is still true. While
balancing is suspended, QueryCoord moves no segments or channels between query nodes and does not empty stopping
nodes. MixCoord's suspension keeps WALs where they are, so new streaming nodes get none.

QueryCoord reports its own balancing (` + "`CheckBalanceStatus`" + `, else the state of its balance_checker; Milvus 2.5
and later). MixCoord reports that of streaming nodes (over HTTP; later 2.6 and 3.0). A restart of the coordinator
resumes QueryCoord's balancing; whether it resumes MixCoord's is unknown. Read in Milvus's sources; no server with
these calls was seen live.`,
	Remedy: `If no upgrade or repair is under way, resume it with the call that suspended it:
` + "`/management/querycoord/balance/resume`" + ` of a proxy's HTTP server, or PUT ` + "`{\"status\": \"active\"}`" +
		` to the
two pages of MixCoord.`,
	Parts: model.PartSessions,
	Needs: check.NeedProcesses,
	Run:   runBalancingSuspended,
}

// balanceChecker is the name of QueryCoord's balancing task (internal/querycoordv2/utils/checker.go:
// CheckerType.String).
const balanceChecker = "balance_checker"

func runBalancingSuspended(p *check.Pass) {
	r := p.Runtime
	query, told := balancesQueryNodes(r)
	if !told && r.StreamingBalance == nil {
		if !facts.MaySupport(p.Cluster, 2, 5, "CheckBalanceStatus", "querycoord", "mixcoord") {
			return // older versions have no such call
		}
		p.Skip("no coordinator reported whether balancing is suspended")
		return
	}
	if facts.LacksPage(p.Cluster, "/management/streaming/balance/status") {
		p.NoteUnseen("balancing of streaming nodes: MixCoord did not report it")
	}
	f := check.Finding{Severity: check.Warning, Object: coordinatorRef(p)}
	suspended := func(what string, fix check.Step, effect, source string) {
		if f.Message != "" {
			f.Message += " and "
			f.Impact += " "
		}
		f.Message += what
		f.Impact += effect
		f.Evidence = append(f.Evidence, check.Fact("balancing of "+what, "suspended", source))
		f.Fix = append(f.Fix, fix)
	}
	if told && !query {
		suspended("query nodes", check.Do(`if no upgrade is under way, resume it: `+
			`/management/querycoord/balance/resume on a proxy's HTTP server, `+
			`or PUT {"status": "active"} to /management/batch/balance/status on MixCoord's`).
			Interrupting(2*time.Minute, "nothing"),
			"QueryCoord moves no segments or channels: new query nodes stay empty, and stopping ones are not emptied.",
			"QueryCoord")
	}
	if r.StreamingBalance != nil && !*r.StreamingBalance {
		suspended("streaming nodes", check.Do(`if no upgrade is under way, resume it: `+
			`PUT {"status": "active"} to /management/streaming/balance/status on MixCoord's HTTP server`).
			Interrupting(2*time.Minute, "nothing"),
			"WALs stay on the streaming nodes that have them.", "MixCoord")
	}
	if f.Message == "" {
		return
	}
	f.Message = "balancing of " + f.Message + " is suspended by an operator"
	p.Report(f)
}

// balancesQueryNodes returns whether QueryCoord reports that it balances. known is false if this is unknown.
func balancesQueryNodes(r *model.Runtime) (balances, known bool) {
	if r.BalanceActive != nil {
		return *r.BalanceActive, true
	}
	i := slices.IndexFunc(r.Checkers, func(c model.Checker) bool { return c.Name == balanceChecker })
	if i < 0 {
		return false, false
	}
	return r.Checkers[i].Active, true
}

// coordinatorRef returns a reference to the session that balances.
func coordinatorRef(p *check.Pass) model.Ref {
	for _, s := range p.Sessions {
		if (s.Role == "querycoord" || s.Role == "mixcoord") && !s.Standby {
			return facts.RefNode(s.Role, s.Node)
		}
	}
	return model.Ref{Resource: "nodes", ID: "querycoord", Name: "querycoord"}
}

// checkerOff reports that one of QueryCoord's other periodic tasks is switched off.
var checkerOff = &check.Check{
	ID:       "checker-off",
	Title:    "A periodic task of QueryCoord is switched off",
	Severity: check.Warning,
	Symptoms: []string{check.LoadsHang},
	Starts:   "collection_loading segment_flushed | index_built config_changed",
	Doc: `Loads stop progressing without an error because a management call (` + "`DeactivateChecker`" + `) switched off
a periodic task of QueryCoord. segment_checker loads and releases segments, channel_checker subscribes to channels,
index_checker loads new indexes, leader_checker updates the segment locations of shard leaders. A task stays off until
it is switched on or QueryCoord restarts: loads make no progress, flushed segments stay growing, built indexes are not
used.

QueryCoord lists the tasks (` + "`ListCheckers`" +
		`, Milvus 2.4 and later). balancing-suspended covers balance_checker.`,
	Remedy: "Switch it on (`ActivateChecker`), or restart QueryCoord.",
	Parts:  model.PartSessions,
	Needs:  check.NeedProcesses,
	Run:    runCheckerOff,
}

func runCheckerOff(p *check.Pass) {
	if p.Runtime.Checkers == nil {
		if !facts.MaySupport(p.Cluster, 2, 4, "ListCheckers", "querycoord", "mixcoord") {
			return
		}
		p.Skip("QueryCoord did not list its periodic tasks")
		return
	}
	var off []string
	f := check.Finding{Severity: check.Warning, Object: coordinatorRef(p)}
	for _, c := range p.Runtime.Checkers {
		if c.Active || c.Name == balanceChecker {
			continue
		}
		off = append(off, c.Name)
		f.Evidence = append(f.Evidence, check.Fact(c.Name, "off: "+checkerOffEffect(c.Name), "QueryCoord"))
	}
	if len(off) == 0 {
		return
	}
	f.Message = words.Plural(len(off), "periodic task") + " of QueryCoord " + words.Agree(len(off), "is", "are") +
		" switched off: " + words.List("and", off...)
	f.Impact = words.Agree(len(off), "Its", "Their") + " work is not done, and no error is reported."
	f.Fix = check.Fix(check.Do("switch %s on again (ActivateChecker), or restart QueryCoord: it starts with all "+
		"tasks on",
		words.Agree(len(off), "it", "them")).
		Restarting(p.Cluster, time.Minute, "querycoord"))
	p.Report(f)
}

// checkerOffEffect returns the effect of a periodic task of QueryCoord not running (internal/querycoordv2/checkers).
func checkerOffEffect(name string) string {
	switch name {
	case "segment_checker":
		return "segments are not loaded or released"
	case "channel_checker":
		return "channels are not subscribed to or released"
	case "index_checker":
		return "new indexes are not loaded"
	case "leader_checker":
		return "segment locations of shard leaders are not updated"
	}
	return "its work is not done"
}
