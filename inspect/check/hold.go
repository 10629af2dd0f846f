package check

import (
	"slices"
	"strings"
	"time"
)

// Hold delays the findings of repeated reports on one cluster, so a finding that flaps is shown once:
//
//   - Errors and warnings appear at once. Warnings about slowness appear if two of three rounds of responses
//     have them, infos after 30 seconds and two rounds in a row. Findings in the first report appear with it,
//     except warnings about slowness.
//   - A finding goes after it was absent for 30 seconds and two rounds, a warning about slowness after a
//     minute. That time is four times as long, up to two minutes, each time the finding returns within two
//     minutes. A higher severity is kept for the same time.
//
// Times are those of the reports. The zero Hold is ready for use.
type Hold struct {
	last  *Report
	known []*heldFinding
	// incomplete holds the checks that could not see everything, by id.
	incomplete map[string]*presence
	round      time.Time // time of the newest responses
}

// HoldState holds the times of a finding that a Hold shows.
type HoldState struct {
	// Since and Seen are the times of the first and the last report with the finding at this severity or
	// higher.
	Since, Seen time.Time
	// Absent is true if the newest report does not have the finding.
	Absent bool
	// Hold is the time for which the finding must be absent before it goes.
	Hold time.Duration
}

// IncompleteChecks lists checks that became unable to see everything for one reason.
type IncompleteChecks struct {
	Why    string
	Checks []*Check
}

// holdThresholds holds the thresholds of a presence.
type holdThresholds struct {
	rounds int           // rounds before it appears
	gap    int           // rounds in a row that may be without it in between
	after  time.Duration // time before it appears
	hold   time.Duration // time of absence before it goes
}

const (
	holdTime   = 30 * time.Second
	holdSlow   = time.Minute
	holdRounds = 2
	// A finding that returns within longestHold is held holdFactor times as long as before, at most longestHold.
	longestHold = 2 * time.Minute
	holdFactor  = 4
	// holdIncomplete is long because checks repeatedly become unable to see everything while collections come and
	// go.
	holdIncomplete = 10 * time.Minute
)

// presence is a debounced state: whether something is present, without the flaps.
type presence struct {
	on          bool
	since, seen time.Time // first and last time
	rounds      int       // rounds with it
	missed      int       // rounds since then without it
	goneAt      time.Time
	hold        time.Duration
}

func (p *presence) update(present bool, now time.Time, round bool, wait holdThresholds) {
	if !present {
		if round {
			p.missed++
		}
		switch {
		case !p.on && p.missed > wait.gap:
			p.rounds = 0
		case p.on && p.missed >= holdRounds && now.Sub(p.seen) >= p.hold:
			p.on, p.rounds, p.goneAt = false, 0, now
		}
		return
	}
	if p.rounds == 0 {
		p.since = now
	}
	if round || p.rounds == 0 {
		p.rounds++
	}
	p.seen, p.missed = now, 0
	if p.on || p.rounds < wait.rounds || now.Sub(p.since) < wait.after {
		return
	}
	p.on = true
	if p.goneAt.IsZero() || now.Sub(p.goneAt) > longestHold {
		p.hold = wait.hold
	} else {
		p.hold = max(wait.hold, min(holdFactor*p.hold, longestHold))
	}
}

// relevant reports whether a presence still affects later reports.
func (p *presence) relevant(now time.Time) bool {
	return p.on || p.rounds > 0 || !p.goneAt.IsZero() && now.Sub(p.goneAt) <= longestHold
}

// heldFinding is a recent finding, shown or not.
type heldFinding struct {
	latest *Finding
	// levels holds, for each Severity, whether the finding is present with at least this severity.
	levels [Error + 1]struct {
		presence
		finding *Finding // the last one with exactly this severity
	}
}

func (h *heldFinding) update(f *Finding, now time.Time, round bool, wait func(Severity) holdThresholds) {
	for s := range h.levels {
		h.levels[s].update(f != nil && f.Severity >= Severity(s), now, round, wait(Severity(s)))
	}
	if f != nil {
		h.latest, h.levels[f.Severity].finding = f, f
	}
}

// shown returns the finding to show, nil if none.
func (h *heldFinding) shown(now time.Time) *Finding {
	for s := int(Error); s >= 0; s-- {
		if l := &h.levels[s]; l.on && l.finding != nil {
			f := *l.finding
			f.Held = HoldState{l.since, l.seen, l.seen.Before(now), l.hold}
			return &f
		}
	}
	return nil
}

func (h *heldFinding) relevant(now time.Time) bool {
	for s := range h.levels {
		if h.levels[s].relevant(now) {
			return true
		}
	}
	return false
}

