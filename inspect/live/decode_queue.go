package live

import (
	"cmp"
	"encoding/json"
	"time"

	"kitescope/inspect/model"
	"kitescope/secret"
	"kitescope/sorting"
)

// MethodKafka is the Method of a record that holds the offsets of Kafka's topics: its
// Address are the brokers, its Response is QueueOffsets as JSON.
const MethodKafka = "KAFKA offsets"

// QueueOffsets is what a message queue says of its topics.
type QueueOffsets struct {
	Topics []TopicOffsets `json:"topics"`
}

// TopicOffsets is the oldest offset of a topic and the one that the next message gets.
type TopicOffsets struct {
	Name  string `json:"name"`
	First int64  `json:"first"`
	End   int64  `json:"end"`
}

// addQueue takes the offsets in.
func (d *Decoder) addQueue(r *Record) {
	if d.queue != nil && r.At.Before(d.queueAt) {
		return
	}
	d.queueAt = r.At
	d.queue = &model.Queue{Kind: "kafka", Address: d.text(secret.Address(r.Address)), Outcome: recordOutcome(r)}
	if d.queue.Outcome != model.Answered {
		d.queue.Reason = oneLine(r.Error)
	}
	if len(r.Response) == 0 {
		return
	}
	if f := heavy(weighJSON(r.Response)); f != nil {
		d.queue.Outcome, d.queue.Reason = f.outcome, f.reason
		return
	}
	var offsets QueueOffsets
	if err := json.Unmarshal(r.Response, &offsets); err != nil {
		d.queue.Outcome, d.queue.Reason = model.Garbled, "the record holds no offsets"
		return
	}
	d.queue.Topics = make([]model.Topic, 0, len(offsets.Topics))
	for _, t := range offsets.Topics {
		d.queue.Topics = append(d.queue.Topics, model.Topic{Name: d.text(t.Name), First: t.First, End: t.End})
	}
	sorting.Sort(d.queue.Topics, func(a, b model.Topic) int { return cmp.Compare(a.Name, b.Name) })
}

// addPulsar takes Pulsar's topics in.
func (d *Decoder) addPulsar(r *Record) {
	if d.queue != nil && r.At.Before(d.queueAt) {
		return
	}
	d.queueAt = r.At
	d.queue = &model.Queue{Kind: "pulsar", Address: d.text(secret.Address(r.Address)), Outcome: recordOutcome(r)}
	if d.queue.Outcome != model.Answered {
		d.queue.Reason = oneLine(r.Error)
		return
	}
	var told QueueTopics
	if f := heavy(weighJSON(r.Response)); f != nil {
		d.queue.Outcome, d.queue.Reason = f.outcome, f.reason
		return
	}
	if err := json.Unmarshal(r.Response, &told); err != nil {
		d.queue.Outcome, d.queue.Reason = model.Garbled, "the record holds no topics"
		return
	}
	d.queue.Others = max(told.Listed-len(told.Topics), 0)
	for _, name := range told.Others {
		d.queue.OtherNames = append(d.queue.OtherNames, d.text(oneLine(name)))
	}
	if x := told.Retention; x != nil {
		d.queue.Retention = &model.QueueRetention{Time: time.Duration(x.Minutes) * time.Minute, Bytes: x.MB}
		if x.MB > 0 {
			d.queue.Retention.Bytes = x.MB << 20
		}
	}
	d.queue.Topics = make([]model.Topic, 0, len(told.Topics))
	for i := range told.Topics {
		t := &told.Topics[i]
		stats := &model.TopicStats{Bytes: t.StorageBytes, BacklogBytes: t.BacklogBytes, RateIn: t.RateIn}
		for name, s := range t.Subscriptions {
			stats.Subscriptions = append(stats.Subscriptions, model.Subscription{
				Name: d.text(oneLine(name)), Type: d.text(oneLine(s.Type)), Backlog: s.Backlog, Bytes: s.Bytes, Consumers: s.Connected, RateOut: s.RateOut,
				Consumed: millisTime(s.Consumed), Acked: millisTime(s.Acked),
			})
		}
		sorting.Sort(stats.Subscriptions, func(a, b model.Subscription) int { return cmp.Compare(a.Name, b.Name) })
		d.queue.Topics = append(d.queue.Topics, model.Topic{Name: d.text(t.Name), Stats: stats})
	}
	sorting.Sort(d.queue.Topics, func(a, b model.Topic) int { return cmp.Compare(a.Name, b.Name) })
}

func millisTime(n int64) time.Time {
	if n <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(n).UTC()
}
