package check

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"kitescope/inspect/balance"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/impact"
	"kitescope/inspect/model"
	"kitescope/inspect/place"
)

// Report holds the results of all checks on a cluster.
type Report struct {
	Cluster *model.Cluster
	Now     time.Time
	// Results holds the results in the order of the checks.
	Results []*Result
	// Findings is ranked: worst first, with each cause before its effects.
	Findings []*Finding
	// Accepted holds the findings that a baseline removed.
	Accepted []*Finding
	Balance  *balance.Survey
	// Impact is the impact on clients. Places holds the places where their requests break.
	Impact *impact.Impact
	Places *place.Places
	// Unsettled holds the ids of collections that changed while the processes were queried. Checks that
	// compare metadata with responses report nothing about them.
	Unsettled []model.CollectionID
}

// Run runs checks on a cluster. now is the time of the cluster's state.
func Run(c *model.Cluster, now time.Time, checks []*Check) *Report {
	return new(Judge).Run(c, now, checks)
}

func (k *cache) run(c *model.Cluster, now time.Time, checks []*Check) *Report {
	next := &cache{}
	r := &Report{Cluster: c, Now: now, Results: make([]*Result, len(checks)), Unsettled: c.ChangedDuringQuery()}
	newest := k.Facts(c, now, &next.Cache)
	joint := k.factsAtQuery(newest, now, next)
	r.Balance, r.Impact, r.Places = joint.Balance, newest.Impact(), newest.Places()
	var wg sync.WaitGroup
	slots := make(chan struct{}, 4)
	for i, x := range checks {
		wg.Go(func() {
			slots <- struct{}{}
			if x.needsResponses() {
				r.Results[i] = r.run(x, joint)
			} else {
				r.Results[i] = r.run(x, newest)
			}
			<-slots
		})
	}
	wg.Wait()
	for _, result := range r.Results {
		r.Findings = append(r.Findings, result.Findings...)
	}
	r.findCauses(checks)
	r.attachRequestCauses()
	r.mute()
	r.rank()
	*k = *next
	return r
}

// run runs one check. A check that panics has failed; the others continue.
func (r *Report) run(x *Check, f *facts.Facts) (result *Result) {
	result = &Result{Check: x}
	start := time.Now()
	defer func() {
		result.Took = time.Since(start)
		if p := recover(); p != nil {
			result.Status, result.Findings = Broken, nil
			result.Reason = fmt.Sprintf("a bug in kitescope: %v at %s", p, firstFrame(debug.Stack()))
		}
	}()
	own := *f
	pass := &Pass{Facts: &own, check: x, result: result, unknownSettings: make(map[string][]string)}
	own.OnUnknownSetting = pass.noteUnknownSetting
	if why := pass.missingNeeds(); why != "" {
		result.Status, result.Reason = Skipped, why
		return result
	}
	x.Run(pass)
	pass.noteUnknownSettings()
	result.setStatus()
	return result
}

// incompletePrefix is the prefix of the reason of a check that could not see everything.
const incompletePrefix = "not fully checked: "

// setStatus sets the status of a check that ran.
func (r *Result) setStatus() {
	switch {
	case len(r.Findings) > 0:
		r.Status = Found
	case r.Reason != "":
		r.Status = Skipped
	case len(r.Unseen) > 0:
		r.Status, r.Reason = Skipped, incompletePrefix+summary(r.Unseen)
	default:
		r.Status = OK
	}
}

// Skip marks a check that does not apply to this cluster: "nothing is configured to ...". Do not use it for
// healthy clusters, which are ok.
func (p *Pass) Skip(reason string) { p.result.Reason = reason }

// findCauses sets the cause of each finding that follows from another.
func (r *Report) findCauses(checks []*Check) {
	byCheck := make(map[string][]*Finding)
	for _, f := range r.Findings {
		byCheck[f.Check] = append(byCheck[f.Check], f)
	}
	var lacks []*Finding
	for _, f := range r.Findings {
		if f.MissingRole != "" {
			lacks = append(lacks, f)
		}
	}
	for _, x := range checks {
		for _, cause := range x.FollowsFrom {
			for _, effect := range byCheck[x.ID] {
				if effect.Cause != "" {
					continue
				}
				for _, f := range byCheck[cause.Check] {
					if f != effect && (cause.Applies == nil || cause.Applies(r.Cluster, effect, f)) {
						effect.Cause = f.Key()
						break
					}
				}
			}
		}
		for _, effect := range byCheck[x.ID] {
			if i := slices.IndexFunc(lacks,
				func(f *Finding) bool { return f != effect && f.explains(r.Cluster, x) }); i >= 0 &&
				effect.Cause == "" {
				effect.Cause = lacks[i].Key()
			}
		}
	}
}

