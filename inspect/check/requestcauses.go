package check

import (
	"cmp"
	"slices"
	"strings"

	"kitescope/inspect/check/facts"
	"kitescope/inspect/impact"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/inspect/place"
	"kitescope/internal/words"
)

// RequestSeverity returns the severity of a finding about a kind of request: Warning if it is slow or if few
// requests fail, otherwise Error.
func RequestSeverity(k *impact.Kind) Severity {
	if k.State == impact.Slow || k.FewFailed() {
		return Warning
	}
	return Error
}

// attachRequestCauses sets the cause of each finding about requests. If no check explains it, attachRequestCauses adds
// this to its message.
func (r *Report) attachRequestCauses() {
	symptoms := make(map[string][]string, len(r.Results))
	for _, x := range r.Results {
		symptoms[x.Check.ID] = x.Check.Symptoms
	}
	for _, f := range r.Findings {
		if f.Requests == nil || f.Cause != "" {
			continue
		}
		if g := r.explanation(f, symptoms); g != nil {
			f.Cause = g.Key()
			continue
		}
		f.Message += unexplainedText(r.Places.For(f.Requests[0]))
	}
}

// unexplainedText returns the end of the message of a finding about requests without a known cause. at is where
// they break, or nil if that is unknown.
func unexplainedText(at *place.Place) string {
	const why = "; no check explains it"
	switch {
	case at == nil:
		return why
	case at.Status != nil:
		return " (" + words.FirstOf(at.Status.Texts(), 2, "; ") + ")" + why
	}
	text := ": no problem found on their path"
	if len(at.Unknown) > 0 {
		names := make([]string, len(at.Unknown))
		for i, kind := range at.Unknown {
			names[i] = facts.RoleLabel(string(kind))
		}
		text += " (unknown: " + words.Summarize(names) + ")"
	}
	return text + why
}

// HostStarved is the id of the check for hosts that lack CPU.
const HostStarved = "host-starved"

// MoreRequests is the id of the check for clients that send far more requests than before.
const MoreRequests = "more-requests"

// mute lowers warnings that follow from a starved host to info, because all are one problem.
func (r *Report) mute() {
	roots, effects := r.groupByRoot()
	for _, root := range roots {
		for _, f := range effects[root.Key()] {
			if root.Check == HostStarved && f.Severity == Warning {
				f.Severity = Info
			}
		}
	}
}

// explanation returns the finding that is the cause of a finding about requests, or nil if the cause is
// unknown. A cause can affect the kind of request, and is about the component where the requests break or
// about the next likely one. If that component is unknown or has only weak evidence, the worst finding that
// can affect the requests is the cause. A finding about something else is not a cause, even if it began at
// the same time.
func (r *Report) explanation(f *Finding, symptoms map[string][]string) *Finding {
	var fitting []*Finding
	for _, g := range r.Findings {
		fit := func(s string) bool {
			return slices.ContainsFunc(f.Requests, func(kind impact.Request) bool { return affects(kind, s) })
		}
		if g.Requests == nil && g.Severity >= Warning &&
			(componentOf(g) != "" || slices.ContainsFunc(symptoms[g.Check], fit)) {
			fitting = append(fitting, g)
		}
	}
	slices.SortStableFunc(fitting, func(a, b *Finding) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(b.Cost, a.Cost))
	})
	at := r.Places.For(f.Requests[0]) // all of them break at the same place
	if at == nil {
		return nil
	}
	fitting = slices.DeleteFunc(fitting, func(g *Finding) bool { return !passes(at, g.Object) })
	costly := r.costliest(f)
	// The costly work uses the CPU of the host.
	if at.Status != nil && at.Status.Component.Kind == place.Host && costly != nil && costly.Cause == "" {
		return costly
	}
	if more := slices.IndexFunc(fitting, func(g *Finding) bool { return g.Check == MoreRequests }); more >= 0 &&
		r.busy(at.Status) {
		host := at.Status.Component.Kind == place.Host
		if host ||
			slices.ContainsFunc(f.Requests, func(kind impact.Request) bool { return Surged(fitting[more], kind) }) {
			return fitting[more]
		}
	}
	for _, s := range append([]*place.Status{at.Status}, at.Others...) {
		if s == nil {
			continue
		}
		for _, g := range fitting {
			if r.isAbout(g, s) {
				return g
			}
		}
		if s.Strength == place.Strong { // later components do not explain a strong state
			return costly
		}
	}
	if costly != nil {
		return costly
	}
	if at.Status != nil && at.Status.Strength > place.Weak || len(fitting) == 0 {
		return nil
	}
	return fitting[0]
}

