package check

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
)

// missingNeeds returns the reason why a check cannot run, or "". It also notes data that the check will not see.
func (p *Pass) missingNeeds() string {
	if missing := p.check.Parts &^ p.Loaded; missing != 0 {
		return "the metadata it needs could not be read"
	}
	if damage := p.Damage(); damage != "" && p.check.Parts != 0 {
		p.NoteUnseen("metadata: " + damage)
		if p.check.Whole {
			return "the file is damaged, and what seems missing may be unreadable: " + damage
		}
	}
	if p.check.Needs&NeedEtcd != 0 && p.Etcd == nil {
		return "the health of etcd was not queried"
	}
	if p.check.Needs&NeedProfiles != 0 && p.Profiles == nil {
		return "profiles were not pulled"
	}
	if p.check.Needs&NeedStorage != 0 && p.Storage == nil {
		return "the storage was not examined: pass --storage"
	}
	needs := p.check.Needs &^ (NeedEtcd | NeedProfiles | NeedStorage)
	if needs == 0 {
		return ""
	}
	r := p.Runtime
	if r == nil {
		return facts.NotAsked
	}
	if why := p.missingRequests(); why != "" {
		return why
	}
	for _, n := range []struct {
		need Need
		lack func(*model.Runtime) string
	}{
		{NeedDistribution, p.missingDistribution},
		{NeedRecovery, missingRecovery},
		{NeedQueryCoord, missingQueryCoord},
		{NeedConfig, missingConfig},
		{NeedMetrics, p.missingMetrics},
		{NeedSystem, p.missingSystem},
		{NeedQueue, missingQueue},
		{NeedResponses, missingResponses},
	} {
		if needs&n.need != 0 {
			if why := n.lack(r); why != "" {
				return why
			}
		}
	}
	return ""
}

// missingRequests returns the reason why the latency of requests is unknown, or "". It also notes processes
// without metrics.
func (p *Pass) missingRequests() string {
	if len(p.check.Requests) == 0 {
		return ""
	}
	l := p.Latency()
	silent := 0
	for _, u := range l.Unknown {
		if slices.Contains(p.check.Requests, u.Role) {
			silent++
			p.NoteUnseen(fmt.Sprintf("metrics of %s: %s", facts.RefNode(u.Role, u.Node).Name, u.Reason))
		}
	}
	switch {
	case len(l.Budgets) > 0:
		return ""
	case silent > 0:
		return "no process that serves requests reported its metrics"
	}
	return "no requests in the window: " + cmp.Or(l.Window.Why, "no process reported its metrics")
}

func (p *Pass) missingDistribution(r *model.Runtime) string {
	blind := r.WithoutDistribution()
	if len(blind) == len(r.QueryNodes()) {
		return "no query node reported what it serves" + facts.ReasonSuffix(blind)
	}
	for _, n := range blind {
		if !p.IsGone(n) {
			p.NoteUnseen(n.Name() + ": " + facts.WhySilent(n))
		}
	}
	return ""
}

func missingRecovery(r *model.Runtime) string {
	if r.Recovery == nil {
		return "DataCoord did not report what should be served" + facts.ReasonSuffix(facts.Coordinators(r, "datacoord"))
	}
	return ""
}

func missingQueryCoord(r *model.Runtime) string {
	if r.Replicas == nil && r.ShardLeaders == nil && r.Loaded == nil {
		return "QueryCoord did not report what it has loaded" + facts.ReasonSuffix(facts.Coordinators(r, "querycoord"))
	}
	return ""
}

func missingConfig(r *model.Runtime) string {
	if !slices.ContainsFunc(r.Nodes, func(n *model.LiveNode) bool { return n.Config != nil }) {
		return "no process reported its configuration"
	}
	return ""
}

func (p *Pass) missingMetrics(r *model.Runtime) string {
	if !slices.ContainsFunc(r.Processes, func(x *model.Process) bool { return x.Metrics != nil }) {
		return "no process reported its metrics"
	}
	for _, x := range r.Processes {
		if x.Metrics == nil {
			p.NoteUnseen("metrics of " + facts.ProcessLabel(x) + ": " + x.Outcome.With(x.Reason))
		}
	}
	return ""
}

func (p *Pass) missingSystem(r *model.Runtime) string {
	if !slices.ContainsFunc(r.Nodes, func(n *model.LiveNode) bool { return n.System != nil }) {
		return "no process reported its CPU and memory"
	}
	for _, n := range r.QueryNodes() {
		if n.System == nil {
			p.NoteUnseen("CPU and memory of " + n.Name() + ": " + facts.WhySilent(n))
		}
	}
	return ""
}

func missingQueue(r *model.Runtime) string {
	switch {
	case r.Queue == nil:
		for _, s := range r.Skipped {
			if s.What == "message queue" {
				return "the message queue was not queried: " + s.Reason
			}
		}
		return "the message queue was not queried"
	case r.Queue.Topics == nil:
		return "the message queue did not respond: " + r.Queue.Outcome.With(r.Queue.Reason)
	}
	return ""
}

func missingResponses(r *model.Runtime) string {
	if !slices.ContainsFunc(r.Nodes, func(n *model.LiveNode) bool { return n.Outcome != model.NotAsked }) {
		return "no process was queried"
	}
	return ""
}

func summary(list []string) string {
	const most = 3
	if len(list) <= most {
		return strings.Join(list, "; ")
	}
	return fmt.Sprintf("%s; and %d more", strings.Join(list[:most], "; "), len(list)-most)
}

// firstFrame returns the file and line of the code in this repository that caused a panic.
func firstFrame(stack []byte) string {
	seen := false
	for line := range bytes.Lines(stack) {
		if bytes.HasPrefix(line, []byte("panic(")) {
			seen = true
			continue
		}
		// Lines with a file and a line number start with a tab. run.go calls the check and is never the
		// cause.
		text := strings.TrimSpace(string(line))
		if seen && line[0] == '\t' && strings.Contains(text, "/inspect/") &&
			!strings.Contains(text, "/inspect/check/run.go:") {
			if i := strings.LastIndex(text, "/inspect/"); i >= 0 {
				text = text[i+1:]
			}
			text, _, _ = strings.Cut(text, " ")
			return text
		}
	}
	return "an unknown place"
}