// rank sorts findings. Those that explain the impact on clients come first, then by severity and cost.
// Effects add their weight to their cause and are placed after it. If no process answered, that finding comes
// first, because everything else is known without the processes.
func (r *Report) rank() {
	roots, effects := r.groupByRoot()
	type weight struct {
		leads    bool
		felt     bool
		severity Severity
		cost     float64
	}
	silent := r.noResponseFindings()
	weights := make(map[*Finding]weight)
	for _, root := range roots {
		w := weight{silent[root], root.Requests != nil, root.Severity, root.Cost}
		for _, e := range effects[root.Key()] {
			w.felt = w.felt || e.Requests != nil
			w.severity, w.cost = max(w.severity, e.Severity), max(w.cost, e.Cost)
		}
		weights[root] = w
	}
	order := make(map[string]int)
	for i, result := range r.Results {
		order[result.Check.ID] = i
	}
	compare := func(a, b *Finding) int {
		return cmp.Or(-cmp.Compare(a.Severity, b.Severity), -cmp.Compare(a.Cost, b.Cost),
			cmp.Compare(order[a.Check], order[b.Check]),
			cmp.Compare(a.Object.Resource, b.Object.Resource), cmp.Compare(a.Object.Name, b.Object.Name),
			cmp.Compare(a.Object.ID, b.Object.ID))
	}
	slices.SortStableFunc(roots, func(a, b *Finding) int {
		x, y := weights[a], weights[b]
		first := func(a, b bool) int {
			switch {
			case a == b:
				return 0
			case a:
				return -1
			}
			return 1
		}
		return cmp.Or(first(x.leads, y.leads), first(x.felt, y.felt), -cmp.Compare(x.severity, y.severity),
			-cmp.Compare(x.cost, y.cost), compare(a, b))
	})
	r.Findings = r.Findings[:0]
	for _, root := range roots {
		r.Findings = append(r.Findings, root)
		list := effects[root.Key()]
		slices.SortStableFunc(list, compare)
		r.Findings = append(r.Findings, list...)
	}
}

// noResponseFindings returns the findings that no process answered: findings about the whole cluster by checks with
// NeedResponses. It returns nil if a process answered.
func (r *Report) noResponseFindings() map[*Finding]bool {
	c := r.Cluster
	if c == nil || c.Runtime == nil ||
		slices.ContainsFunc(c.Runtime.Nodes, func(n *model.LiveNode) bool { return n.Outcome == model.Answered }) {
		return nil
	}
	list := make(map[*Finding]bool)
	for _, x := range r.Results {
		for _, f := range x.Findings {
			list[f] = x.Check.Needs&NeedResponses != 0 && f.Object.Resource == ""
		}
	}
	return list
}

// groupByRoot returns the findings without a cause, and the others by the key of their root cause. Findings in a
// cycle of causes are roots.
func (r *Report) groupByRoot() (roots []*Finding, effects map[string][]*Finding) {
	byKey := make(map[string]*Finding, len(r.Findings))
	for _, f := range r.Findings {
		byKey[f.Key()] = f
	}
	effects = make(map[string][]*Finding)
	for _, f := range r.Findings {
		root := f
		for range len(r.Findings) {
			next := byKey[root.Cause]
			if next == nil {
				break
			}
			root = next
		}
		if root == f || root.Cause != "" && byKey[root.Cause] != nil {
			roots = append(roots, f)
			continue
		}
		effects[root.Key()] = append(effects[root.Key()], f)
	}
	return roots, effects
}

// Worst returns the highest severity of the findings. ok is false if there are none.
func (r *Report) Worst() (worst Severity, ok bool) {
	for _, f := range r.Findings {
		worst, ok = max(worst, f.Severity), true
	}
	return worst, ok
}

// Count returns the number of findings of a severity.
func (r *Report) Count(s Severity) int {
	n := 0
	for _, f := range r.Findings {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// About returns the findings whose Object or Objects include an object.
func (r *Report) About(resource, id string) []*Finding {
	same := func(x model.Ref) bool { return x.Resource == resource && x.ID == id }
	var list []*Finding
	for _, f := range r.Findings {
		if same(f.Object) || slices.ContainsFunc(f.Objects, same) {
			list = append(list, f)
		}
	}
	return list
}
