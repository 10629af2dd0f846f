package preflight

import (
	"cmp"
	"slices"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// Message queues, as named by mq.type.
const (
	kafka      = "kafka"
	pulsar     = "pulsar"
	rocksmq    = "rocksmq"
	woodpecker = "woodpecker"
	natsmq     = "natsmq"
)

// usedQueue is the message queue that a cluster uses, with the evidence.
type usedQueue struct {
	kind string // as named by mq.type, "" if unknown
	// sure is false if another queue could leave the same evidence.
	sure bool
	// setting is mq.type, "default" too, as reported by a process or etcd. reported is false if neither has it.
	setting  model.Setting
	reported bool
	// evidence holds the evidence for kind.
	evidence []check.Evidence
}

// queueInUse determines the message queue. It uses, in this order: the queue noted in checkpoints of 2.6, mq.type
// if it names a queue, the response of the queue itself, Woodpecker's logs, Kafka's brokers, and the size of
// message ids.
func queueInUse(p *check.Pass) usedQueue {
	var q usedQueue
	// a missing mq.type does not matter if other evidence exists
	q.setting, q.reported = p.Cluster.Setting("mq.type", queueRoles()...)
	if q.reported {
		q.evidence = append(q.evidence, check.Fact("mq.type", cmp.Or(q.setting.Value, `""`), q.setting.From))
	}
	is := func(kind string, sure bool, e check.Evidence) usedQueue {
		q.kind, q.sure, q.evidence = kind, sure, append(q.evidence, e)
		return q
	}
	if noted := notedQueue(p); noted != "" {
		return is(noted, true, check.Fact("queue named in checkpoints", noted, "etcd"))
	}
	if q.setting.Value != "" && q.setting.Value != "default" {
		q.kind, q.sure = q.setting.Value, true
		return q
	}
	if p.Runtime != nil && p.Runtime.Queue != nil && p.Runtime.Queue.Outcome == model.Answered &&
		p.Runtime.Queue.Kind != "" {
		asked := p.Runtime.Queue
		return is(asked.Kind, true,
			check.Fact("queue that responded", words.Plural(len(asked.Topics), "topic"), asked.Kind+" "+asked.Address))
	}
	if logs, own := woodpeckerLogs(p); logs > 0 && (own > 0 || len(p.PChannels) == 0) {
		return is(woodpecker, own > 0, check.Count("Woodpecker logs", logs, "etcd"))
	}
	size := p.MessageIDSize()
	bytes := check.Count("bytes per message id", int64(size), "checkpoints")
	brokers, asked := p.Cluster.Setting("kafka.brokerList", queueRoles()...)
	switch {
	case brokers.Value != "" && (size == model.OffsetSize || size == 0):
		return is(kafka, size == model.OffsetSize, check.Fact("kafka.brokerList", "is set", brokers.From))
	case size == model.OffsetSize:
		return is(rocksmq, asked, bytes)
	case size > model.OffsetSize && p.Streaming == nil:
		return is(pulsar, true, bytes)
	}
	return q
}

// queueRoles returns the roles that report settings of the queue.
func queueRoles() []string {
	return []string{"rootcoord", "mixcoord", "datacoord", "proxy", "querynode", "streamingnode", "datanode"}
}

// notedQueue returns the queue that checkpoints name. It returns "" if no checkpoint names one, or if they disagree
// because the queue is being changed.
func notedQueue(p *check.Pass) string {
	var names []string
	for _, x := range p.PChannels {
		names = append(names, x.Checkpoint.Queue)
	}
	for _, x := range p.VChannels {
		names = append(names, x.Checkpoint.Queue)
	}
	names = slices.DeleteFunc(names, func(s string) bool { return s == "" })
	slices.Sort(names)
	if names = slices.Compact(names); len(names) != 1 {
		return ""
	}
	return names[0]
}

// woodpeckerLogs counts the logs in etcd, and those of this cluster's pchannels: another Milvus may share the etcd.
func woodpeckerLogs(p *check.Pass) (all, own int) {
	if p.Woodpecker == nil {
		return 0, 0
	}
	for _, x := range p.PChannels {
		if p.Woodpecker.Log(x.Name) != nil {
			own++
		}
	}
	return len(p.Woodpecker.Logs), own
}
