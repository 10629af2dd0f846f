package faulttest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
)

// pulsarFact implements "pulsar TOPIC/NAME backlog=N [bytes=SIZE] [consumers=N] [read=TIME]": a subscription
// as reported by Pulsar's admin API.
func (w *World) pulsarFact(args []word) error {
	topic, name, ok := strings.Cut(args[0].text, "/")
	if !ok {
		return fmt.Errorf("%s: not TOPIC/NAME", args[0].text)
	}
	s := live.SubscriptionStats{Type: "Exclusive"}
	for _, x := range args[1:] {
		var err error
		switch key, value, _ := strings.Cut(x.text, "="); key {
		case "backlog":
			s.Backlog, err = strconv.ParseInt(value, 10, 64)
		case "bytes":
			s.Bytes, err = parseBytesSize(value)
		case "consumers":
			s.Connected, err = strconv.Atoi(value)
		case "read":
			at, wrong := w.at(value)
			s.Consumed, err = at.UnixMilli(), wrong
		default:
			err = fmt.Errorf("unknown fact %s", x.text)
		}
		if err != nil {
			return err
		}
	}
	return w.addSubscription(topic, name, s)
}

// addSubscription adds a subscription to Pulsar's response, and raises the bytes of its topic.
func (w *World) addSubscription(topic, name string, s live.SubscriptionStats) error {
	i := slices.IndexFunc(w.records, func(r live.Record) bool { return r.Method == live.MethodPulsar })
	if i < 0 {
		i = len(w.records)
		w.records = append(w.records, live.Record{
			Role: "pulsar", Address: "127.0.0.1:8080", Method: live.MethodPulsar, Outcome: model.Answered.String(),
			At: w.now, Response: []byte("{}"),
		})
	}
	var told live.QueueTopics
	if err := json.Unmarshal(w.records[i].Response, &told); err != nil {
		return err
	}
	at := slices.IndexFunc(told.Topics, func(t live.TopicStats) bool { return t.Name == topic })
	if at < 0 {
		at = len(told.Topics)
		told.Topics = append(told.Topics, live.TopicStats{
			Name: topic, Subscriptions: map[string]live.SubscriptionStats{},
		})
	}
	t := &told.Topics[at]
	t.Subscriptions[name] = s
	t.StorageBytes, t.BacklogBytes = max(t.StorageBytes, s.Bytes), max(t.BacklogBytes, s.Bytes)
	var err error
	w.records[i].Response, err = json.Marshal(told)
	return err
}
