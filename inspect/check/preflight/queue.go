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
		Title:    "The message queue may not change with the version",
		Severity: check.Error,
		Since:    since,
		Parts:    model.PartSessions | model.PartConfig | model.PartChannels,
		Doc: `Looks at ` + "`mq.type`" + `. Its default (` + "`default`" + `) picks a queue by what is configured, and from 2.6 on may pick Woodpecker where an older version had another:
rows that are still in the old queue are then lost (docs of 2.6: keep the queue of before; Milvus issue 50217). Error if a queue is chosen that the new
version does not have: natsmq is gone in 2.6 (its keys are, in pkg/util/paramtable). Warning if ` + "`mq.type`" + ` is ` + "`default`" + `, or unknown.

On the way back below 2.6 it is an error if Woodpecker is in use: no older version reads it. So it is on the way back below 2.3 if RocksMQ is: 2.3 adds to its
database what 2.2 refuses to open (a real 2.2.16 stopped with "Column families not opened: properties"). Where no process reported the queue, message ids of 8
bytes are RocksMQ's or Kafka's, and that is a warning.`,
		Remedy: `Set ` + "`mq.type`" + ` to the queue that is in use, in the configuration of both versions, before the upgrade.`,
	},
	run: runQueue,
}

func runQueue(p *check.Pass, plan Plan) error {
	if plan.loses(release(2, 3)) && !plan.From.Release.Before(release(2, 3)) {
		runRocksMQ(p, plan)
	}
	if !plan.crosses(release(2, 6)) && !plan.loses(release(2, 6)) {
		return nil
	}
	kind, ok := p.Setting("mq.type", "rootcoord", "mixcoord", "datacoord", "proxy", "standalone", "querynode")
	f := check.Finding{
		Severity: check.Warning,
		Impact:   "Rows that are only in the queue so far would be lost.",
		Fix: check.Fix(
			check.Do("set mq.type to the queue that is in use (pulsar, kafka, rocksmq) in the configuration of the new version"),
			check.Do("flush all collections before the upgrade, and stop writing meanwhile"),
		),
	}
	switch {
	case plan.Back && kind.Value == "woodpecker":
		f.Severity = check.Error
		f.Message = fmt.Sprintf("Woodpecker is the queue, which %s cannot read", plan.To)
		f.Fix = check.Fix(check.Do("flush all collections, and stop writing, before going back"), check.Do("set mq.type to a queue that %s has", plan.To.String()))
	case plan.Back:
		return nil
	case !ok:
		f.Message = fmt.Sprintf("which queue is in use is unknown: %s may pick another than %s", plan.To, plan.From)
	case kind.Value == "natsmq":
		f.Severity = check.Error
		f.Message = "natsmq is the queue, which 2.6 and later do not have"
	case kind.Value == "default" || kind.Value == "":
		f.Message = fmt.Sprintf("mq.type is default: %s may pick another queue than %s", plan.To, plan.From)
	default:
		return nil
	}
	if ok {
		f.Evidence = append(f.Evidence, check.Fact("mq.type", kind.Value, kind.From))
	}
	p.Report(f)
	return nil
}

// runRocksMQ reports a RocksMQ that the older version cannot open.
func runRocksMQ(p *check.Pass, plan Plan) {
	roles := []string{"rootcoord", "datacoord", "proxy", "querynode", "datanode"}
	kind, told := p.Setting("mq.type", roles...)
	brokers, asked := p.Setting("kafka.brokerList", roles...)
	named := told && kind.Value != "" && kind.Value != "default"
	switch {
	case named && kind.Value != "rocksmq", !named && brokers.Value != "":
		return
	case !named && p.MessageIDSize() == 0:
		p.Unseen("which message queue is in use: 2.2 cannot open a RocksMQ of 2.3, and no checkpoint or process says")
		return
	case !named && p.MessageIDSize() != model.OffsetSize:
		return
	}
	f := check.Finding{
		Severity: check.Error,
		Message:  fmt.Sprintf("RocksMQ is the queue, and %s cannot open its files once %s wrote to them", plan.To, plan.From),
		Impact:   "The process stops when it starts.",
		Fix: check.Fix(
			check.Do("flush all collections, and stop writing, before going back: rows that are only in the queue are lost"),
			check.Do("stop %s, and move its folder (rocksmq.path) away before %s starts", plan.From.String(), plan.To.String()),
		),
	}
	if !named && !asked {
		f.Severity = check.Warning
		f.Message = fmt.Sprintf("if RocksMQ is the queue, %s cannot open its files once %s wrote to them", plan.To, plan.From)
	}
	f.Evidence = append(f.Evidence, check.Count("bytes of a message id", int64(p.MessageIDSize()), "checkpoints"))
	if named {
		f.Evidence = append(f.Evidence, check.Fact("mq.type", kind.Value, kind.From))
	}
	p.Report(f)
}
