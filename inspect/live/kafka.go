package live

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
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
	limit    int64 // of one answer
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
	autoCreateSince      = 4 // the version of Metadata that can ask without creating topics
	minListOffsets       = 1
	kafkaRequestLongPoll = 1000 // ms
	maxBrokers           = 16   // that are asked in parallel
)

// Sizes of Kafka's answers, beyond which none is read: each byte of a list can become a struct
// of a hundred.
const (
	kafkaAnswer   = 64 << 10
	kafkaPerTopic = 512 // its name, its partition, who has it
	kafkaAllKnown = 4 << 20
)

// answerLimit is what an answer about so many topics may have.
func (k *kafka) answerLimit(topics int) int64 {
	return min(k.limit, kafkaAnswer+kafkaPerTopic*int64(topics))
}

// offsets asks for the first and the next offset of topics. What could be learned is
// returned together with an error.
func (k *kafka) offsets(ctx context.Context, brokers, topics []string) ([]TopicOffsets, error) {
	meta, err := k.metadata(ctx, brokers, topics)
	if err != nil {
		return nil, err
	}
	leaders, err := leadersOf(meta, topics)
	addresses := map[int32]string{}
	for _, b := range meta.Brokers {
		addresses[b.NodeID] = net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port)))
	}
	var mu sync.Mutex
	var list []TopicOffsets
	var wg sync.WaitGroup
	free := make(chan struct{}, maxBrokers)
	for node, names := range leaders {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			found, failure := k.list(ctx, addresses[node], names)
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

// metadata asks the brokers in turn, until one answers, each with its share of the time.
func (k *kafka) metadata(ctx context.Context, brokers, topics []string) (*kmsg.MetadataResponse, error) {
	var failure error
	for i, address := range brokers {
		share, cancel := ctx, context.CancelFunc(func() {})
		if deadline, ok := ctx.Deadline(); ok {
			share, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(len(brokers)-i))
		}
		meta, err := k.metadataFrom(share, address, topics)
		cancel()
		if err == nil {
			return meta, nil
		}
		failure = err
	}
	return nil, failure
}

func (k *kafka) metadataFrom(ctx context.Context, address string, topics []string) (*kmsg.MetadataResponse, error) {
	c, err := k.connect(ctx, address)
	if err != nil {
		return nil, err
	}
	defer c.close()
	request := kmsg.NewPtrMetadataRequest()
	if err := c.version(request, 0); err != nil {
		return nil, err
	}
	// Before version 4 a question about a topic may create it: then all are asked for.
	if request.GetVersion() >= autoCreateSince {
		request.AllowAutoTopicCreation = false
		request.Topics = []kmsg.MetadataRequestTopic{}
		for _, name := range topics {
			t := kmsg.NewMetadataRequestTopic()
			t.Topic = &name
			request.Topics = append(request.Topics, t)
		}
	}
	c.most = k.answerLimit(len(topics))
	if request.GetVersion() < autoCreateSince {
		c.most = min(k.limit, kafkaAllKnown)
	}
	response := kmsg.NewPtrMetadataResponse()
	if err := c.ask(ctx, request, response); err != nil {
		var f *failure
		if errors.As(err, &f) && f.outcome == model.CutOff {
			// It answers what needs no login, and hangs up on the rest.
			return nil, failed(model.Denied, "the broker %s wants a login (SASL), and kitescope has none", address)
		}
		return nil, err
	}
	return response, nil
}

// leadersOf groups the topics that exist by the broker that leads them.
func leadersOf(meta *kmsg.MetadataResponse, wanted []string) (map[int32][]string, error) {
	want := make(map[string]bool, len(wanted))
	for _, name := range wanted {
		want[name] = true
	}
	leaders := map[int32][]string{}
	var failure error
	for _, t := range meta.Topics {
		switch {
		case t.Topic == nil || !want[*t.Topic] || t.ErrorCode == kafkaUnknownTopic:
			continue
		case t.ErrorCode == kafkaTopicDenied || t.ErrorCode == kafkaClusterDenied:
			failure = failed(model.Denied, "the broker does not show topic %s", *t.Topic)
			continue
		}
		want[*t.Topic] = false // told once
		for _, p := range t.Partitions {
			if p.Partition != milvusPartition {
				continue
			}
			if p.Leader < 0 {
				failure = failed(model.NotReady, "topic %s has no leader", *t.Topic)
				continue
			}
			leaders[p.Leader] = append(leaders[p.Leader], *t.Topic)
			break
		}
	}
	return leaders, failure
}

