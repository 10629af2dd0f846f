package live_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/twmb/franz-go/pkg/kmsg"

	"kitescope/inspect/live"
	"kitescope/inspect/live/livetest"
	"kitescope/inspect/live/recorded"
	"kitescope/inspect/model"
)

// brokerRequest is the header of a client's request.
type brokerRequest struct {
	key, version int16
	serial       uint32
}

// brokerAnswers starts a broker that calls f for each request. f writes a whole frame, or blocks forever.
func brokerAnswers(t *testing.T, f func(r brokerRequest, conn net.Conn)) string {
	t.Helper()
	return livetest.Each(t, func(conn net.Conn) {
		defer conn.Close()
		for {
			var head [4]byte
			if _, err := io.ReadFull(conn, head[:]); err != nil {
				return
			}
			body := make([]byte, binary.BigEndian.Uint32(head[:]))
			if _, err := io.ReadFull(conn, body); err != nil || len(body) < 8 {
				return
			}
			f(brokerRequest{
				key: int16(binary.BigEndian.Uint16(body)), version: int16(binary.BigEndian.Uint16(body[2:])),
				serial: binary.BigEndian.Uint32(body[4:]),
			}, conn)
		}
	})
}

// frame returns a response in Kafka's framing.
func frame(serial uint32, body []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(4+len(body)))
	return append(binary.BigEndian.AppendUint32(b, serial), body...)
}

// versionsResponse returns a response to ApiVersions that supports Metadata up to 7 and ListOffsets up to 5.
func versionsResponse(r brokerRequest) []byte {
	known := kmsg.NewApiVersionsResponse()
	known.SetVersion(r.version)
	known.ApiKeys = []kmsg.ApiVersionsResponseApiKey{
		{ApiKey: 18, MaxVersion: 4}, {ApiKey: 3, MaxVersion: 7}, {ApiKey: 2, MaxVersion: 5},
	}
	return frame(r.serial, known.AppendTo(nil))
}

const (
	askedVersions = 18
	askedMetadata = 3
	dmlTopic      = "by-dev-rootcoord-dml_0"
)

// metadataResponse returns a response to Metadata: a broker at an address leads topics.
func metadataResponse(version int16, host string, port int32, topics ...string) []byte {
	r := kmsg.NewMetadataResponse()
	r.SetVersion(version)
	r.Brokers = []kmsg.MetadataResponseBroker{{NodeID: 1, Host: host, Port: port}}
	for i := range topics {
		p := kmsg.NewMetadataResponseTopicPartition()
		p.Leader = 1
		topic := kmsg.NewMetadataResponseTopic()
		topic.Topic, topic.Partitions = &topics[i], []kmsg.MetadataResponseTopicPartition{p}
		r.Topics = append(r.Topics, topic)
	}
	return r.AppendTo(nil)
}

// offsetsOf returns a response to ListOffsets.
func offsetsOf(version int16, offset int64, topics ...string) []byte {
	r := kmsg.NewListOffsetsResponse()
	r.SetVersion(version)
	for _, name := range topics {
		p := kmsg.NewListOffsetsResponseTopicPartition()
		p.Offset = offset
		topic := kmsg.NewListOffsetsResponseTopic()
		topic.Topic, topic.Partitions = name, []kmsg.ListOffsetsResponseTopicPartition{p}
		r.Topics = append(r.Topics, topic)
	}
	return r.AppendTo(nil)
}

