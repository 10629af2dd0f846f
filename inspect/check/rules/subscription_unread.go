package rules

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

const (
	// unreadAfter is the time that a subscription may go without a delivery. A restarted node resumes its channels
	// within that time.
	unreadAfter = 10 * time.Minute
	// unreadWarning is the backlog, in bytes, that comes near Pulsar's limit of a topic (see backlogQuota).
	unreadWarning = 1 << 30
)

// subscriptionUnread finds subscriptions with a backlog and without a consumer.
var subscriptionUnread = &check.Check{
	ID:       "subscription-unread",
	Title:    "A subscription without a consumer retains messages",
	Severity: check.Warning,
	Symptoms: []string{check.WritesFail, check.StorageGrows},
	Starts:   "node_lost node_left | channel_released channel_reassigned",
	Needs:    check.NeedQueue,
	Doc: `A node ended without unsubscribing, and Pulsar keeps all messages that its subscription has not acknowledged
(Milvus issue 47233). The check looks at the subscriptions of Pulsar's topics with a backlog, without a consumer, and
without a message delivered in the last 10 minutes. If the last delivery is unknown, a subscription counts only if its
name has the id of a node that is not registered (` + "`PREFIX-dataNode-NODE-CHANNEL`" + `,
` + "`PREFIX-queryNode-COLLECTION-NODE`" + `). The others, e.g. of the dispatchers of late 2.5 and of 2.6, are unknown.

Info; warning from 1 GiB. If the backlog of a topic reaches Pulsar's quota (8 GB in Milvus's Helm chart,
` + "`producer_exception`" + `), no insert into its channels is accepted (Milvus issues 19423, 38030). Such
subscriptions are removed after ` + "`subscriptionExpirationTimeMinutes`" + ` (3 in that chart, never by Pulsar's
default).

Only topics of the cluster's pchannels are queried. From Pulsar's documentation and those issues: its admin API was
never seen live.`,
	Remedy: `First check that other nodes consume the topic's channels and that their checkpoints move: without
retention on the namespace only this subscription may keep rows that are not flushed. Then delete it:
` + "`pulsar-admin topics unsubscribe -s NAME TOPIC`" + `, and set ` + "`subscriptionExpirationTimeMinutes`" + ` on the
brokers. Milvus reads on from its own checkpoints, not from these positions.`,
	Run:   runSubscriptionUnread,
	Roles: []string{"datanode", "querynode", "streamingnode"},
}

func runSubscriptionUnread(p *check.Pass) {
	asked := p.FirstAsked()
	for i := range p.Runtime.Queue.Topics {
		t := &p.Runtime.Queue.Topics[i]
		var unread []*model.Subscription
		var untold []string
		for j := range subscriptionsOf(t) {
			s := &t.Stats.Subscriptions[j]
			if ownCursor(s.Name) || s.Consumers > 0 || s.Backlog == 0 {
				continue
			}
			if gone, known := ofGoneNode(p, s.Name); s.Consumed.IsZero() && !gone {
				if !known { // a broker loses the time when it takes over a topic, so the idle time is unknown
					untold = append(untold, s.Name)
				}
				continue
			}
			if asked.Sub(s.Consumed) > unreadAfter {
				unread = append(unread, s)
			}
		}
		if len(unread) > 0 {
			reportUnread(p, t, unread)
		}
		if len(untold) > 0 {
			p.NoteUnseen(whyReaderUnknown(p, t, untold))
		}
	}
}

// reader matches subscription names that contain the id of their node: "PREFIX-dataNode-NODE-CHANNEL" (Milvus
// internal/datanode), "PREFIX-queryNode-COLLECTION-NODE" (pkg/util/funcutil, GenChannelSubName of query nodes) and
// "ROLE-NODE-VCHANNEL-ISMAIN" (internal/mq/msgdispatcher of 2.3). The dispatcher of later releases appends a number of
// its own to the pchannel instead (pkg/mq/msgdispatcher, NewDispatcher).
var reader = regexp.MustCompile(
	`(?:^|-)dataNode-(\d+)-|(?:^|-)queryNode-\d+-(\d+)$|^(?:querynode|datanode)-(\d+)-.+-(?:true|false)$`,
)