// list asks the leader of topics for their offsets.
func (k *kafka) list(ctx context.Context, address string, topics []string) ([]TopicOffsets, error) {
	if address == "" {
		return nil, failed(model.Garbled, "a topic's leader is no broker")
	}
	c, err := k.connect(ctx, address)
	if err != nil {
		return nil, err
	}
	defer c.close()
	c.most = k.answerLimit(len(topics))
	first, err := c.offsetsAt(ctx, topics, kafkaEarliest)
	if err != nil {
		return nil, err
	}
	end, err := c.offsetsAt(ctx, topics, kafkaLatest)
	var list []TopicOffsets
	for _, name := range topics {
		from, okFirst := first[name]
		if to, okEnd := end[name]; okFirst && okEnd {
			list = append(list, TopicOffsets{Name: name, First: from, End: to})
		}
	}
	return list, err
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
	response := kmsg.NewPtrListOffsetsResponse()
	if err := c.ask(ctx, request, response); err != nil {
		return nil, err
	}
	found := make(map[string]int64, len(topics))
	var failure error
	for _, t := range response.Topics {
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

// broker is a connection to a broker.
type broker struct {
	*kafka
	address string
	conn    net.Conn
	in      *bufio.Reader
	serial  int32
	most    int64 // bytes of one answer
	// versions are the newest and oldest versions of requests that it knows, by key.
	versions map[int16]kmsg.ApiVersionsResponseApiKey
}

// connect dials a broker and learns its versions.
func (k *kafka) connect(ctx context.Context, address string) (*broker, error) {
	if host, port, err := splitAddress(address); err == nil && port == "" {
		address = net.JoinHostPort(host, "9092")
	}
	conn, err := k.dialer.dial(ctx, address, true)
	if err != nil {
		return nil, err
	}
	c := &broker{kafka: k, address: address, conn: conn, in: bufio.NewReader(conn), most: k.answerLimit(0), versions: map[int16]kmsg.ApiVersionsResponseApiKey{}}
	request := kmsg.NewPtrApiVersionsRequest() // version 0, which all know
	response := kmsg.NewPtrApiVersionsResponse()
	if err := c.ask(ctx, request, response); err != nil {
		c.close()
		return nil, err
	}
	for _, key := range response.ApiKeys {
		c.versions[key.ApiKey] = key
	}
	return c, nil
}

func (c *broker) close() { _ = c.conn.Close() }

// version sets the newest version of a request that both sides know.
func (c *broker) version(request kmsg.Request, least int16) error {
	known, ok := c.versions[request.Key()]
	version := min(known.MaxVersion, request.MaxVersion())
	if !ok || version < known.MinVersion || version < least {
		return failed(model.Unimplemented, "the broker %s knows no version of request %d that kitescope knows", c.address, request.Key())
	}
	request.SetVersion(version)
	return nil
}

// ask sends a request and reads its answer.
func (c *broker) ask(ctx context.Context, request kmsg.Request, response kmsg.Response) error {
	stop := context.AfterFunc(ctx, func() { _ = c.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	c.serial++
	out := kmsg.NewRequestFormatter(kmsg.FormatterClientID("kitescope")).AppendRequest(nil, request, c.serial)
	if _, err := c.conn.Write(out); err != nil {
		return c.failure(ctx, err)
	}
	body, err := c.read(request)
	if err != nil {
		return c.failure(ctx, err)
	}
	response.SetVersion(request.GetVersion())
	if err := response.ReadFrom(body); err != nil {
		return failed(model.Garbled, "the broker %s: no answer of Kafka", c.address)
	}
	return nil
}

// read reads the body of the next answer: 4 bytes of size, 4 of the request's serial
// number, and in flexible versions an empty list of tags.
func (c *broker) read(request kmsg.Request) ([]byte, error) {
	var head [8]byte
	if _, err := io.ReadFull(c.in, head[:4]); err != nil {
		return nil, err
	}
	size := int64(binary.BigEndian.Uint32(head[:4]))
	switch {
	case head[0] == tlsAlert || head[0] == tlsHandshake:
		return nil, c.speaksTLS()
	case size > c.most:
		return nil, tooLarge(size, c.most)
	case size < 4:
		return nil, failed(model.Garbled, "the broker %s: no answer of Kafka", c.address)
	}
	if _, err := io.ReadFull(c.in, head[4:]); err != nil {
		return nil, err
	}
	if serial := int32(binary.BigEndian.Uint32(head[4:])); serial != c.serial {
		return nil, failed(model.Garbled, "the broker %s answers to request %d, not %d", c.address, serial, c.serial)
	}
	body, err := io.ReadAll(io.LimitReader(c.in, size-4))
	switch {
	case err != nil:
		return nil, err
	case int64(len(body)) < size-4:
		return nil, io.ErrUnexpectedEOF
	}
	const apiVersions = 18 // its answer never has tags, so that old clients can read it
	if request.IsFlexible() && request.Key() != apiVersions {
		if len(body) == 0 || body[0] != 0 {
			return nil, failed(model.Garbled, "the broker %s: tags where none are expected", c.address)
		}
		body = body[1:]
	}
	return body, nil
}

func (c *broker) speaksTLS() *failure {
	return failed(model.Denied, "the broker %s speaks TLS, and kitescope has no certificates of its own", c.address)
}

// failure says why a request has no answer.
func (c *broker) failure(ctx context.Context, err error) error {
	var known *failure
	switch {
	case errors.As(err, &known):
		return known
	case ctx.Err() != nil && !isTimeout(context.Cause(ctx)):
		return context.Cause(ctx)
	case isTimeout(err):
		return failed(model.TimedOut, "the broker %s does not answer within %s", c.address, c.patience)
	case isCut(err) && len(c.versions) == 0 && c.dialer.wantsTLS(ctx, c.address):
		return c.speaksTLS()
	case isCut(err):
		return failed(model.CutOff, "the broker %s closed the connection", c.address)
	}
	return fmt.Errorf("the broker %s: %w", c.address, err)
}
