package live

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/model"
	"kitescope/internal/redact"
)

// minQueryTime is the minimum time for endpoints whose addresses are learned late: the message queue, and processes
// that do not report their port.
const minQueryTime = 500 * time.Millisecond

const skippedQueue = "message queue"

// queueHint holds facts on the message queue from the metadata.
type queueHint struct {
	size int // see Cluster.MessageIDSize
	// streaming: queues other than Kafka, Pulsar and RocksMQ are possible (2.6).
	streaming bool
}

func hintOf(c *model.Cluster) queueHint {
	return queueHint{size: c.MessageIDSize(), streaming: c.Streaming != nil}
}

// kind returns the message queue in a configuration, and whether it is certain. Up to 2.5 processes do not
// report mq.type, but the addresses of all queues.
func (h queueHint) kind(config map[string]string) (kind string, certain bool) {
	kind = strings.ToLower(config["mqtype"])
	switch {
	case kind != "" && kind != "default":
		return kind, true
	case config["kafkabrokerlist"] != "" && (h.size == model.OffsetSize || h.size == 0):
		return "kafka", false
	case h.size == model.OffsetSize:
		return "rocksmq", false
	case h.size > model.OffsetSize && !h.streaming:
		return "pulsar", false
	}
	return "", false
}

// queueSettings returns the folded configuration keys for the message queue.
func queueSettings() []string {
	return []string{
		"mqtype", "kafkabrokerlist", "kafkasecurityprotocol", "kafkasaslusername", "kafkasslenabled", "kafkausessl",
		"pulsaraddress", "pulsarwebaddress", "pulsarwebport", "pulsartenant", "pulsarnamespace", "pulsarauthplugin",
	}
}

// askQueue queries the message queue in a configuration, in parallel with everything else.
func (a *askState) askQueue(config map[string]string) {
	kind, certain := a.plan.queue.kind(config)
	switch kind {
	case "kafka":
		a.helpers.Go(func() { a.askKafka(config, certain) })
	case "rocksmq":
		a.skip(skippedQueue, "RocksMQ is inside the process, and no call returns its offsets")
	case "pulsar":
		a.helpers.Go(func() { a.askPulsar(config) })
	case "":
		a.skip(skippedQueue, "no process reports which one is used")
	default:
		a.skip(skippedQueue, kind+" is not queried: no call returns its offsets")
	}
}

// askKafka requests the offsets of the pchannels' topics from the brokers.
func (a *askState) askKafka(config map[string]string, certain bool) {
	brokers := slices.DeleteFunc(strings.FieldsFunc(config["kafkabrokerlist"], func(r rune) bool {
		return r == ',' || r == ' '
	}),
		func(s string) bool { return s == "" })
	if len(brokers) == 0 {
		a.skip(skippedQueue, "Kafka is used, but no process reports its brokers")
		return
	}
	if len(a.plan.topics) == 0 {
		a.skip(skippedQueue, "no pchannel is known")
		return
	}
	ctx, cancel := context.WithDeadline(a.ctx, latest(a.start.Add(a.client.opts.Timeout), time.Now().Add(minQueryTime)))
	defer cancel()
	start := time.Now()
	var topics []TopicOffsets
	err := kafkaDenied(config)
	if err == nil {
		k := &kafka{dialer: a.client.dialer, timeout: a.client.opts.Timeout}
		topics, err = k.offsets(ctx, brokers, a.plan.topics)
	}
	if canceled(ctx) {
		return
	}
	if err == nil && len(topics) == 0 && !certain {
		a.skip(skippedQueue,
			"kafka.brokerList names "+redact.Address(strings.Join(brokers, ","))+", but no pchannel is a topic there")
		return
	}
	r := Record{
		Role: "kafka", Address: strings.Join(brokers, ","), Method: MethodKafka, Outcome: model.Answered.String(),
		Took: time.Since(start),
	}
	if f, ok := errors.AsType[*failure](err); ok {
		r.Outcome, r.Error = f.outcome.String(), f.reason
	} else if err != nil {
		r.Outcome, r.Error = model.Failed.String(), oneLine(err.Error())
	}
	if err == nil || len(topics) > 0 {
		slices.SortFunc(topics, func(a, b TopicOffsets) int { return cmp.Compare(a.Name, b.Name) })
		b, err := json.Marshal(QueueOffsets{Topics: topics})
		if err != nil {
			panic(err) // it holds only texts and numbers
		}
		r.Response = b
	}
	a.keep(r)
}

// kafkaDenied returns why brokers that require credentials are not queried: Milvus has credentials but does not
// report them, and they are not guessed.
func kafkaDenied(config map[string]string) error {
	protocol := strings.ToUpper(config["kafkasecurityprotocol"])
	switch {
	case config["kafkasaslusername"] != "":
		return newFailure(model.Denied, "the brokers require SASL (%s), and kitescope has no credentials for them",
			protocol)
	case config["kafkasslenabled"] == "true", config["kafkausessl"] == "true":
		return newFailure(model.Denied, "the brokers require TLS, and kitescope has no certificates for them")
	}
	return nil
}
