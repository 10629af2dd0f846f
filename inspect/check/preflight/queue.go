package preflight

import (
	"fmt"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
)

var queue = rule{
	forward: true, back: true,
	Check: check.Check{
		ID:       "upgrade-queue",
		Title:    "The other version may not use the same message queue",
		Severity: check.Error,
		Parts:    model.PartSessions | model.PartConfig | model.PartChannels,
		Doc: `With ` + "`mq.type: default`" + `, 2.6 and later may select Woodpecker instead of the previous queue, and
rows still in the old queue are lost (docs of 2.6: keep the previous queue; Milvus issue 50217). Warning for
` + "`default`" + `, info if no process reports ` + "`mq.type`" +
			` (usual up to 2.5), error for natsmq, which 2.6 removed
(pkg/util/paramtable).

Rollback: error for Woodpecker below 2.6, and for RocksMQ below 2.3, because 2.2 cannot open its files (a real 2.2.16
stopped with "Column families not opened: properties").

Evidence: checkpoints of 2.6, ` + "`mq.type`" + `, a queue that responds, Woodpecker's logs in etcd,
` + "`kafka.brokerList`" + `, message ids (8 bytes: RocksMQ or Kafka). At most a warning if another queue is possible.`,
		Remedy: `Set ` + "`mq.type`" + ` to the queue in use in both configurations before the upgrade.`,
	},
	run: runQueue,
}

func runQueue(p *check.Pass, plan Plan) {
	forward, below26, below23 := plan.crosses(release(2, 6)), plan.leaves(release(2, 6)), plan.leaves(release(2, 3))
	if !forward && !below26 && !below23 {
		return
	}
	q := queueInUse(p)
	switch {
	case q.kind == "":
		p.Setting("mq.type", queueRoles()...) // notes the processes that should report it
		p.NoteUnseen("message queue in use: no process, checkpoint or log shows it")
	case below26 && q.kind == woodpecker:
		f := q.finding(check.Error, "Woodpecker is the queue, which %s cannot read", plan.To)
		f.Fix = check.Fix(check.Do("flush all collections and stop writing before the rollback"),
			check.Do("set mq.type to a queue that %s supports", plan.To.String()))
		p.Report(f)
	case below23 && q.kind == rocksmq:
		runRocksMQ(p, plan, q)
	}
	if forward {
		reportQueueChange(p, plan, q)
	}
}

// finding returns a finding about the queue in use. If the queue is uncertain, the message notes it and the
// severity is at most a warning.
func (q *usedQueue) finding(severity check.Severity, message string, args ...any) check.Finding {
	f := check.Finding{
		Severity: severity, Message: fmt.Sprintf(message, args...), Evidence: q.evidence,
		Impact: "Rows that are only in the queue would be lost.",
	}
	if !q.sure && q.kind != "" {
		f.Severity, f.Message = min(severity, check.Warning), "apparently "+f.Message
	}
	return f
}

// reportQueueChange reports a configuration with which the new version may pick another queue.
func reportQueueChange(p *check.Pass, plan Plan, q usedQueue) {
	var f check.Finding
	isDefault := q.reported && (q.setting.Value == "default" || q.setting.Value == "")
	switch {
	case q.kind == natsmq:
		f = q.finding(check.Error, "natsmq is the queue, which 2.6 and later do not support")
	case isDefault && q.kind == "":
		f = q.finding(check.Warning, "mq.type is default: %s may pick a different queue than %s", plan.To, plan.From)
	case isDefault:
		f = q.finding(check.Warning, "%s is the queue, and mq.type is default: %s may pick another", q.kind, plan.To)
	case !q.reported && q.kind != "":
		f = q.finding(check.Info, "%s is the queue, and no process reports mq.type: by default %s may pick another",
			q.kind, plan.To)
	default:
		return
	}
	keep := check.Do("set mq.type to %s, the queue in use, in the configuration of the new version", q.kind)
	if !q.sure || q.kind == natsmq {
		keep = check.Do("set mq.type to the queue in use (pulsar, kafka, rocksmq) " +
			"in the configuration of the new version")
	}
	f.Fix = check.Fix(keep, check.Do("flush all collections before the upgrade, and do not write during it"))
	p.Report(f)
}

// runRocksMQ reports a RocksMQ that the older version cannot open.
func runRocksMQ(p *check.Pass, plan Plan, q usedQueue) {
	f := check.Finding{
		Severity: check.Error, Evidence: q.evidence,
		Message: fmt.Sprintf("RocksMQ is the queue, and %s cannot open its files once %s has written to them",
			plan.To, plan.From),
		Impact: "The process stops when it starts.",
		Fix: check.Fix(
			check.Do("flush all collections and stop writing before the rollback: "+
				"rows that are only in the queue are lost"),
			check.Do("stop %s, and move the RocksMQ folder (rocksmq.path) away before %s starts",
				plan.From.String(), plan.To.String()),
		),
	}
	if !q.sure {
		f.Severity = check.Warning
		f.Message = fmt.Sprintf("if RocksMQ is the queue, %s cannot open its files once %s has written to them",
			plan.To, plan.From)
	}
	p.Report(f)
}
