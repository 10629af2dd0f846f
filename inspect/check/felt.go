package check

import (
	"cmp"
	"slices"
	"strings"

	"kitescope/inspect/impact"
	"kitescope/inspect/place"
)

// attach joins each finding about requests that clients feel with the finding that explains it. One that nothing explains says so, and
// where to look.
func (r *Report) attach() {
	symptoms := make(map[string][]string, len(r.Results))
	for _, x := range r.Results {
		symptoms[x.Check.ID] = x.Check.Symptoms
	}
	for _, f := range r.Findings {
		if f.Request == "" || f.Cause != "" {
			continue
		}
		if g := r.explanation(f, symptoms); g != nil {
			f.Cause = g.Key()
			continue
		}
		f.Message += "; no check knows why: look at " + lookAt(r.Places.For(f.Request))
	}
}

// explanation returns the finding that explains one about requests, nil if there is none: it fits the kind of request, and speaks of the
// component where they break, or of the next likely one. If it is not known where, or hardly, it is the worst that fits. A finding that only
// has the time in common explains nothing.
func (r *Report) explanation(f *Finding, symptoms map[string][]string) *Finding {
	var fitting []*Finding
	for _, g := range r.Findings {
		if g.Request == "" && g.Severity >= Warning && (componentOf(g) != "" || slices.ContainsFunc(symptoms[g.Check], func(s string) bool { return fits(f.Request, s) })) {
			fitting = append(fitting, g)
		}
	}
	slices.SortStableFunc(fitting, func(a, b *Finding) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(b.Cost, a.Cost))
	})
	at := r.Places.For(f.Request)
	if at == nil {
		return nil
	}
	costly := r.costliest(f)
	for _, s := range append([]*place.Status{at.At}, at.Also...) {
		if s == nil {
			continue
		}
		for _, g := range fitting {
			if r.speaksOf(g, s) {
				return g
			}
		}
		if s.Strength == place.Strong { // components further on the path do not explain it
			return costly
		}
	}
	if costly != nil {
		return costly
	}
	if at.At != nil && at.At.Strength > place.Weak || len(fitting) == 0 {
		return nil
	}
	return fitting[0]
}

// costliest returns the finding that measurably takes most of the time of requests that are slow, nil if none takes a third.
func (r *Report) costliest(f *Finding) (most *Finding) {
	const third = 1.0 / 3
	if k := r.Impact.Kind(f.Request); k == nil || k.State != impact.Slow {
		return nil
	}
	part := third
	for _, g := range r.Findings {
		for i := range g.Slows {
			if s := &g.Slows[i]; string(s.Request) == string(f.Request) && s.Mean > 0 && s.Ms/s.Mean >= part {
				most, part = g, s.Ms/s.Mean
			}
		}
	}
	return most
}

// speaksOf reports whether a finding is about a component: a session of the process, a role that nobody has, or what its check is about.
func (r *Report) speaksOf(g *Finding, s *place.Status) bool {
	of := s.Component
	if !of.Kind.Process() {
		return of.Kind == componentOf(g)
	}
	if of.Name == "" {
		return g.Lacks == string(of.Kind) || g.Lacks == WholeCluster
	}
	return g.Mentions(of.Ref()) || SharesProcess(r.Cluster, &Finding{Object: of.Ref()}, g)
}

// componentOf returns the kind of component that a finding of a check is about that is about no process, "" for others.
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
	case "component-hanging":
		return place.Kind(f.Object.ID)
	}
	return ""
}

// SharesComponent reports whether two findings are about one component that is no process.
func SharesComponent(effect, cause *Finding) bool {
	of := componentOf(effect)
	return of != "" && of == componentOf(cause)
}

// fits reports whether a symptom is one of requests of a kind.
func fits(r impact.Request, symptom string) bool {
	switch r {
	case impact.Search, impact.Query:
		return symptom == SearchesFail || symptom == SearchesSlow
	case impact.Insert, impact.Upsert, impact.Delete:
		return symptom == WritesFail
	case impact.Flush:
		return symptom == FlushesHang || symptom == WritesFail
	case impact.DDL:
		return symptom == EtcdSlow || symptom == IndexingHangs || symptom == LoadsHang || symptom == WritesFail
	case impact.Load:
		return symptom == LoadsHang || symptom == EtcdSlow
	case impact.Import:
		return symptom == TasksHang || symptom == WritesFail
	}
	return false
}

// lookAt returns what shows more about a place that no check explains.
func lookAt(p *place.Place) string {
	if p == nil || p.At == nil {
		return "the logs of the proxies"
	}
	switch p.At.Component.Kind {
	case place.Etcd:
		return "its disk, its log and the network to it"
	case place.Queue:
		return "the settings of its topics, quotas of clients and the broker's log"
	case place.Storage:
		return "its room, its keys and its log"
	case place.Host:
		return "what else runs there"
	}
	return "its log, its CPU and memory limits, and a profile"
}
