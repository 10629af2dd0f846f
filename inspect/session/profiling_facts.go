package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"kitescope/inspect/model"
	"kitescope/profile"
	"kitescope/profile/pull"
	"kitescope/profile/report"
)

// ProfileFacts computes from the profiles of a record the values that checks use. Unreadable profiles become
// problems of the result. It returns an error if ctx ends or if comparing the profiles fails.
func ProfileFacts(ctx context.Context, record *pull.Record, c *model.Cluster) (*model.Profiles, error) {
	f := &profileReader{
		c: c, record: record, byName: make(map[string]*model.ProfiledProcess),
		cpus: make(map[*model.ProfiledProcess]*profile.Profile),
		out:  &model.Profiles{Location: record.Path},
	}
	for _, p := range record.Problems {
		f.out.Problems = append(f.out.Problems, p.Where+": "+p.Reason)
	}
	f.failures()
	goroutines := make(map[*model.ProfiledProcess][]*profile.Profile)
	for i := range record.Items {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		item := &record.Items[i]
		if !f.wanted(item) {
			continue
		}
		p, err := f.open(ctx, item)
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			return nil, err
		}
		if err != nil {
			f.out.Problems = append(f.out.Problems, item.Name+": "+err.Error())
			continue
		}
		if x := f.process(item); kindOf(item, p) == pull.Goroutine {
			goroutines[x] = append(goroutines[x], p)
		} else {
			f.addProfile(x, kindOf(item, p), p)
		}
		f.extendSpan(item, p)
	}
	for x, dumps := range goroutines {
		f.growth(x, dumps)
	}
	if err := f.compare(); err != nil {
		return nil, err
	}
	slices.SortFunc(f.out.Processes, func(a, b *model.ProfiledProcess) int { return cmp.Compare(a.Name, b.Name) })
	return f.out, nil
}

// Busiest returns the newest CPU profile of the process that uses the most CPU time, and that process, or nil if no
// profile shows it. profiles must be the result of ProfileFacts for record, which has the problems of unreadable
// profiles. It returns an error only if ctx ends.
func Busiest(
	ctx context.Context, record *pull.Record, profiles *model.Profiles,
) (*profile.Profile, *model.ProfiledProcess, error) {
	var most *model.ProfiledProcess
	for _, x := range profiles.Processes {
		if x.CPU != nil && x.CPU.Cores > 0 && (most == nil || x.CPU.Cores > most.CPU.Cores) {
			most = x
		}
	}
	if most == nil {
		return nil, nil, nil
	}
	f := &profileReader{record: record}
	for i := range record.Items {
		item := &record.Items[i]
		if item.Node != most.Name || item.Kind != pull.CPU && item.Kind != "" || !f.wanted(item) {
			continue
		}
		p, err := f.open(ctx, item)
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case err == nil && kindOf(item, p) == pull.CPU:
			return p, most, nil
		}
	}
	return nil, nil, nil
}

// profileReader reads the profiles of a record.
type profileReader struct {
	c      *model.Cluster
	record *pull.Record
	out    *model.Profiles
	byName map[string]*model.ProfiledProcess
	cpus   map[*model.ProfiledProcess]*profile.Profile
}

// newest returns the last round that has a profile of a kind, or -1. It represents the current state.
func (f *profileReader) newest(kind pull.Kind) int {
	round := -1
	for i := range f.record.Items {
		if f.record.Items[i].Kind == kind {
			round = max(round, f.record.Items[i].Round)
		}
	}
	return round
}

// mutexDelta is the kind of mutex profiles that cover only a window.
const mutexDelta = pull.Mutex + "-delta"

// wanted reports whether an item is used. CPU and mutex profiles are used only from the newest round, goroutine
// profiles from all rounds.
func (f *profileReader) wanted(item *pull.Item) bool {
	switch item.Kind {
	case pull.Goroutine:
		return true
	case pull.CPU, mutexDelta:
		return item.Round == f.newest(item.Kind)
	case "": // the name does not contain the kind
		return f.newest(pull.CPU) < 0
	default:
		return false
	}
}

