package live_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode"

	"github.com/twmb/franz-go/pkg/kmsg"

	"kitescope/inspect/live"
	"kitescope/inspect/live/livetest"
	"kitescope/inspect/live/recorded"
	"kitescope/inspect/model"
)

// brokerRequest is what a client asked, before its body.
type brokerRequest struct {
	key, version int16
	serial       uint32
}

// brokerAnswers is a broker that answers each request by f: with a whole frame, or with nothing for ever.
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
			f(brokerRequest{key: int16(binary.BigEndian.Uint16(body)), version: int16(binary.BigEndian.Uint16(body[2:])), serial: binary.BigEndian.Uint32(body[4:])}, conn)
		}
	})
}

// frame is an answer as Kafka sends it.
func frame(serial uint32, body []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(4+len(body)))
	return append(binary.BigEndian.AppendUint32(b, serial), body...)
}

// knows answers ApiVersions: this much of Metadata and ListOffsets is known.
func knows(serial uint32, metadata, offsets int16) []byte {
	r := kmsg.NewApiVersionsResponse()
	r.ApiKeys = []kmsg.ApiVersionsResponseApiKey{{ApiKey: 3, MaxVersion: metadata}, {ApiKey: 2, MaxVersion: offsets}}
	return frame(serial, r.AppendTo(nil))
}

const (
	askedVersions = 18
	askedMetadata = 3
	dmlTopic      = "by-dev-rootcoord-dml_0"
)

