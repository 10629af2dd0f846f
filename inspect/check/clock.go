package check

import (
	"fmt"
	"slices"
	"time"

	"kitescope/inspect/model"
)

// Thresholds of clock-regression.
const (
	// aheadGrace is by how much positions may be ahead of the timestamps that RootCoord has reserved. It reserves 3 s in
	// advance (allocator of kv/gid/timestamp, and kv/tso/timestamp before 2.3); segments may expire 2 s later still.
	aheadGrace = 10 * time.Second
	// skewWarning is by how much the clock of who reads may differ from the cluster's.
	skewWarning = 2 * time.Minute
)

// ClockRegression finds timestamps that cannot be.
var ClockRegression = &Check{
	ID:       "clock-regression",
	Title:    "Timestamps are ahead of Milvus's own clock, or its clock stands still",
	Severity: Error,
	Since:    "0.3",
	Parts:    model.PartObjects | model.PartSegments | model.PartChannels | model.PartSessions | model.PartRest,
	Doc: `RootCoord hands out all timestamps (TSO), and keeps in etcd up to when it has reserved them, about 3 seconds ahead.

- Checkpoints or segment positions more than 10 seconds ahead of that reservation: an error. The clock went back, or etcd was restored from a copy that is older than the data. New
  writes then get older timestamps than what is there: they count as deleted or are passed over.
- On a live cluster, or a bundle of one, a reservation that differs from the clock of the machine that read it by more than 2 minutes: a warning. Either that clock or the cluster's is wrong, and then
  the ages in lists are too, or RootCoord does not run. As long as RootCoord answers it is an information: findings then count by its clock. From other files this cannot be judged, as their time is taken from that very reservation.

The greatest timestamp, with which 2.6 marks dropped channels, does not count, and neither do dropped segments.`,
	Remedy: `Mend the clocks of the nodes (NTP) first. If positions are ahead, RootCoord hands out no older timestamps once its own has caught up: wait that long with writers stopped, or restore a newer
copy of etcd.`,
	Run: runClock,
	FollowsFrom: []Cause{{Check: "node-unreachable", Of: func(_ *model.Cluster, effect, cause *Finding) bool {
		return effect.Severity < Error && cause.Object.Resource == ""
	}}}, // nobody answers at all
	Roles: []string{"rootcoord"},
}

func runClock(p *Pass) error {
	reserved := p.reserved()
	if reserved.IsZero() {
		return p.Skip("the allocator of timestamps is not in the metadata")
	}
	p.judgePositions(reserved)
	if p.byClock() && !p.Now.IsZero() {
		p.judgeSkew(reserved)
	}
	return nil
}

func (p *Pass) judgePositions(reserved time.Time) {
	limit := model.TSOFromTime(reserved.Add(aheadGrace))
	var furthest model.TSO
	where := ""
	var objects []model.Ref
	count := 0
	note := func(t model.TSO, what string) {
		if t > furthest {
			furthest, where = t, what
		}
	}
	for _, v := range p.VChannels {
		if t := v.Checkpoint.At; t > limit && t != model.MaxTSO {
			count++
			note(t, "checkpoint of "+v.Name)
			objects = append(objects, refVChannel(v.Name))
		}
	}
	first, most, n := p.aheadOf(limit)
	count += n
	for _, s := range first {
		objects = append(objects, refSegment(s.ID))
	}
	if most != nil {
		note(position(most), "position of segment "+most.ID.String())
	}
	objects = objects[:min(len(objects), maxObjects)]
	if count == 0 {
		return
	}
	p.Report(Finding{
		Severity: Error, Objects: objects,
		Message: fmt.Sprintf("%s %s ahead of the timestamps that RootCoord has reserved, by up to %s", plural(count, "position"), agree(count, "is", "are"), span(furthest.Time().Sub(reserved))),
		Evidence: []Evidence{
			{"reserved until", timeText(reserved), "etcd"}, {"furthest position", timeText(furthest.Time()), "etcd"}, {"it is the", where, "etcd"}, {"positions ahead", number(count), "etcd"},
		},
		Impact: "What is written now gets older timestamps than what is there: it may not be found, and deletes may hit the wrong rows.",
		Hint:   advise("stop writers until %s, or restore a newer copy of etcd", furthest.Time()),
	})
}

// aheadOf are the segments, not dropped, with a position beyond a limit: the first of them by id, the one that has come
// furthest, nil if there is none, and how many they are.
func (p *Pass) aheadOf(limit model.TSO) (first []*model.Segment, furthest *model.Segment, count int) {
	var most beyond
	for _, id := range p.SegmentOwners() {
		list, last := p.digestOf(id).beyondOf(limit)
		if last == nil {
			continue
		}
		most.add(last)
		count += len(list)
		first = append(first, list[:min(len(list), maxObjects)]...)
	}
	slices.SortFunc(first, byID)
	return first[:min(len(first), maxObjects)], most.furthest, count
}

func (p *Pass) judgeSkew(reserved time.Time) {
	now := p.Now.Add(p.Ahead)
	skew := now.Sub(reserved)
	if skew.Abs() < skewWarning || !hasRole(p.Cluster, "rootcoord") && !hasRole(p.Cluster, "mixcoord") {
		return
	}
	severity, direction, impact := Warning, "behind", "Ages that are shown are too great, or RootCoord does not run."
	if skew < 0 {
		direction, impact = "ahead of", "Ages that are shown are too small."
	}
	if p.Ahead != 0 {
		severity, impact = Info, "Ages in lists are wrong by as much; findings count by the cluster's clock."
	}
	p.Report(Finding{
		Severity: severity, Object: p.clockKeeper(),
		Message:  fmt.Sprintf("the cluster's timestamps are %s %s the clock of the machine that read them", span(skew.Abs()), direction),
		Evidence: []Evidence{{"reserved until", timeText(reserved), "etcd"}, {"clock of that machine", timeText(now), "kitescope"}},
		Impact:   impact,
		Hint:     "compare the clocks of both machines, that one and RootCoord's; look whether RootCoord answers",
	})
}

// clockKeeper is the session that hands out timestamps.
func (p *Pass) clockKeeper() model.Ref {
	for _, s := range p.Sessions {
		if (s.Role == "rootcoord" || s.Role == "mixcoord") && !s.Standby {
			return refNode(s.Role, s.Node)
		}
	}
	return model.Ref{}
}
