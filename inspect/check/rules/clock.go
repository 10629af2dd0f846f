package rules

import (
	"fmt"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// Thresholds of clock-regression.
const (
	// aheadGrace is how far positions may be ahead of the timestamps that RootCoord has reserved. It reserves 3 s
	// in advance (allocator of kv/gid/timestamp, and kv/tso/timestamp before 2.3); segments may expire 2 s after
	// that.
	aheadGrace = 10 * time.Second
	// skewWarning is the tolerated difference between the reader's clock and the cluster's.
	skewWarning = 2 * time.Minute
)

// clockRegression reports timestamps that are impossible.
var clockRegression = &check.Check{
	ID:       "clock-regression",
	Title:    "Timestamps are ahead of RootCoord's clock, or its clock has stopped",
	Severity: check.Error,
	Symptoms: []string{check.SearchesFail, check.WritesFail, check.AfterRestart},
	Starts:   "node_joined:rootcoord | node_joined",
	Parts:    model.PartObjects | model.PartSegments | model.PartChannels | model.PartSessions | model.PartRest,
	Doc: `The clock was set back, and new rows count as deleted or are skipped because their timestamps are older than
existing rows. RootCoord allocates all timestamps (TSO). It stores in etcd the time up to which they are reserved,
about 3 seconds ahead.

- Error: checkpoints or segment positions more than 10 seconds past that reservation. Either the clock went back, or
  etcd was restored from a copy older than the data.
- Warning, on a live cluster or a bundle of one: a reservation more than 2 minutes off the clock of the machine that
  read it. Either one clock is wrong, and with it the ages in lists, or RootCoord is not running. Info while RootCoord
  responds, because findings then use the cluster's clock. Unknown for other files: their time is taken from that
  reservation.

Not counted: dropped segments, and the maximum timestamp that Milvus 2.6 sets on dropped channels.`,
	Remedy: `Fix the clocks of the nodes (NTP) first. If positions are ahead, stop writers until RootCoord's clock has
passed the furthest position, or restore a newer copy of etcd.`,
	Run: runClock,
	FollowsFrom: []check.Cause{{
		Check: "node-unreachable",
		Applies: func(_ *model.Cluster, effect, cause *check.Finding) bool {
			return effect.Severity < check.Error && cause.Object.Resource == ""
		},
	}}, // no process responds
	Roles: []string{"rootcoord"},
}

func runClock(p *check.Pass) {
	reserved := p.Reserved()
	if reserved.IsZero() {
		p.Skip("the metadata has no timestamp allocator")
		return
	}
	judgePositions(p, reserved)
	if p.ByClock() && !p.Now.IsZero() {
		judgeSkew(p, reserved)
	}
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
	first, most, n := p.SegmentsAfter(limit)
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
		Message: fmt.Sprintf("%s %s ahead of RootCoord's reserved timestamps by up to %s",
			words.Plural(count, "position"), words.Agree(count, "is", "are"),
			words.Span(furthest.Time().Sub(reserved))),
		Evidence: []check.Evidence{
			check.Fact("reserved until", facts.TimeText(reserved), "etcd"),
			check.Fact("furthest position", facts.TimeText(furthest.Time()), "etcd"),
			check.Fact("found in", where, "etcd"), check.Count("positions ahead", count, "etcd"),
		},
		Impact: "New writes get older timestamps than existing rows: searches may miss them, and deletes may hit the " +
			"wrong rows.",
		Fix: check.Fix(
			check.Do("stop all writers until %s: by then RootCoord's clock has passed the furthest position",
				furthest.Time()).
				Interrupting(0, "writes until then"),
			check.Do("if that is too far off, stop Milvus and restore an etcd snapshot as new as the data").
				Interrupting(0, "all requests while it is stopped"),
			check.Do("synchronize the clocks of the nodes with NTP before writers start again").
				Interrupting(0, "nothing"),
		),
	})
}

func judgeSkew(p *check.Pass, reserved time.Time) {
	now := p.Now.Add(p.ClockSkew)
	skew := now.Sub(reserved)
	if skew.Abs() < skewWarning || !facts.HasRole(p.Cluster, "rootcoord") && !facts.HasRole(p.Cluster, "mixcoord") {
		return
	}
	severity, direction, impact := check.Warning, "behind", "Displayed ages are too high, or RootCoord is not running."
	if skew < 0 {
		direction, impact = "ahead of", "Displayed ages are too low."
	}
	if p.ClockSkew != 0 {
		severity, impact = check.Info, "Ages in lists are off by that much; findings use the cluster's clock."
	}
	reader := "this machine's clock"
	if p.Origin.Kind == "bundle" {
		reader = "the clock of the machine that saved the bundle"
	}
	p.Report(check.Finding{
		Severity: severity, Object: timestampAllocator(p),
		Message: fmt.Sprintf("cluster timestamps are %s %s %s", words.Span(skew.Abs()), direction, reader),
		Evidence: []check.Evidence{
			check.Fact("reserved until", facts.TimeText(reserved), "etcd"),
			check.Fact("clock of the reading machine", facts.TimeText(now), "kitescope"),
		},
		Impact: impact,
		Fix: check.Fix(
			check.Do("compare the clock of the reading machine with that of RootCoord's host, and fix NTP on the one "+
				"that is off"),
			check.Shell(check.Kitescope("get nodes")).
				Does("if both clocks agree, RootCoord has stopped: check whether it responds"),
		),
	})
}

// timestampAllocator returns a reference to the session that allocates timestamps.
func timestampAllocator(p *check.Pass) model.Ref {
	for _, s := range p.Sessions {
		if (s.Role == "rootcoord" || s.Role == "mixcoord") && !s.Standby {
			return facts.RefNode(s.Role, s.Node)
		}
	}
	return model.Ref{}
}