// leads answers Metadata: a broker at an address leads topics.
func leads(version int16, host string, port int32, topics ...string) []byte {
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

// offsetsOf answers ListOffsets.
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

// TestKafkaHostile: whatever a broker sends is bounded in memory and time, and nothing is believed
// that was not asked for.
func TestKafkaHostile(t *testing.T) {
	listOf := func(count uint32, size int) []byte {
		return append(binary.BigEndian.AppendUint32(nil, count), make([]byte, size)...)
	}
	for name, test := range map[string]struct {
		metadata int16 // the newest version that is known
		answer   func(r brokerRequest, conn net.Conn)
	}{
		"brokers, as many as bytes": {1, func(r brokerRequest, conn net.Conn) {
			_, _ = conn.Write(frame(r.serial, listOf(4<<20-100, 4<<20-100)))
		}},
		"topics, as many as bytes": {1, func(r brokerRequest, conn net.Conn) {
			const size = 4<<20 - 100
			body := binary.BigEndian.AppendUint32(nil, 0)       // brokers
			body = append(body, 0, 0, 0, 1)                     // controller
			body = binary.BigEndian.AppendUint32(body, size)    // topics
			body = append(body, 0, 0, 0, 1, 'x', 0)             // error, name, internal
			body = binary.BigEndian.AppendUint32(body, size-10) // partitions
			body = append(body, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)   // error, id, leader
			body = binary.BigEndian.AppendUint32(body, size-40) // replicas
			_, _ = conn.Write(frame(r.serial, append(body, make([]byte, size)...)))
		}},
		"topics, as many as bytes, of a new broker": {7, func(r brokerRequest, conn net.Conn) {
			const size = 64 << 10
			body := make([]byte, 8)                             // throttled, brokers
			body = append(body, 0xff, 0xff, 0, 0, 0, 1)         // no cluster id, controller
			body = binary.BigEndian.AppendUint32(body, size)    // topics
			body = append(body, 0, 0, 0, 1, 'x', 0)             // error, name, internal
			body = binary.BigEndian.AppendUint32(body, size-10) // partitions
			_, _ = conn.Write(frame(r.serial, append(body, make([]byte, size)...)))
		}},
		"brokers of two thousand million": {1, func(r brokerRequest, conn net.Conn) {
			_, _ = conn.Write(frame(r.serial, listOf(1<<31-1, 100)))
		}},
		"brokers of less than none": {1, func(r brokerRequest, conn net.Conn) {
			_, _ = conn.Write(frame(r.serial, listOf(1<<31+5, 100)))
		}},
		"compact lists": {12, func(r brokerRequest, conn net.Conn) {
			body := append([]byte{0, 0, 0, 0, 0}, 0xff, 0xff, 0x03) // 65,534 brokers
			_, _ = conn.Write(frame(r.serial, append(body, make([]byte, 65600)...)))
		}},
		"a length without end": {12, func(r brokerRequest, conn net.Conn) {
			_, _ = conn.Write(frame(r.serial, append([]byte{0, 0, 0, 0, 0}, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)))
		}},
		"a size of less than nothing": {12, func(r brokerRequest, conn net.Conn) {
			_, _ = conn.Write([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1})
		}},
		"another's answer": {12, func(r brokerRequest, conn net.Conn) {
			_, _ = conn.Write(frame(r.serial+7, leads(r.version, "127.0.0.1", 1, dmlTopic)))
		}},
		"byte by byte": {12, func(r brokerRequest, conn net.Conn) {
			for _, b := range frame(r.serial, make([]byte, 60000)) {
				time.Sleep(20 * time.Millisecond)
				if _, err := conn.Write([]byte{b}); err != nil {
					return
				}
			}
		}},
		"led by itself, without offsets": {12, func(r brokerRequest, conn net.Conn) {
			host, port, _ := net.SplitHostPort(conn.LocalAddr().String())
			if r.key == askedMetadata {
				_, _ = conn.Write(frame(r.serial, append([]byte{0}, leads(r.version, host, portOf(t, port), dmlTopic)...)))
				return
			}
			_, _ = conn.Write(frame(r.serial, offsetsOf(r.version, -1<<63, dmlTopic)))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			broker := brokerAnswers(t, func(r brokerRequest, conn net.Conn) {
				if r.key == askedVersions {
					_, _ = conn.Write(knows(r.serial, test.metadata, 5))
					return
				}
				test.answer(r, conn)
			})
			c := withKafka(t, map[string]string{"kafka.brokerList": "10.1.9.9:9092"})
			at := map[string]string{brokerOf(t, c): broker}
			r := heavyAsk(t, c, live.Options{Timeout: time.Second, Map: at})
			if r.Queue != nil && (r.Queue.Outcome == model.Answered || len(r.Queue.Topics) > 0 || r.Queue.Reason == "") {
				t.Errorf("queue %+v", r.Queue)
			}
			if r.Queue == nil && !slices.ContainsFunc(r.Skipped, func(s model.Skipped) bool { return s.What == "message queue" }) {
				t.Errorf("no word of the queue: %v", r.Skipped)
			}
			if n := r.LiveNode("querynode", 100); n.Outcome != model.Answered {
				t.Errorf("querynode-100: %s", n.Outcome)
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

// TestKafkaUnasked: topics that nobody asked for, names with control characters, and brokers elsewhere.
func TestKafkaUnasked(t *testing.T) {
	broker := brokerAnswers(t, func(r brokerRequest, conn net.Conn) {
		host, port, _ := net.SplitHostPort(conn.LocalAddr().String())
		unasked := []string{dmlTopic, "\x1b]0;owned\x07", "by-dev-rootcoord-dml_\xff", strings.Repeat("x", 200)}
		switch r.key {
		case askedVersions:
			_, _ = conn.Write(knows(r.serial, 7, 5))
		case askedMetadata:
			_, _ = conn.Write(frame(r.serial, leads(r.version, host, portOf(t, port), unasked...)))
		default:
			_, _ = conn.Write(frame(r.serial, offsetsOf(r.version, 77, unasked...)))
		}
	})
	c := withKafka(t, map[string]string{"kafka.brokerList": "10.1.9.9:9092"})
	r := heavyAsk(t, c, live.Options{Timeout: 5 * time.Second, Map: map[string]string{brokerOf(t, c): broker}})
	if r.Queue == nil || r.Queue.Outcome != model.Answered || len(r.Queue.Topics) != 1 || r.Queue.Topics[0].Name != dmlTopic {
		t.Errorf("queue %+v, skipped %v", r.Queue, r.Skipped)
	}
}

// TestKafkaWords: a leader's name reaches nobody as it is.
func TestKafkaWords(t *testing.T) {
	broker := brokerAnswers(t, func(r brokerRequest, conn net.Conn) {
		switch r.key {
		case askedVersions:
			_, _ = conn.Write(knows(r.serial, 7, 5))
		default:
			host := "\x1b[2J\x1b]52;c;aWQ=\x07\u202epass\u00adword=s3cr3t\xff" + strings.Repeat("y", 120)
			_, _ = conn.Write(frame(r.serial, leads(r.version, host, 1, dmlTopic)))
		}
	})
	c := withKafka(t, map[string]string{"kafka.brokerList": "10.1.9.9:9092"})
	r := heavyAsk(t, c, live.Options{Timeout: 5 * time.Second, Map: map[string]string{brokerOf(t, c): broker}})
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

// TestKafkaManyTopics: more topics than are asked for at once are all answered for.
func TestKafkaManyTopics(t *testing.T) {
	const collections = 300
	topics := make([]live.TopicOffsets, collections)
	for i := range topics {
		topics[i] = live.TopicOffsets{Name: fmt.Sprintf("by-dev-rootcoord-dml_%d", i), First: int64(i), End: int64(2 * i)}
	}
	c := livetest.Cluster(livetest.Spec{QueryNodes: 1, Collections: collections, Segments: collections})
	answers := livetest.Answers(c, livetest.Options{Config: map[string]string{"kafka.brokerList": "10.1.9.9:9092"}})
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

// TestKafkaHostileLeaders: leaders at many addresses that all send as much as they may, at once.
func TestKafkaHostileLeaders(t *testing.T) {
	const leaders, topicsOfEach = 6, 128
	var asked atomic.Int32
	flood := func(r brokerRequest, conn net.Conn) {
		if r.key == askedVersions {
			_, _ = conn.Write(knows(r.serial, 7, 1))
			return
		}
		asked.Add(1)
		const size = 512 * topicsOfEach
		body := binary.BigEndian.AppendUint32(nil, size) // topics
		_, _ = conn.Write(frame(r.serial, append(body, make([]byte, size)...)))
	}
	m := kmsg.NewMetadataResponse()
	for i := range leaders {
		host, port, _ := net.SplitHostPort(brokerAnswers(t, flood))
		m.Brokers = append(m.Brokers, kmsg.MetadataResponseBroker{NodeID: int32(i), Host: host, Port: portOf(t, port)})
	}
	for i := range leaders * topicsOfEach {
		p := kmsg.NewMetadataResponseTopicPartition()
		p.Leader = int32(i % leaders)
		name := fmt.Sprintf("by-dev-rootcoord-dml_%d", i)
		m.Topics = append(m.Topics, kmsg.MetadataResponseTopic{Topic: &name, Partitions: []kmsg.MetadataResponseTopicPartition{p}})
	}
	slices.SortFunc(m.Topics, func(a, b kmsg.MetadataResponseTopic) int { return strings.Compare(*a.Topic, *b.Topic) }) // as they are asked for
	topics := m.Topics
	first := brokerAnswers(t, func(r brokerRequest, conn net.Conn) {
		if r.key == askedVersions {
			_, _ = conn.Write(knows(r.serial, 7, 1))
			return
		}
		m.SetVersion(r.version)
		m.Topics, topics = topics[:128], topics[128:]
		_, _ = conn.Write(frame(r.serial, m.AppendTo(nil)))
	})
	c := livetest.Cluster(livetest.Spec{QueryNodes: 1, Collections: leaders * topicsOfEach, Segments: 1})
	c = livetest.Serve(t, c, livetest.Answers(c, livetest.Options{Config: map[string]string{"kafka.brokerList": "10.1.9.9:9092"}}), recorded.Options{})
	r := heavyAsk(t, c, live.Options{Timeout: unhurried, Map: map[string]string{brokerOf(t, c): first}})
	if r.Queue == nil || r.Queue.Outcome == model.Answered || len(r.Queue.Topics) > 0 {
		t.Errorf("queue %+v, skipped %v", r.Queue, r.Skipped)
	}
	if asked.Load() < leaders {
		t.Errorf("%d leaders were asked, want %d", asked.Load(), leaders)
	}
}