// readerNode returns the node id in a subscription's name.
func readerNode(name string) (id model.NodeID, ok bool) {
	parts := reader.FindStringSubmatch(name)
	if parts == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(cmp.Or(parts[1:]...), 10, 64)
	return model.NodeID(n), err == nil && n > 0
}

// ofGoneNode reports whether a subscription belongs to a node without a session. known is false if the name has no node
// id, or if sessions were not read.
func ofGoneNode(p *check.Pass, name string) (gone, known bool) {
	id, ok := readerNode(name)
	if !ok || !p.Loaded.Has(model.PartSessions) {
		return false, false
	}
	return len(p.SessionsOf(id)) == 0, true
}

// whyReaderUnknown returns the reason why it is unknown whether subscriptions have a reader.
func whyReaderUnknown(p *check.Pass, t *model.Topic, names []string) string {
	i := slices.IndexFunc(names, func(name string) bool { _, ok := readerNode(name); return ok })
	if i >= 0 && !p.Loaded.Has(model.PartSessions) {
		return "whether the node of subscription " + names[i] + " is registered: sessions were not read"
	}
	return fmt.Sprintf("when %s %s of topic %s was last read",
		words.Agree(len(names), "subscription", "subscriptions"), words.Summarize(names), t.Name)
}

// subscriptionsOf returns the subscriptions of a topic. It returns nil if the queue has no subscriptions.
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
			f.Objects = append(f.Objects, model.Ref{
				Resource: "queue-subscriptions", ID: t.Name + "/" + s.Name, Name: s.Name,
			})
			f.Evidence = append(f.Evidence,
				check.Factf("backlog of "+s.Name, "message queue", "%s messages, %s", check.Digits(s.Backlog),
					check.Bytes(s.Bytes)))
		}
	}
	f.Evidence = append(f.Evidence, check.Fact("last read of "+most.Name, readAt(most), "message queue"))
	f.Message = fmt.Sprintf("%s of topic %s %s up to %s and %s no consumer", words.Plural(len(list), "subscription"),
		t.Name,
		words.Agree(len(list), "keeps", "keep"), words.Bytes(most.Bytes), words.Agree(len(list), "has", "have"))
	f.Impact = "The topic's messages stay on disk."
	if most.Bytes >= unreadWarning {
		f.Severity = check.Warning
		f.Impact = "The topic's messages stay on disk; at Pulsar's backlog quota inserts into its channels are refused."
	}
	f.Fix = check.Fix(
		check.Shell(check.Kitescope("get vchannels").Arg("pchannel="+t.Name)).
			Does("shows whether a node consumes the topic's channels, and their checkpoints advance: "+
				"if not, unflushed rows may be only in the subscription"),
		check.Do("if they do, delete the subscriptions of %s with pulsar-admin topics unsubscribe", t.Name).
			Interrupting(2*time.Minute, "nothing"),
		check.Do("set subscriptionExpirationTimeMinutes on the brokers: such subscriptions then expire automatically").
			Interrupting(0, "nothing"),
		check.Shell(check.Kitescope("get queue-subscriptions").Arg("topic="+t.Name)).
			Does("lists the subscriptions of the topic, and their backlogs"),
	)
	p.Report(f)
}

// readAt returns the time of a subscription's last delivery, or "never".
func readAt(s *model.Subscription) string {
	if s.Consumed.IsZero() {
		return "never"
	}
	return facts.TimeText(s.Consumed)
}

func refTopic(name string) model.Ref {
	return model.Ref{Resource: "queue-topics", ID: name, Name: name}
}
