package rules

import (
	"fmt"
	"slices"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// dependencyUnhealthy reports dependencies of Milvus that a proxy considers unhealthy.
var dependencyUnhealthy = &check.Check{
	ID:       "dependency-unhealthy",
	Title:    "A proxy finds etcd or the message queue unhealthy",
	Severity: check.Error,
	Symptoms: []string{check.WritesFail},
	Starts:   "config_changed | node_lost checkpoint_stopped",
	Parts:    model.PartSessions,
	Needs:    check.NeedProcesses,
	Doc: `A proxy cannot reach a broker that kitescope reaches. The check reads a proxy's report on members of etcd
and the message queue (` + "`kitescope get dependencies`" + `; Milvus 2.5 and later). Milvus may reach less than
kitescope, or more.

- Error: half of the members or more are unhealthy, or it is unhealthy and no member is listed.
- Warning: fewer members. It works as long as the others do.

Not reported: a queue that Milvus does not check (RocksMQ, Woodpecker). With Pulsar the proxy is not queried: its
broker would write to answer. Read in Milvus's sources, not seen with an unhealthy dependency.`,
	Remedy: `Look at the named members, and at the network between them and the proxy. To query etcd itself, run
` + "`kitescope diagnose etcd-alarm etcd-no-leader`" + `.`,
	Run: runDependencyUnhealthy,
	FollowsFrom: []check.Cause{
		{Check: "etcd-alarm", Applies: ofKind("metadata store")},
		{Check: "etcd-no-leader", Applies: ofKind("metadata store")},
		{Check: "queue-unreachable", Applies: ofKind("message queue")},
	},
}

// ofKind returns a function that reports whether a finding is about a dependency of the given kind.
func ofKind(kind string) func(*model.Cluster, *check.Finding, *check.Finding) bool {
	return func(_ *model.Cluster, effect, _ *check.Finding) bool {
		return strings.HasPrefix(effect.Object.ID, kind+"/")
	}
}

func runDependencyUnhealthy(p *check.Pass) {
	if !slices.ContainsFunc(p.Sessions, func(s *model.Session) bool {
		return s.Role == "proxy" && !facts.ParseRelease(s.Version).Before(facts.Release{Major: 2, Minor: 5})
	}) {
		return // older proxies do not have the page
	}
	list := p.Runtime.Dependencies()
	if len(list) == 0 && slices.ContainsFunc(skippedOf(p.Runtime), func(s model.Skipped) bool {
		return strings.HasPrefix(s.What, "dependencies ") && strings.Contains(s.Reason, "Pulsar")
	}) {
		return // skipped on purpose
	}
	if len(list) == 0 {
		p.Skip("no proxy reported its dependencies" + whyNoDependencies(p.Runtime))
		return
	}
	var kinds []string
	of := make(map[string][]model.Dependency) // by kind and proxy; the dependency as a whole comes before its members
	for _, d := range list {
		key := d.Kind + " " + d.Proxy.String()
		if of[key] == nil {
			kinds = append(kinds, key)
		}
		of[key] = append(of[key], d)
	}
	for _, key := range kinds {
		judgeDependency(p, of[key])
	}
}

// judgeDependency reports a dependency whose members, or which as a whole, one proxy considers unhealthy.
func judgeDependency(p *check.Pass, list []model.Dependency) {
	var ill []model.Dependency
	members := 0
	whole := list[0]
	for _, d := range list {
		if d.Member != "" {
			members++
		}
		if d.Member != "" && d.Healthy == model.No {
			ill = append(ill, d)
		}
	}
	if len(ill) == 0 && whole.Healthy != model.No {
		return
	}
	proxy := "proxy-" + whole.Proxy.String()
	f := check.Finding{
		Severity: check.Error,
		Object:   model.Ref{Resource: "dependencies", ID: whole.Kind + "/" + whole.Type, Name: whole.Type},
		Evidence: []check.Evidence{check.Fact(whole.Type+" as a whole", dependencyState(whole), proxy)},
		Impact:   "Operations that need it fail: " + operationsUsing(whole.Kind) + ".",
	}
	for _, d := range ill[:min(len(ill), facts.MaxObjects)] {
		f.Evidence = append(f.Evidence, check.Fact(d.Member, dependencyState(d), proxy))
		f.Objects = append(f.Objects, model.Ref{Resource: "dependencies", ID: d.Kind + "/" + d.Member, Name: d.Member})
	}
	switch {
	case len(ill) == 0:
		f.Message = fmt.Sprintf("%s finds the %s (%s) unhealthy: %s", proxy, whole.Kind, whole.Type,
			dependencyState(whole))
	default:
		f.Message = fmt.Sprintf("%s finds %d of %s of the %s (%s) unhealthy", proxy, len(ill),
			words.Plural(members, "member"), whole.Kind, whole.Type)
		if 2*len(ill) < members {
			f.Severity, f.Impact = check.Warning, "None as long as the others work."
		}
	}
	f.Fix = check.Fix(
		check.Shell(check.Kitescope("get dependencies")).Does("shows each member as the proxy reports it"),
		check.Do("look at the logs of the named members, and check that %s can reach them from its host", proxy),
	)
	p.Report(f)
}

// operationsUsing returns the operations of Milvus that use a dependency of the given kind.
func operationsUsing(kind string) string {
	if kind == "metadata store" {
		return "creating, loading, flushing, registering processes"
	}
	return "inserts, deletes and consistent searches"
}

// dependencyState returns the state of a dependency: "healthy", or the proxy's reason why it is unhealthy.
func dependencyState(d model.Dependency) string {
	switch {
	case d.Healthy != model.No:
		return "healthy"
	case d.Reason == "":
		return "unhealthy, no reason given"
	}
	return d.Reason
}

func skippedOf(r *model.Runtime) []model.Skipped {
	if r == nil {
		return nil
	}
	return r.Skipped
}

// whyNoDependencies returns the reason why no dependency is known, after ": ", or "" if no reason is known.
func whyNoDependencies(r *model.Runtime) string {
	if r == nil {
		return ""
	}
	for _, s := range skippedOf(r) {
		if strings.HasPrefix(s.What, "dependencies ") {
			return ": " + s.Reason
		}
	}
	for _, p := range r.Processes {
		for i := range p.Calls {
			if c := &p.Calls[i]; strings.HasSuffix(c.Method, "/dependencies") && c.Outcome != model.Answered {
				return ": " + c.Node.Name("proxy") + ": " + c.Outcome.With(c.Reason)
			}
		}
	}
	return ""
}
