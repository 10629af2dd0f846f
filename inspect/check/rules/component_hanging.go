package rules

import (
	"slices"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	requests "kitescope/inspect/impact"
	"kitescope/inspect/model"
	"kitescope/inspect/place"
	"kitescope/internal/words"
)

// componentHanging reports components that do little or no work, while no client is known to be affected.
var componentHanging = &check.Check{
	ID:       "component-hanging",
	Title:    "Process or dependency hangs, fails or is slow",
	Severity: check.Warning,
	Slowness: true,
	Symptoms: []string{
		check.SearchesSlow, check.SearchesFail, check.WritesFail, check.LoadsHang, check.FlushesHang,
		check.IndexingHangs, check.EtcdSlow,
	},
	Starts: "node_joined config_changed | node_lost",
	Parts:  model.PartSessions,
	Needs:  check.NeedProcesses,
	Doc: `A coordinator reports its state but does not answer other calls. The check judges each process by every call
that kitescope made: it hangs if it reports its state and lets at least two kinds of calls time out; it is slow if its
calls take more than a second, and ten times as long as those of other processes. etcd, the message queue and storage
are judged by counters of failed operations and the waiting time of their callers, compared with earlier; etcd also by
reads of one key that kitescope times; processes also by garbage collections (8 a second, of less than 5 MB each) and
open file descriptors (90% of the limit).

Info: an etcd that only kitescope finds slow, because the network may stall the reads.

Warning: certain evidence without another explanation that does not cause failing or slow requests (see
` + "`requests-failing`" + ` and ` + "`requests-slow`" + `). Processes whose state alone is late: ` + "`process-slow`" +
		`.
Processes that do not respond at all: ` + "`node-unreachable`" + `.`,
	Remedy: `Compare the CPU and memory limits of the process with its use, read its log, and profile it
(` + "`kitescope profile top`" + `). For etcd check the fsync time and the network. For the queue check the settings of
its topics, and quotas.`,
	Run: runComponentHanging,
	FollowsFrom: slices.Concat(
		withHostStarved(),
		check.CausedBy(check.SharesProcess, "process-slow", "memory-pressure", "node-unreachable", "gc-pause",
			"index-stuck"),
		check.CausedBy(func(_ *model.Cluster, effect, cause *check.Finding) bool {
			return check.SharesComponent(effect, cause)
		},
			"etcd-no-leader", "etcd-alarm", "watch-livelock", "queue-unreachable", "dependency-unhealthy",
			"wal-append-slow", "storage-failing", "storage-read-only", "storage-slow"),
	),
}

// noteUnseenProcesses notes the processes that did not respond, or have no metrics.
func noteUnseenProcesses(p *check.Pass) {
	for _, n := range p.Runtime.Nodes {
		switch {
		case p.IsGone(n):
		case n.Outcome != model.Answered:
			p.NoteUnseen(n.Name() + ": " + facts.WhySilent(n))
		case n.Process == nil || n.Process.Metrics == nil:
			p.NoteUnseen("metrics of " + n.Name() + ": " + whyNoMetrics(n))
		}
	}
}

func runComponentHanging(p *check.Pass) {
	noteUnseenProcesses(p)
	if p.Etcd == nil {
		p.NoteUnseen("etcd: not queried")
	}
	places := p.Places()
	for _, s := range places.Components {
		severity := check.Warning
		if s.Strength == place.Medium && s.Component.Kind == place.Etcd && includesOwnWaits(s) {
			severity = check.Info
		}
		if s.Strength < place.Strong && severity > check.Info || !s.State.Bad() || s.State == place.Gone ||
			s.Component.Kind == place.Host || affectsClients(p, s) || !measured(p, s) {
			continue
		}
		f := check.Finding{
			Severity: severity, Evidence: statusFacts(s), Fix: lookSteps(p, s), Object: s.Component.Ref(),
			Message: componentText(s.Component) + " " + stateText(s.State) + ": " + words.FirstOf(s.Texts(), 2, "; "),
			Impact:  "Requests that need it may wait or fail; none has been seen yet.",
		}
		if f.Object.ID == "" {
			f.Object = model.Ref{
				Resource: "dependencies", ID: string(s.Component.Kind), Name: componentText(s.Component),
			}
		}
		p.Report(f)
	}
}

// affectsClients reports whether requests of clients fail or are slow because of a component. They have their own
// finding.
func affectsClients(p *check.Pass, s *place.Status) bool {
	return slices.ContainsFunc(p.Impact().Affected(), func(k *requests.Kind) bool {
		at := p.Places().For(k.Request)
		return at != nil && at.Status == s
	})
}

// includesOwnWaits reports whether the evidence includes waits of kitescope itself, which the network may have caused.
func includesOwnWaits(s *place.Status) bool {
	return slices.ContainsFunc(s.Evidence, func(e place.Evidence) bool {
		return e.State.Bad() && e.Source == "kitescope"
	})
}

// measured reports whether the evidence goes beyond that of other checks: processes that do not respond or are late
// to report their state, or etcd alarms.
func measured(p *check.Pass, s *place.Status) bool {
	if ref := s.Component.Ref(); ref.ID != "" {
		return slices.ContainsFunc(p.Runtime.Nodes, func(n *model.LiveNode) bool {
			return n.Name() == ref.ID && n.Outcome == model.Answered
		}) &&
			slices.ContainsFunc(s.Evidence, func(e place.Evidence) bool {
				return e.State.Bad() && e.Strength >= place.Medium && !e.Probed
			})
	}
	return slices.ContainsFunc(s.Evidence, func(e place.Evidence) bool { return e.State.Bad() && e.Source != "" })
}