// TestKafkaHostile checks that invented data of a broker is rejected, whatever size it claims.
func TestKafkaHostile(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(r brokerRequest, conn net.Conn){
		"brokers of two thousand million": func(r brokerRequest, conn net.Conn) {
			_, _ = conn.Write(frame(r.serial, append([]byte{0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff}, make([]byte, 100)...)))
		},
		"a size of less than nothing": func(_ brokerRequest, conn net.Conn) {
			_, _ = conn.Write([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1})
		},
		"another's answer": func(r brokerRequest, conn net.Conn) {
			_, _ = conn.Write(frame(r.serial+7, metadataResponse(r.version, "127.0.0.1", 1, dmlTopic)))
		},
		"led by itself, without offsets": func(r brokerRequest, conn net.Conn) {
			host, port, _ := net.SplitHostPort(conn.LocalAddr().String())
			if r.key == askedMetadata {
				_, _ = conn.Write(frame(r.serial, metadataResponse(r.version, host, portOf(t, port), dmlTopic)))
				return
			}
			_, _ = conn.Write(frame(r.serial, offsetsOf(r.version, -1<<63, dmlTopic)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broker := brokerAnswers(t, func(r brokerRequest, conn net.Conn) {
				if r.key == askedVersions {
					_, _ = conn.Write(versionsResponse(r))
					return
				}
				answer(r, conn)
			})
			c := withKafka(t, map[string]string{"kafka.brokerList": "10.1.9.9:9092"})
			r := askLarge(t, c, live.Options{Timeout: 2 * time.Second, Map: map[string]string{brokerOf(t, c): broker}})
			if r.Queue == nil || r.Queue.Outcome == model.Answered || len(r.Queue.Topics) > 0 || r.Queue.Reason == "" {
				t.Errorf("queue %+v", r.Queue)
			}
		})
	}
}

func portOf(t *testing.T, text string) int32 {
	t.Helper()
	n, err := net.LookupPort("tcp", text)
	if err != nil {
		t.Fatal(err)
	}
	return int32(n)
}

// TestKafkaWords checks that the name of a leader is never displayed unchanged.
func TestKafkaWords(t *testing.T) {
	broker := brokerAnswers(t, func(r brokerRequest, conn net.Conn) {
		switch r.key {
		case askedVersions:
			_, _ = conn.Write(versionsResponse(r))
		default:
			host := "\x1b[2J\x1b]52;c;aWQ=\x07\u202epass\u00adword=s3cr3t\xff" + strings.Repeat("y", 120)
			_, _ = conn.Write(frame(r.serial, metadataResponse(r.version, host, 1, dmlTopic)))
		}
	})
	c := withKafka(t, map[string]string{"kafka.brokerList": "10.1.9.9:9092"})
	r := askLarge(t, c, live.Options{Timeout: 5 * time.Second, Map: map[string]string{brokerOf(t, c): broker}})
	if r.Queue == nil || r.Queue.Outcome == model.Answered {
		t.Fatalf("queue %+v, skipped %v", r.Queue, r.Skipped)
	}
	t.Logf("%s: %q", r.Queue.Outcome, r.Queue.Reason)
	for _, c := range r.Queue.Reason {
		if !unicode.IsGraphic(c) {
			t.Errorf("%q in the reason %q", c, r.Queue.Reason)
		}
	}
	if len(r.Queue.Reason) > 1000 {
		t.Errorf("%d bytes of reason", len(r.Queue.Reason))
	}
}

// TestKafkaManyTopics checks that all of more topics than fit one request get offsets.
func TestKafkaManyTopics(t *testing.T) {
	const collections = 300
	topics := make([]live.TopicOffsets, collections)
	for i := range topics {
		topics[i] = live.TopicOffsets{
			Name: fmt.Sprintf("by-dev-rootcoord-dml_%d", i), First: int64(i), End: int64(2 * i),
		}
	}
	c := livetest.Cluster(livetest.Spec{QueryNodes: 1, Collections: collections, Segments: collections})
	answers := livetest.Responses(c, livetest.Options{Config: map[string]string{"kafka.brokerList": "10.1.9.9:9092"}})
	c = livetest.Serve(t, c, append(answers, kafkaRecord(t, topics...)), recorded.Options{})
	r := ask(t, c, live.Options{Timeout: unhurried})
	if r.Queue == nil || r.Queue.Outcome != model.Answered || len(r.Queue.Topics) != collections {
		t.Fatalf("queue %+v, skipped %v", r.Queue, r.Skipped)
	}
	for _, topic := range r.Queue.Topics {
		if !slices.Contains(topics, live.TopicOffsets{Name: topic.Name, First: topic.First, End: topic.End}) {
			t.Errorf("%+v", topic)
		}
	}
}
