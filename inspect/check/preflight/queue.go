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
		Parts:    model.PartSessions | model.PartConfig,
		Doc: `Looks at ` + "`mq.type`" + `. Its default (` + "`default`" + `) picks a queue by what is configured, and from 2.6 on may pick Woodpecker where an older version had another:
rows that are still in the old queue are then lost (docs of 2.6: keep the queue of before; Milvus issue 50217). Error if a queue is chosen that the new
version does not have: natsmq is gone in 2.6 (its keys are, in pkg/util/paramtable). Warning if ` + "`mq.type`" + ` is ` + "`default`" + `, or unknown.

On the way back below 2.6 it is an error if Woodpecker is in use: no older version reads it.`,
		Remedy: `Set ` + "`mq.type`" + ` to the queue that is in use, in the configuration of both versions, before the upgrade.`,
	},
	run: runQueue,
}

func runQueue(p *check.Pass, plan Plan) error {
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
