package live

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"kitescope/inspect/model"
)

// kafka asks brokers for offsets: ApiVersions, Metadata, ListOffsets and nothing else. A
// whole client would bring its own connections, goroutines and retries along, and add
// megabytes to the binary.
type kafka struct {
	dialer   *dialer
	patience time.Duration
}

// Kafka's error codes (its protocol's documentation, "Error Codes").
const (
	kafkaUnknownTopic    = 3
	kafkaTopicDenied     = 29
	kafkaClusterDenied   = 31
	kafkaLatest          = -1 // as a timestamp: the next offset
	kafkaEarliest        = -2
	milvusPartition      = 0 // the only one that Milvus uses
	minMetadata          = 4 // the first version that can ask without creating topics, of Kafka 0.11
	minListOffsets       = 1
	kafkaRequestLongPoll = 1000 // ms
	maxBrokers           = 16   // that are asked in parallel
)

// Bounds of Kafka's answers, beyond which none is read: each byte of a list can become a struct
// of a hundred, and again one level below. So topics are asked for in parts.
const (
	kafkaAtOnce   = 128      // topics
	kafkaPerTopic = 512      // its name, its partition, who has it
	kafkaBrokers  = 64 << 10 // a list of all brokers
	kafkaVersions = 16 << 10 // a list of all requests
)

// offsets asks for the first and the next offset of topics. What could be learned is
// returned together with an error.
func (k *kafka) offsets(ctx context.Context, brokers, topics []string) ([]TopicOffsets, error) {
	leaders, err := k.leaders(ctx, brokers, topics)
	if leaders == nil {
		return nil, err
	}
	var mu sync.Mutex
	var list []TopicOffsets
	var wg sync.WaitGroup
	free := make(chan struct{}, maxBrokers)
	for address, names := range leaders {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			found, failure := k.list(ctx, address, names)
			mu.Lock()
			defer mu.Unlock()
			list = append(list, found...)
			if failure != nil {
				err = failure
			}
		})
	}
	wg.Wait()
	return list, err
}

// leaders are the topics that exist, by the address of the broker that leads them. The brokers are
// asked in turn, until one answers, each with its share of the time; nil if none does.
func (k *kafka) leaders(ctx context.Context, brokers, topics []string) (map[string][]string, error) {
	var failure error
	for i, address := range brokers {
		share, cancel := ctx, context.CancelFunc(func() {})
		if deadline, ok := ctx.Deadline(); ok {
			share, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(len(brokers)-i))
		}
		leaders, err := k.leadersFrom(share, address, topics)
		cancel()
		if leaders != nil {
			return leaders, err
		}
		failure = err
	}
	return nil, failure
}

// leadersFrom asks one broker. What it says of some topics is returned together with why it says
// nothing of others.
func (k *kafka) leadersFrom(ctx context.Context, address string, topics []string) (map[string][]string, error) {
	c, err := k.connect(ctx, address)
	if err != nil {
		return nil, err
	}
	defer c.close()
	leaders := map[string][]string{}
	var failure error
	for part := range slices.Chunk(topics, kafkaAtOnce) {
		meta, err := c.metadata(ctx, part)
		if err != nil {
			return nil, err
		}
		if err := addLeaders(leaders, meta, part); err != nil {
			failure = err
		}
	}
	return leaders, failure
}

// metadata asks for the leaders of topics.
func (c *broker) metadata(ctx context.Context, topics []string) (*kmsg.MetadataResponse, error) {
	request := kmsg.NewPtrMetadataRequest()
	if err := c.version(request, minMetadata); err != nil {
		return nil, err
	}
	request.AllowAutoTopicCreation = false
	request.Topics = []kmsg.MetadataRequestTopic{}
	for _, name := range topics {
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = &name
		request.Topics = append(request.Topics, t)
	}
	c.most = kafkaBrokers + kafkaPerTopic*int64(len(topics))
	response := kmsg.NewPtrMetadataResponse()
	if err := c.ask(ctx, request, response); err != nil {
		var f *failure
		if errors.As(err, &f) && f.outcome == model.CutOff {
			// It answers what needs no login, and hangs up on the rest.
			return nil, failed(model.Denied, "the broker %s wants a login (SASL), and kitescope has none", c.address)
		}
		return nil, err
	}
	return response, nil
}