// kindOf returns the kind of a profile, from the item or otherwise from the profile's sample type. It returns "" if
// it is unknown.
func kindOf(item *pull.Item, p *profile.Profile) pull.Kind {
	if item.Kind != "" {
		return item.Kind
	}
	if kind, err := p.KindOf(""); err == nil {
		switch p.Types[kind].Type {
		case "cpu":
			return pull.CPU
		case "goroutine":
			return pull.Goroutine
		}
	}
	return ""
}

func (f *profileReader) open(ctx context.Context, item *pull.Item) (*profile.Profile, error) {
	file, err := item.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p, err := profile.Decode(ctx, file, profile.Limits{})
	if err != nil {
		return nil, err
	}
	p.Origin.Name, p.Origin.Node, p.Origin.Role = item.Name, item.Node, item.Role
	return p, nil
}

// process returns the process of an item and adds it if it is new.
func (f *profileReader) process(item *pull.Item) *model.ProfiledProcess {
	if x := f.byName[item.Node]; x != nil {
		return x
	}
	return f.add(item.Node, item.Roles, item.NodeIDs)
}

func (f *profileReader) add(name string, roles, ids []string) *model.ProfiledProcess {
	x := &model.ProfiledProcess{Name: name, Roles: slices.Clone(roles)}
	for _, id := range ids {
		if n, err := strconv.ParseInt(id, 10, 64); err == nil {
			x.Nodes = append(x.Nodes, model.NodeID(n))
		}
	}
	if role, id, ok := sessionOf(name); ok && len(x.Nodes) == 0 && f.c.SessionIn(id, role) != nil {
		x.Nodes = []model.NodeID{id}
		if !x.Has(role) {
			x.Roles = append(x.Roles, role)
		}
	}
	for _, g := range f.c.ResourceGroups {
		if x.Has("querynode") &&
			slices.ContainsFunc(g.Nodes, func(id model.NodeID) bool { return slices.Contains(x.Nodes, id) }) {
			x.Group = g.Name
		}
	}
	f.byName[name] = x
	f.out.Processes = append(f.out.Processes, x)
	return x
}

// sessionOf parses the name of a session, e.g. "querynode-3".
func sessionOf(name string) (role string, id model.NodeID, ok bool) {
	role, number, ok := strings.Cut(name, "-")
	n, err := strconv.ParseInt(number, 10, 64)
	return role, model.NodeID(n), ok && err == nil
}

// failures records the profiles that could not be pulled in the last round, with the reasons.
func (f *profileReader) failures() {
	for round, r := range f.record.Rounds {
		if r.Manifest == nil || round != len(f.record.Rounds)-1 {
			continue
		}
		for i := range r.Manifest.Profiles {
			e := &r.Manifest.Profiles[i]
			x := f.byName[e.Node]
			if x == nil {
				x = f.add(e.Node, e.Roles, e.NodeIDs)
			}
			if e.Outcome == pull.OK {
				continue
			}
			reason := string(e.Outcome)
			if e.Error != "" {
				reason += ": " + e.Error
			}
			switch e.Kind {
			case pull.CPU:
				x.CPUReason = reason
			case mutexDelta:
				x.MutexReason = reason
			case pull.Goroutine:
				x.GoroutineReason = reason
			default: // other kinds are not used
			}
		}
	}
}

// extendSpan extends the time span of the result to include a profile.
func (f *profileReader) extendSpan(item *pull.Item, p *profile.Profile) {
	from, to := item.From, item.To
	if from.IsZero() || to.IsZero() {
		from, to = p.Time, p.Time.Add(p.Duration)
	}
	if from.IsZero() {
		return
	}
	if f.out.From.IsZero() || from.Before(f.out.From) {
		f.out.From = from
	}
	if to.After(f.out.To) {
		f.out.To = to
	}
}

// addProfile adds a profile of the current state to a process.
func (f *profileReader) addProfile(x *model.ProfiledProcess, kind pull.Kind, p *profile.Profile) {
	switch kind {
	case pull.CPU:
		if _, err := p.KindOf("cpu"); err != nil {
			x.CPUReason = err.Error()
			return
		}
		f.cpus[x] = p
	case mutexDelta:
		w, err := report.NewWaits(p)
		if err != nil {
			x.MutexReason = err.Error()
			return
		}
		m := &model.MutexProfile{Period: w.Duration, Enabled: w.Total > 0, Waiting: w.Waiting}
		for _, e := range w.Places {
			m.Where = append(m.Where, model.WaitPlace{
				Function: e.Function, Part: float64(e.Cum) / float64(max(1, w.Total)),
			})
		}
		x.Mutex = m
	default: // other kinds are not used
	}
}