// Surged reports whether a finding of MoreRequests is about requests that take the same path as those of a kind.
func Surged(more *Finding, kind impact.Request) bool {
	return slices.ContainsFunc(more.Objects, func(o model.Ref) bool {
		return o.Resource == "requests" && o.ID == kind.Path()
	})
}

// busy reports whether a component may be late because it works: it is a host that lacks CPU, or a process
// that uses at least busyCores.
func (r *Report) busy(s *place.Status) bool {
	if s == nil || s.State > place.Slow { // one that fails or hangs does so for another reason
		return false
	}
	if s.Component.Kind == place.Host {
		return true
	}
	ref := s.Component.Ref()
	if ref.ID == "" || r.Cluster.Runtime == nil {
		return false
	}
	for _, p := range r.Cluster.Runtime.Processes {
		if slices.Contains(p.Nodes, ref) {
			used, _, ok := p.CPU()
			return ok && used >= busyCores
		}
	}
	return false
}

// busyCores is the minimum number of processors that a busy process uses.
const busyCores = 0.5

// passes reports whether a request passes the process that an object refers to. It returns true for MixCoord
// and for objects that are not processes, because the request may need them.
func passes(at *place.Place, object model.Ref) bool {
	role, _, _ := strings.Cut(object.ID, "-")
	if object.Resource != "nodes" || role == "mixcoord" {
		return true
	}
	return slices.ContainsFunc(at.Path, func(h place.Hop) bool { return string(h.Kind) == role })
}

// costliest returns the finding with the largest measured share of the time of slow requests, or nil if no
// share reaches a third.
func (r *Report) costliest(f *Finding) (most *Finding) {
	const third = 1.0 / 3
	slow := slices.DeleteFunc(slices.Clone(f.Requests), func(kind impact.Request) bool {
		return r.Impact.Kind(kind).State != impact.Slow
	})
	part := third
	for _, g := range r.Findings {
		for i := range g.Slows {
			s := &g.Slows[i]
			if s.Phase == latency.Requery { // an estimate: a slow network leaves as much unexplained
				continue
			}
			if slices.Contains(slow, impact.Request(s.Request)) && s.Mean > 0 && s.Ms/s.Mean >= part {
				most, part = g, s.Ms/s.Mean
			}
		}
	}
	return most
}

// isAbout reports whether a finding is about a component: about a session of the process, a role without
// processes, or the component that its check is about.
func (r *Report) isAbout(g *Finding, s *place.Status) bool {
	of := s.Component
	if !of.Kind.Process() {
		return of.Kind == componentOf(g) && (of.Kind != place.Host || g.Object.ID == "host/"+of.Name)
	}
	if of.Name == "" {
		return g.MissingRole == string(of.Kind) || g.MissingRole == WholeCluster
	}
	return g.Mentions(of.Ref()) || SharesProcess(r.Cluster, &Finding{Object: of.Ref()}, g)
}

// componentOf returns the kind of component that a finding is about if it is not about a process, otherwise
// "".
func componentOf(f *Finding) place.Kind {
	switch f.Check {
	case "etcd-alarm", "etcd-no-leader", "etcd-size", "watch-livelock":
		return place.Etcd
	case "queue-unreachable", "queue-lag", "wal-append-slow", "wal-throttled":
		return place.Queue
	case "storage-failing", "storage-read-only", "storage-slow", "files-missing":
		return place.Storage
	case "dependency-unhealthy":
		if strings.HasPrefix(f.Object.ID, "metadata store/") {
			return place.Etcd
		}
		return place.Queue
	case HostStarved:
		return place.Host
	case "component-hanging":
		return place.Kind(f.Object.ID)
	}
	return ""
}

// SharesComponent reports whether two findings are about the same kind of component that is not a process.
func SharesComponent(effect, cause *Finding) bool {
	of := componentOf(effect)
	return of != "" && of == componentOf(cause)
}

// affects reports whether a symptom affects requests of a kind.
func affects(r impact.Request, symptom string) bool {
	switch r {
	case impact.Search, impact.Query:
		return symptom == SearchesFail || symptom == SearchesSlow
	case impact.Insert, impact.Upsert, impact.Delete:
		return symptom == WritesFail
	case impact.Flush:
		return symptom == FlushesHang || symptom == WritesFail
	case impact.DDL:
		return symptom == EtcdSlow || symptom == IndexingHangs || symptom == LoadsHang || symptom == WritesFail
	case impact.Describe:
		return symptom == EtcdSlow
	case impact.Load:
		return symptom == LoadsHang || symptom == EtcdSlow
	case impact.Import:
		return symptom == TasksHang || symptom == WritesFail
	}
	return false
}
