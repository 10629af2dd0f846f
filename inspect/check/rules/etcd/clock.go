package etcd

import (
	"fmt"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/words"
)

// Thresholds of clock-regression.
const (
	// aheadGrace is by how much positions may be ahead of the timestamps that RootCoord has reserved. It reserves 3 s in
	// advance (allocator of kv/gid/timestamp, and kv/tso/timestamp before 2.3); segments may expire 2 s later still.
	aheadGrace = 10 * time.Second
	// skewWarning is by how much the clock of who reads may differ from the cluster's.
	skewWarning = 2 * time.Minute
)

// clockRegression finds timestamps that cannot be.
var clockRegression = &check.Check{
	ID:       "clock-regression",
	Title:    "Timestamps are ahead of Milvus's own clock, or its clock stands still",
	Severity: check.Error,
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
	FollowsFrom: []check.Cause{{Check: "node-unreachable", Of: func(_ *model.Cluster, effect, cause *check.Finding) bool {
		return effect.Severity < check.Error && cause.Object.Resource == ""
	}}}, // nobody answers at all
	Roles: []string{"rootcoord"},
}

func runClock(p *check.Pass) error {
	reserved := p.Reserved()
	if reserved.IsZero() {
		return p.Skip("the allocator of timestamps is not in the metadata")
	}
	judgePositions(p, reserved)
	if p.ByClock() && !p.Now.IsZero() {
		judgeSkew(p, reserved)
	}
	return nil
}

func judgePositions(p *check.Pass, reserved time.Time) {
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
			objects = append(objects, facts.RefVChannel(v.Name))
		}
	}
	first, most, n := p.Beyond(limit)
	count += n
	for _, s := range first {
		objects = append(objects, facts.RefSegment(s.ID))
	}
	if most != nil {
		note(facts.Position(most), "position of segment "+most.ID.String())
	}
	objects = objects[:min(len(objects), facts.MaxObjects)]
	if count == 0 {
		return
	}
	p.Report(check.Finding{
		Severity: check.Error, Objects: objects,
		Message: fmt.Sprintf("%s %s ahead of the timestamps that RootCoord has reserved, by up to %s", words.Plural(count, "position"), words.Agree(count, "is", "are"), words.Span(furthest.Time().Sub(reserved))),
		Evidence: []check.Evidence{
			check.Fact("reserved until", facts.TimeText(reserved), "etcd"), check.Fact("furthest position", facts.TimeText(furthest.Time()), "etcd"), check.Fact("it is the", where, "etcd"), check.Count("positions ahead", count, "etcd"),
		},
		Impact: "What is written now gets older timestamps than what is there: it may not be found, and deletes may hit the wrong rows.",
		Hint:   check.Advise("stop writers until %s, or restore a newer copy of etcd", furthest.Time()),
	})
}

func judgeSkew(p *check.Pass, reserved time.Time) {
	now := p.Now.Add(p.Ahead)
	skew := now.Sub(reserved)
	if skew.Abs() < skewWarning || !facts.HasRole(p.Cluster, "rootcoord") && !facts.HasRole(p.Cluster, "mixcoord") {
		return
	}
	severity, direction, impact := check.Warning, "behind", "Ages that are shown are too great, or RootCoord does not run."
	if skew < 0 {
		direction, impact = "ahead of", "Ages that are shown are too small."
	}
	if p.Ahead != 0 {
		severity, impact = check.Info, "Ages in lists are wrong by as much; findings count by the cluster's clock."
	}
	p.Report(check.Finding{
		Severity: severity, Object: clockKeeper(p),
		Message:  fmt.Sprintf("the cluster's timestamps are %s %s the clock of the machine that read them", words.Span(skew.Abs()), direction),
		Evidence: []check.Evidence{check.Fact("reserved until", facts.TimeText(reserved), "etcd"), check.Fact("clock of that machine", facts.TimeText(now), "kitescope")},
		Impact:   impact,
		Hint:     "compare the clocks of both machines, that one and RootCoord's; look whether RootCoord answers",
	})
}

// clockKeeper is the session that hands out timestamps.
func clockKeeper(p *check.Pass) model.Ref {
	for _, s := range p.Sessions {
		if (s.Role == "rootcoord" || s.Role == "mixcoord") && !s.Standby {
			return facts.RefNode(s.Role, s.Node)
		}
	}
	return model.Ref{}
}