// growth compares the goroutine dumps of a process. It lists the stacks that grew significantly and at least
// doubled.
func (f *profileReader) growth(x *model.ProfiledProcess, dumps []*profile.Profile) {
	g, err := report.NewGrowth(dumps)
	if err != nil {
		x.GoroutineReason = err.Error()
		return
	}
	d := &model.GoroutineDumps{
		Dumps: len(dumps), From: g.From, To: g.To, Before: g.Totals[0], After: g.Totals[len(dumps)-1],
	}
	for _, s := range g.Stacks {
		before, after := s.Counts[0], s.Counts[len(dumps)-1]
		if s.Verdict == report.Increased && after >= 2*before {
			d.Grown = append(d.Grown, model.GrownStack{
				Function: s.Function, Entry: s.Entry, Frames: s.Frames, Before: before, After: after, Steady: s.Steady,
				P: s.P,
			})
		}
	}
	x.Goroutines = d
	if len(dumps) < 2 && x.GoroutineReason == "" {
		x.GoroutineReason = "its goroutines were counted only once: growth needs two dumps"
	}
}

// compare computes how the processes spend CPU time and which differ. It compares processes with the same roles,
// and query nodes only within their resource group.
func (f *profileReader) compare() error {
	of := make(map[string]*model.ProfiledProcess)
	var list []*profile.Profile
	for _, x := range f.out.Processes {
		p := f.cpus[x]
		if p == nil {
			continue
		}
		roles := slices.Sorted(slices.Values(x.Roles))
		one := *p
		one.Origin.Role = fmt.Sprintf("%q in %q", cmp.Or(strings.Join(roles, ","), report.RoleOf(x.Name)), x.Group)
		one.Origin.Node = x.Name
		of[x.Name] = x
		list = append(list, &one)
	}
	nodes, err := report.NewNodes(list)
	if err != nil {
		return err
	}
	peers := map[string]int{}
	for _, s := range nodes {
		peers[s.Origin.Role]++
	}
	for _, s := range nodes {
		x := of[s.Node]
		x.CPU = cpuFacts(s, peers[s.Origin.Role]-1)
		if x.CPU.Hottest, err = hottest(f.cpus[x]); err != nil {
			return err
		}
	}
	return nil
}

// hottest returns at most 5 functions of a CPU profile, by flat time, the largest first.
func hottest(p *profile.Profile) ([]model.HotFrame, error) {
	const few = 5
	top, err := report.NewTop(p, report.Options{SampleIndex: "cpu", FoldPreempt: true})
	if err != nil {
		return nil, err
	}
	var list []model.HotFrame
	for _, e := range top.Entries[:min(few, len(top.Entries))] {
		if e.Flat > 0 {
			list = append(list,
				model.HotFrame{Function: e.Function, Part: float64(e.Flat) / float64(max(1, top.Total))})
		}
	}
	return list, nil
}

// cpuFacts converts the shares of a CPU profile. peers is the number of processes compared with it.
func cpuFacts(s *report.NodeShares, peers int) *model.CPUProfile {
	loads := map[report.Load]model.ProfileLoad{
		report.LoadEven: model.LoadEven, report.LoadLow: model.LoadLow, report.LoadIdle: model.LoadIdle,
		report.LoadHigh: model.LoadHigh,
	}
	c := &model.CPUProfile{
		Period: s.Duration.Round(time.Millisecond), Samples: s.Samples, Cores: s.Cores, Load: loads[s.Load],
		Others: s.Others, Peers: peers,
		GC: shareFact(s.GC), LockWait: shareFact(s.LockWait), OpenMP: shareFact(s.BruteForce.Exhaustive),
		Knowhere: shareFact(s.BruteForce.Knowhere),
	}
	if s.BruteForce.Known {
		brute := shareFact(s.BruteForce.Part)
		c.BruteForce = &brute
	} else {
		c.BruteReason = s.BruteForce.Reason
	}
	return c
}

func shareFact(p report.Part) model.ProfileShare {
	return model.ProfileShare{Samples: p.Events, Part: p.Part, Low: p.Low, High: p.High}
}