func (h *heldFinding) pending(now time.Time) bool {
	for s := int(Error); s >= 0; s-- {
		switch p := &h.levels[s]; {
		case p.on:
			return p.seen.Before(now)
		case p.rounds > 0:
			return true
		}
	}
	return false
}

// Next returns a report with the findings to show, and the checks that can no longer see everything since the
// last report, grouped by reason, largest group first. r is not changed.
func (h *Hold) Next(r *Report) (*Report, []IncompleteChecks) {
	first := h.last == nil
	if first {
		h.last, h.incomplete = r, make(map[string]*presence)
	}
	live := r.Cluster.Runtime != nil && r.Cluster.Runtime.Kind == "live"
	round := !live || !r.Cluster.Runtime.To.Equal(h.round)
	if live {
		h.round = r.Cluster.Runtime.To
	}
	now := h.match(r)
	checks := make(map[string]*Check, len(r.Results))
	for _, x := range r.Results {
		checks[x.Check.ID] = x.Check
	}
	shown := make(map[string][]*Finding)
	for _, k := range h.known {
		x := checks[k.latest.Check]
		k.update(now[k], r.Now, round, func(s Severity) holdThresholds {
			switch {
			case s == Warning && live && x != nil && x.slowness():
				return holdThresholds{rounds: holdRounds, gap: 1, hold: holdSlow}
			case s == Info && !first:
				return holdThresholds{rounds: holdRounds, after: holdTime, hold: holdTime}
			}
			return holdThresholds{rounds: 1, hold: holdTime}
		})
		if f := k.shown(r.Now); f != nil {
			shown[f.Check] = append(shown[f.Check], f)
		}
	}
	h.known = slices.DeleteFunc(h.known, func(k *heldFinding) bool { return !k.relevant(r.Now) })
	h.last = r
	return r.withFindings(shown), h.newlyIncomplete(r, round, first)
}

// match assigns the findings of a report to known ones. It adds those that are new.
func (h *Hold) match(r *Report) map[*heldFinding]*Finding {
	old := earlierState{report: h.last}
	byLatest := make(map[*Finding]*heldFinding, len(h.known))
	for _, k := range h.known {
		old.findings = append(old.findings, k.latest)
		byLatest[k.latest] = k
	}
	matched := old.match(r)
	now := make(map[*heldFinding]*Finding, len(r.Findings))
	for _, f := range r.Findings {
		k := byLatest[matched[f]]
		if k == nil {
			k = &heldFinding{latest: f}
			h.known = append(h.known, k)
		}
		now[k] = f
	}
	return now
}

// withFindings returns a copy of a report with other findings. of is by check id.
func (r *Report) withFindings(of map[string][]*Finding) *Report {
	next := *r
	next.Results, next.Findings = make([]*Result, len(r.Results)), nil
	for i, x := range r.Results {
		result := *x
		result.Findings = of[x.Check.ID]
		switch {
		case len(result.Findings) > 0 && x.Status == OK:
			result.Status = Found
		case len(result.Findings) == 0 && x.Status == Found:
			result.setStatus()
		}
		next.Results[i] = &result
		next.Findings = append(next.Findings, result.Findings...)
	}
	next.rank()
	return &next
}

// newlyIncomplete returns the checks that could not see everything for 30 seconds and two rounds, and could
// before.
func (h *Hold) newlyIncomplete(r *Report, round, first bool) []IncompleteChecks {
	wait := holdThresholds{rounds: holdRounds, after: holdTime, hold: holdIncomplete}
	if first {
		wait = holdThresholds{rounds: 1, hold: holdIncomplete}
	}
	var list []IncompleteChecks
	for _, x := range r.Results {
		all, why := r.Judged(x.Check.ID)
		p := h.incomplete[x.Check.ID]
		if p == nil {
			p = &presence{}
			h.incomplete[x.Check.ID] = p
		}
		was := p.on
		p.update(!all, r.Now, round, wait)
		if was || !p.on || first {
			continue
		}
		why = strings.TrimPrefix(why, incompletePrefix)
		i := slices.IndexFunc(list, func(u IncompleteChecks) bool { return u.Why == why })
		if i < 0 {
			i, list = len(list), append(list, IncompleteChecks{Why: why})
		}
		list[i].Checks = append(list[i].Checks, x.Check)
	}
	slices.SortStableFunc(list, func(a, b IncompleteChecks) int { return len(b.Checks) - len(a.Checks) })
	return list
}

// Pending reports whether a later report on the same cluster may show something else.
func (h *Hold) Pending() bool {
	return slices.ContainsFunc(h.known, func(k *heldFinding) bool { return k.pending(h.last.Now) })
}

// slowness reports whether a check judges how slow or late something was. One window is not enough for that.
func (x *Check) slowness() bool { return x.Slowness || len(x.Requests) > 0 }