// addLeaders adds the topics that exist to the broker that leads them.
func addLeaders(leaders map[string][]string, meta *kmsg.MetadataResponse, wanted []string) error {
	addresses := map[int32]string{}
	for _, b := range meta.Brokers {
		addresses[b.NodeID] = net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port)))
	}
	want := setOf(wanted)
	var failure error
	for _, t := range meta.Topics {
		if t.Topic == nil || !want[*t.Topic] || t.ErrorCode == kafkaUnknownTopic {
			continue
		}
		name := *t.Topic
		want[name] = false // told once
		address, found := addresses[leaderOf(t)]
		switch {
		case t.ErrorCode == kafkaTopicDenied || t.ErrorCode == kafkaClusterDenied:
			failure = failed(model.Denied, "the broker does not show topic %s", name)
		case leaderOf(t) < 0:
			failure = failed(model.NotReady, "topic %s has no leader", name)
		case !found:
			failure = failed(model.Garbled, "the leader of topic %s is not a broker", name)
		default:
			leaders[address] = append(leaders[address], name)
		}
	}
	return failure
}

// leaderOf is the broker that leads the one partition of a topic, negative if none does.
func leaderOf(t kmsg.MetadataResponseTopic) int32 {
	for _, p := range t.Partitions {
		if p.Partition == milvusPartition {
			return p.Leader
		}
	}
	return -1
}

func setOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// list asks the leader of topics for their offsets.
func (k *kafka) list(ctx context.Context, address string, topics []string) ([]TopicOffsets, error) {
	c, err := k.connect(ctx, address)
	if err != nil {
		return nil, err
	}
	defer c.close()
	var list []TopicOffsets
	var failure error
	for part := range slices.Chunk(topics, kafkaAtOnce) {
		first, err := c.offsetsAt(ctx, part, kafkaEarliest)
		if err != nil {
			return list, err
		}
		end, err := c.offsetsAt(ctx, part, kafkaLatest)
		for _, name := range part {
			from, okFirst := first[name]
			if to, okEnd := end[name]; okFirst && okEnd {
				list = append(list, TopicOffsets{Name: name, First: from, End: to})
			}
		}
		if err != nil {
			failure = err
		}
	}
	return list, failure
}

// offsetsAt is one ListOffsets: the offsets at a timestamp.
func (c *broker) offsetsAt(ctx context.Context, topics []string, timestamp int64) (map[string]int64, error) {
	request := kmsg.NewPtrListOffsetsRequest()
	if err := c.version(request, minListOffsets); err != nil {
		return nil, err
	}
	request.ReplicaID = -1
	request.TimeoutMillis = kafkaRequestLongPoll
	for _, name := range topics {
		t, p := kmsg.NewListOffsetsRequestTopic(), kmsg.NewListOffsetsRequestTopicPartition()
		t.Topic, p.Partition, p.Timestamp = name, milvusPartition, timestamp
		t.Partitions = append(t.Partitions, p)
		request.Topics = append(request.Topics, t)
	}
	c.most = kafkaPerTopic * int64(1+len(topics))
	response := kmsg.NewPtrListOffsetsResponse()
	if err := c.ask(ctx, request, response); err != nil {
		return nil, err
	}
	found := make(map[string]int64, len(topics))
	want := setOf(topics)
	var failure error
	for _, t := range response.Topics {
		if !want[t.Topic] {
			continue
		}
		for _, p := range t.Partitions {
			switch {
			case p.Partition != milvusPartition:
			case p.ErrorCode != 0:
				failure = failed(model.Failed, "topic %s: the broker answers with error %d of Kafka's protocol", t.Topic, p.ErrorCode)
			case p.Offset < 0:
				failure = failed(model.Failed, "topic %s: the broker knows no offset", t.Topic)
			default:
				found[t.Topic] = p.Offset
			}
		}
	}
	return found, failure
}
