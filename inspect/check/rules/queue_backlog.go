package rules

import (
	"fmt"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// backlogWarning is half of the backlog per topic at which Pulsar refuses producers with Milvus's Helm chart:
// backlogQuotaDefaultLimitGB 8, backlogQuotaDefaultRetentionPolicy producer_exception.
const backlogWarning = 4 << 30

// queueBacklog reports subscriptions whose consumers are too slow.
var queueBacklog = &check.Check{
	ID:       "queue-backlog",
	Title:    "A reader is far behind its topic",
	Severity: check.Warning,
	Symptoms: []string{check.FlushesHang},
	Starts:   "checkpoint_stopped node_lost | channel_reassigned node_joined",
	Needs:    check.NeedQueue,
	Doc: `A consumer is so far behind that Pulsar may refuse inserts. The check looks at Pulsar subscriptions with a
consumer. Warning from 100,000 messages that are not acknowledged, as with ` + "`queue-lag`" + `, or from 4 GiB: half of
the backlog quota in Milvus's Helm chart, beyond which no insert into the channels is accepted.

Not judged: subscriptions that Milvus 2.6 and later keep without reading (` + "`backlog-clear`" + `,
` + "`truncate-cursor`" + `), or without a consumer (` + "`subscription-unread`" + `). Run
` + "`kitescope get queue-subscriptions --watch`" + ` to see whether it grows. Only topics of the cluster's pchannels
are queried. From Pulsar's documentation: its admin API was never seen live.`,
	Remedy: `Find the node that reads the channel and what slows it down: memory, CPU, object storage, or inserts at a
higher rate than it flushes.`,
	Run:   runQueueBacklog,
	Roles: []string{"datanode", "querynode", "streamingnode"},
}

// ownCursor reports whether a subscription belongs to a streaming node that does not read messages by it
// (pkg/streaming/walimpls/impls/pulsar of 2.6.22: backlogClearHelperName, whose consumer only seeks to the
// present every pulsar.backlogAutoClearBytes, and truncateCursorSubscriptionName).
func ownCursor(name string) bool { return name == "backlog-clear" || name == "truncate-cursor" }

func runQueueBacklog(p *check.Pass) {
	for i := range p.Runtime.Queue.Topics {
		t := &p.Runtime.Queue.Topics[i]
		var worst *model.Subscription
		behind := 0
		for j := range subscriptionsOf(t) {
			s := &t.Stats.Subscriptions[j]
			if ownCursor(s.Name) || s.Consumers == 0 || s.Backlog < queueLagWarning && s.Bytes < backlogWarning {
				continue
			}
			behind++
			if worst == nil || s.Backlog > worst.Backlog {
				worst = s
			}
		}
		if worst == nil {
			continue
		}
		p.Report(check.Finding{
			Severity: check.Warning, Object: refTopic(t.Name),
			Objects: []model.Ref{{Resource: "queue-subscriptions", ID: t.Name + "/" + worst.Name, Name: worst.Name}},
			Message: fmt.Sprintf("%s of topic %s %s up to %s messages (%s) behind", words.Plural(behind, "reader"),
				t.Name,
				words.Agree(behind, "is", "are"), words.Number(worst.Backlog), words.Bytes(worst.Bytes)),
			Evidence: []check.Evidence{
				check.Fact("subscription", worst.Name, "message queue"),
				check.Factf("messages behind", "message queue", "%s", check.Digits(worst.Backlog)),
				check.Factf("bytes behind", "message queue", "%s", check.Bytes(worst.Bytes)),
				check.Fact("last read", readAt(worst), "message queue"),
			},
			Impact: "Searches see inserts late; at Pulsar's backlog quota inserts into the channels are refused.",
			Fix: check.Fix(
				check.Shell(check.Kitescope("get vchannels").Arg("pchannel="+t.Name)).
					Does("shows which node consumes the channels of the topic, and how old their checkpoints are"),
				check.Shell(check.Kitescope("get queue-subscriptions").Arg("topic="+t.Name).Arg("--watch")).
					Does("shows whether it grows"),
			),
		})
	}
}
