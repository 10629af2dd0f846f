package rules

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	budget "kitescope/inspect/latency"
	"kitescope/inspect/metrics"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// walAppendSlow finds a message queue that is slow to accept writes.
var walAppendSlow = &check.Check{
	ID:       "wal-append-slow",
	Title:    "Message queue is slow to accept writes",
	Severity: check.Warning,
	Symptoms: []string{check.WritesFail},
	Starts:   "node_lost node_joined | channel_reassigned",
	Parts:    model.PartObjects,
	Needs:    check.NeedProcesses,
	Phases:   []budget.Name{budget.WALAppend, budget.ConsistencyWait},
	Doc: `Kafka was stopped for two of every three seconds, and writes took 200 and 285 ms (2.3.5). An insert or
delete is answered once the message queue has it, and the time ticks that Strong and Bounded searches wait for take
the same route. The time is in ` + "`milvus_msgstream_request_latency{message_op_type=\"produce\"}`" + ` of proxies and
RootCoord (2.2 and later) and, for streaming nodes, ` + "`milvus_wal_append_message_duration_seconds`" + ` (2.6 and
later). On a 2.3.5 with Kafka on a busy machine these were 7 to 18 ms.

Warning: a mean of 100 ms or more over at least ten messages; info from 50 ms. If some processes write fast and others
do not, the cause is the network of the slow ones, or the processes themselves, and not the queue; if no client waits
for the slow ones (RootCoord writes time ticks, one every 200 ms), it is info below 200 ms.`,
	Remedy: `Check Kafka, Pulsar or the WAL: disks (fsync), brokers that are gone or electing leaders, replicas
out of sync, client quotas; and the network in between. ` + "`kitescope diagnose`" + ` also requests the queue's offsets
(` + "`queue-unreachable`" + `).`,
	Slowness: true,
	Run:      runWALAppendSlow,
	FollowsFrom: append(withHostStarved(check.Cause{Check: "queue-unreachable"}),
		check.CausedBy(check.Shares("nodes"), "process-slow")...),
}

const (
	walWarn, walInfo = 100, 50 // ms
	fewAppends       = 10
)

// writer is a process that writes to the queue, with its mean latency in ms and its number of messages.
type writer struct {
	node      *model.LiveNode
	ms, count float64
}

func runWALAppendSlow(p *check.Pass) {
	if p.Runtime == nil {
		p.Skip(facts.NotAsked)
		return
	}
	noteUnseenMetrics(p, "proxy", "rootcoord", "mixcoord", "streamingnode")
	var slow, all []writer
	for _, x := range processes(p) {
		w := writer{node: x.node}
		w.ms, w.count = x.mean(metrics.QueueRequest, label("message_op_type", "produce"))
		if ms, n := x.mean(metrics.WALAppend); n > 0 {
			w.ms, w.count = ms, n
		}
		if w.count < fewAppends {
			continue
		}
		all = append(all, w)
		if w.ms >= walInfo {
			slow = append(slow, w)
		}
	}
	switch {
	case len(all) == 0:
		p.Skip("no process wrote ten messages to the queue in the window")
		return
	case len(slow) == 0:
		return
	}
	slices.SortStableFunc(slow, func(a, b writer) int { return cmp.Compare(b.ms, a.ms) })
	reportWAL(p, slow, all)
}

