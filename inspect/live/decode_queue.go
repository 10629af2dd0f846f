package live

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"time"

	"kitescope/inspect/model"
	"kitescope/internal/redact"
)

// MethodKafka is the Method of a record with the offsets of Kafka's topics. Its Address holds the brokers, its
// Response is QueueOffsets as JSON.
const MethodKafka = "KAFKA offsets"

// QueueOffsets holds the topics of a message queue.
type QueueOffsets struct {
	Topics []TopicOffsets `json:"topics"`
}

// TopicOffsets holds the oldest offset of a topic and the offset of its next message.
type TopicOffsets struct {
	Name  string `json:"name"`
	First int64  `json:"first"`
	End   int64  `json:"end"`
}

// decodeQueue decodes the response in a queue's record to the value that into points to. ok is false if a newer
// record was decoded before, or if the record has no readable response.
func (d *Decoder) decodeQueue(r *Record, kind, what string, into any) (ok bool) {
	if d.queue != nil && r.At.Before(d.queueAt) {
		return false
	}
	d.queueAt = r.At
	d.queue = &model.Queue{Kind: kind, Address: d.text(redact.Address(r.Address)), Outcome: recordOutcome(r)}
	if d.queue.Outcome != model.Answered {
		d.queue.Reason = oneLine(r.Error)
	}
	if len(r.Response) == 0 {
		return false
	}
	if f := checkSize(decodedJSONSize(r.Response)); f != nil {
		d.queue.Outcome, d.queue.Reason = f.outcome, f.reason
		return false
	}
	if err := json.Unmarshal(r.Response, into); err != nil {
		d.queue.Outcome, d.queue.Reason = model.Garbled, "the record has no "+what
		return false
	}
	return true
}

// putTopics stores the topics of the queue, sorted by name.
func (d *Decoder) putTopics(list []model.Topic) {
	slices.SortFunc(list, func(a, b model.Topic) int { return cmp.Compare(a.Name, b.Name) })
	d.queue.Topics = list
}

// addQueue decodes the offsets.
func (d *Decoder) addQueue(r *Record) {
	var offsets QueueOffsets
	if !d.decodeQueue(r, "kafka", "offsets", &offsets) {
		return
	}
	topics := make([]model.Topic, 0, len(offsets.Topics))
	for _, t := range offsets.Topics {
		topics = append(topics, model.Topic{Name: d.text(t.Name), First: t.First, End: t.End})
	}
	d.putTopics(topics)
}

// addPulsar decodes the topics of Pulsar.
func (d *Decoder) addPulsar(r *Record) {
	var told QueueTopics
	if !d.decodeQueue(r, "pulsar", "topics", &told) {
		return
	}
	if x := told.Retention; x != nil {
		d.queue.Retention = &model.QueueRetention{
			Time: bounded(x.Minutes, time.Minute), Bytes: int64(bounded(x.MB, 1<<20)),
		}
	}
	topics := make([]model.Topic, 0, len(told.Topics))
	for i := range told.Topics {
		t := &told.Topics[i]
		stats := &model.TopicStats{Bytes: t.StorageBytes, BacklogBytes: t.BacklogBytes}
		for name, s := range t.Subscriptions {
			stats.Subscriptions = append(stats.Subscriptions, model.Subscription{
				Name: d.text(oneLine(name)), Type: d.text(oneLine(s.Type)), Backlog: s.Backlog, Bytes: s.Bytes,
				Consumers: s.Connected,
				Consumed:  model.MillisTime(s.Consumed), Acked: model.MillisTime(s.Acked),
			})
		}
		slices.SortFunc(stats.Subscriptions, func(a, b model.Subscription) int { return cmp.Compare(a.Name, b.Name) })
		topics = append(topics, model.Topic{Name: d.text(t.Name), Stats: stats})
	}
	d.putTopics(topics)
}

// bounded returns n units as a duration, or -1 for no bound. A value that a Duration cannot hold counts as no
// bound.
func bounded(n int64, unit time.Duration) time.Duration {
	if n < 0 || n > math.MaxInt64/int64(unit) {
		return -1
	}
	return time.Duration(n) * unit
}
