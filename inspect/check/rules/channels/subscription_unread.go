package channels

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/words"
)

const (
	// unreadAfter is how long a subscription may be without a consumer: a node that starts again takes its channels up within that.
	unreadAfter = 10 * time.Minute
	// unreadWarning is from where what it keeps comes near what Pulsar allows a topic (see backlogQuota).
	unreadWarning = 1 << 30
)

// subscriptionUnread finds subscriptions that keep messages for no process.
var subscriptionUnread = &check.Check{
	ID:       "subscription-unread",
	Title:    "A subscription keeps messages and has no consumer",
	Severity: check.Warning,
	Since:    "0.12",
	Needs:    check.NeedQueue,
	Doc: `Looks at the subscriptions of Pulsar's topics: those with a backlog, without a consumer, and without a message delivered in the last 10 minutes. One of
which no delivery is known counts where its name has the id of a node that is not registered. A node
that ended without unsubscribing leaves such ones (Milvus issue 47233). Pulsar keeps all messages that one of them has not acknowledged.

Info, and warning from 1 GiB on. Where the backlog of a topic reaches Pulsar's quota (8 GB in Milvus's Helm chart, ` + "`producer_exception`" + `), no insert into its
channels is accepted (Milvus issues 19423, 38030). They go on their own after ` + "`subscriptionExpirationTimeMinutes`" + ` (3 in that chart, never by Pulsar's default).

Only topics of the cluster's pchannels are asked for. From Pulsar's documentation and those issues: its admin API was never seen live.`,
	Remedy: `See first that other nodes consume the topic's channels and that their checkpoints move: without retention on the namespace this subscription may be all
that keeps rows that are not flushed. Then delete it: ` + "`pulsar-admin topics unsubscribe -s NAME TOPIC`" + `, and set ` + "`subscriptionExpirationTimeMinutes`" + ` on the
brokers. Milvus reads on from its own checkpoints, not from these positions.`,
	Run:   runSubscriptionUnread,
	Roles: []string{"datanode", "querynode", "streamingnode"},
}

func runSubscriptionUnread(p *check.Pass) error {
	asked := p.FirstAsked()
	for i := range p.Runtime.Queue.Topics {
		t := &p.Runtime.Queue.Topics[i]
		var unread []*model.Subscription
		for j := range subscriptionsOf(t) {
			s := &t.Stats.Subscriptions[j]
			if ownCursor(s.Name) || s.Consumers > 0 || s.Backlog == 0 {
				continue
			}
			if s.Consumed.IsZero() && !ofGoneNode(p, s.Name) {
				continue // a broker forgets it when it takes a topic up: how long is unknown
			}
			if asked.Sub(s.Consumed) > unreadAfter {
				unread = append(unread, s)
			}
		}
		if len(unread) > 0 {
			reportUnread(p, t, unread)
		}
	}
	return nil
}

// ofGoneNode reports whether a name has the id of a node without a session: by-dev-dataNode-7-docs.
func ofGoneNode(p *check.Pass, name string) bool {
	for part := range strings.SplitSeq(name, "-") {
		if id, err := strconv.ParseInt(part, 10, 64); err == nil && id > 0 {
			return p.Loaded.Has(model.PartSessions) && len(p.SessionsOf(model.NodeID(id))) == 0
		}
	}
	return false
}

// subscriptionsOf are those that the queue told of a topic; none of a queue that has no subscriptions.
func subscriptionsOf(t *model.Topic) []model.Subscription {
	if t.Stats == nil {
		return nil
	}
	return t.Stats.Subscriptions
}

func reportUnread(p *check.Pass, t *model.Topic, list []*model.Subscription) {
	f := check.Finding{Severity: check.Info, Object: refTopic(t.Name)}
	most := list[0]
	for _, s := range list {
		if s.Bytes > most.Bytes {
			most = s
		}
		if len(f.Objects) < facts.MaxObjects {
			f.Objects = append(f.Objects, model.Ref{Resource: "queue-subscriptions", ID: t.Name + "/" + s.Name, Name: s.Name})
			f.Evidence = append(f.Evidence, check.Measured("backlog of "+s.Name, "message queue", "%s messages, %s", check.Digits(s.Backlog), check.Bytes(s.Bytes)))
		}
	}
	f.Evidence = append(f.Evidence, check.Fact("last read of "+most.Name, readAt(most), "message queue"))
	f.Message = fmt.Sprintf("%s of topic %s %s up to %s and %s no consumer", words.Plural(len(list), "subscription"), t.Name,
		words.Agree(len(list), "keeps", "keep"), words.Bytes(most.Bytes), words.Agree(len(list), "has", "have"))
	f.Impact = "The topic's messages stay on disk."
	if most.Bytes >= unreadWarning {
		f.Severity = check.Warning
		f.Impact = "The topic's messages stay on disk; at Pulsar's backlog quota inserts into its channels are refused."
	}
	f.Fix = check.Fix(
		check.Shell(check.Kitescope("get vchannels").Arg("pchannel="+t.Name)).Does("shows whether a node consumes the topic's channels, and their checkpoints move: if not, the subscription may be all that keeps unflushed rows"),
		check.Do("if they do, delete the subscriptions of %s with pulsar-admin topics unsubscribe", t.Name),
		check.Do("set subscriptionExpirationTimeMinutes on the brokers: they then go on their own"),
		check.Shell(check.Kitescope("get queue-subscriptions").Arg("topic="+t.Name)).Does("lists those of the topic, and what each keeps"),
	)
	p.Report(f)
}

// readAt is when a subscription got a message last.
func readAt(s *model.Subscription) string {
	if s.Consumed.IsZero() {
		return "never"
	}
	return facts.TimeText(s.Consumed)
}

func refTopic(name string) model.Ref {
	return model.Ref{Resource: "queue-topics", ID: name, Name: name}
}