func reportWAL(p *check.Pass, slow, all []writer) {
	worst := &slow[0]
	f := check.Finding{
		Severity: check.Info,
		Message: fmt.Sprintf("the message queue takes %s to accept a message from %s", budget.Milliseconds(worst.ms),
			worst.node.Name()),
		Impact: walImpact(slow),
		Fix: check.Fix(check.Do("check the message queue (disks, missing brokers, replicas out of sync) and the " +
			"network to it")),
	}
	// otherwise only time ticks are late, by less than one tick
	felt := len(slow) == len(all) || slices.ContainsFunc(slow, writer.ofClients)
	if worst.ms >= walWarn && felt || worst.ms >= float64(usualTick/time.Millisecond) {
		f.Severity = check.Warning
	}
	for i := range slow {
		f.Objects = append(f.Objects, slow[i].node.Ref())
	}
	if len(slow) < len(all) {
		fastest := slices.MinFunc(all, func(a, b writer) int { return cmp.Compare(a.ms, b.ms) })
		f.Message = fmt.Sprintf("%s waits %s until the message queue accepts a message (%s of %s that write to it); "+
			"%s waits %s", worst.node.Name(), budget.Milliseconds(worst.ms),
			words.Number(len(slow)), words.Plural(len(all), "process"), fastest.node.Name(),
			budget.Milliseconds(fastest.ms))
		if len(slow) == 1 {
			f.Object = worst.node.Ref()
		}
		names := make([]string, len(slow))
		for i := range slow {
			names[i] = slow[i].node.Name()
		}
		f.Fix = check.Fix(check.Do("check the network from %s to the queue, and the CPU of the process: others write "+
			"fast, so it is not the queue", names))
	}
	if costs := walCosts(p); len(costs) > 0 {
		few := f.Severity
		f = withCosts(p, f, costs...)
		f.Severity = few // found lowers it for few requests, but the messages are many
	}
	for i := range all {
		w := &all[i]
		f.Evidence = append(f.Evidence,
			check.Factf("one message of "+w.node.Name(), w.node.Name()+" /metrics", "%s, of %s", millis(w.ms),
				check.N(int64(w.count))))
	}
	p.Report(f)
}

// ofClients reports whether a writer writes the messages of clients. It is true for a proxy and, since 2.6, for a
// streaming node.
func (w writer) ofClients() bool { return w.node.Role == "proxy" || w.node.Role == "streamingnode" }

// walImpact returns the effect of slow writers. Inserts wait for writers of client messages, and searches wait for the
// time ticks of the other writers.
func walImpact(slow []writer) string {
	const writes, ticks = "Inserts and deletes wait as long",
		"time ticks arrive late, and searches that need consistency wait for them."
	switch clients := slices.ContainsFunc(slow, writer.ofClients); {
	case !clients:
		return "T" + ticks[1:]
	case slices.ContainsFunc(slow, func(w writer) bool { return w.node.Role != "proxy" }):
		return writes + "; " + ticks
	}
	return writes + "."
}

// walCosts returns the time that requests wait for the queue. Writes wait for their messages, and reads wait for late
// time ticks.
func walCosts(p *check.Pass) (list []cost) {
	for _, kind := range []budget.Request{budget.Insert, budget.Upsert, budget.Delete} {
		if b := overall(p, kind); b != nil {
			if c, ok := costOf(b, budget.WALAppend); ok && c.low >= minCostMs {
				list = append(list, c)
			}
		}
	}
	every := milliseconds(p, "proxy.timeTickInterval", usualTick)
	tick := float64(every) / float64(time.Millisecond)
	for _, kind := range []budget.Request{budget.Search, budget.Query} {
		b := overall(p, kind)
		if b == nil {
			continue
		}
		if c, ok := costOf(b, budget.ConsistencyWait); ok && c.low > lateTicks*tick {
			c.gain = lateTickGain(&c, every)
			c.ms, c.low, c.parts = c.ms-tick, c.low-lateTicks*tick, nil
			list = append(list, c)
		}
	}
	return list
}

// noteUnseenMetrics notes the processes of some roles without metrics.
func noteUnseenMetrics(p *check.Pass, roles ...string) {
	for _, n := range p.Runtime.Nodes {
		if slices.Contains(roles, n.Role) && (n.Process == nil || n.Process.Metrics == nil) && !p.IsGone(n) {
			p.NoteUnseen("metrics of " + n.Name() + ": " + whyNoMetrics(n))
		}
	}
}

func whyNoMetrics(n *model.LiveNode) string {
	if x := n.Process; x != nil && x.Outcome != model.Answered {
		return x.Outcome.With(x.Reason)
	}
	return facts.WhySilent(n)
}
