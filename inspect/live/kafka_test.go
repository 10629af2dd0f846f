package live_test

import (
	"encoding/json"
	"maps"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/live"
	"kitescope/inspect/live/livetest"
	"kitescope/inspect/live/recorded"
	"kitescope/inspect/model"
)

// kafkaRecord returns a record of a broker.
func kafkaRecord(t *testing.T, topics ...live.TopicOffsets) live.Record {
	t.Helper()
	b, err := json.Marshal(live.QueueOffsets{Topics: topics})
	if err != nil {
		t.Fatal(err)
	}
	return live.Record{
		Role: "kafka", Address: "10.1.9.9:9092", Method: live.MethodKafka, Response: b, Outcome: "answered",
	}
}

func withKafka(t *testing.T, config map[string]string, records ...live.Record) *model.Cluster {
	t.Helper()
	c := livetest.Cluster(livetest.Spec{QueryNodes: 2, Collections: 3, Segments: 6})
	answers := livetest.Responses(c, livetest.Options{Config: config})
	return livetest.Serve(t, c, append(answers, records...), recorded.Options{})
}

func TestKafka(t *testing.T) {
	const prefix = "by-dev-rootcoord-dml_"
	c := withKafka(t, map[string]string{"kafka.brokerList": "10.1.9.9:9092"}, kafkaRecord(t,
		live.TopicOffsets{Name: prefix + "0", First: 3, End: 500}, live.TopicOffsets{Name: prefix + "2", End: 9},
		live.TopicOffsets{Name: "somebody-else", End: 7}))
	r := ask(t, c, live.Options{})
	if r.Queue == nil || r.Queue.Kind != "kafka" || r.Queue.Outcome != model.Answered {
		t.Fatalf("queue: %+v, skipped %v", r.Queue, r.Skipped)
	}
	want := []model.Topic{{Name: prefix + "0", First: 3, End: 500}, {Name: prefix + "2", End: 9}}
	if diff := cmp.Diff(want, r.Queue.Topics); diff != "" {
		t.Errorf("topics: %s", diff)
	}
	if lag, ok := c.WithRuntime(r).QueueLag(c.VChannels[0]); !ok || lag != 491 {
		t.Errorf("lag %d (%v), want 491: 500 minus the checkpoint's 9", lag, ok)
	}
}

// TestKafkaOverTheMap checks that brokers are reached in the same way as processes.
func TestKafkaOverTheMap(t *testing.T) {
	c := withKafka(t, map[string]string{"kafka.brokerList": "10.1.9.9:9092"},
		kafkaRecord(t, live.TopicOffsets{Name: "by-dev-rootcoord-dml_0", End: 5}))
	told := ask(t, c, live.Options{}).Queue.Address
	p := newSOCKS(t, "", "")
	r := ask(t, c, live.Options{Proxy: "socks5://" + p.address})
	if r.Queue == nil || r.Queue.Outcome != model.Answered || !slices.Contains(p.targets(), told) {
		t.Errorf("queue %+v, targets of the proxy %v", r.Queue, p.targets())
	}
}

func TestKafkaFaults(t *testing.T) {
	t.Parallel()
	sasl := map[string]string{
		"kafka.saslUsername": "milvus", "kafka.saslPassword": "s3cr3t-kafka", "kafka.securityProtocol": "SASL_SSL",
	}
	authority := livetest.NewAuthority(t)
	for name, fault := range map[string]struct {
		broker  string
		config  map[string]string
		outcome model.Outcome
		reason  string
	}{
		"refused":   {livetest.Refused(t), nil, model.Refused, "refused"},
		"silent":    {livetest.Silent(t), nil, model.TimedOut, "no response from the brokers"},
		"blackhole": {livetest.Blackhole(t), nil, model.Unreachable, "no connection"},
		"hangs up":  {livetest.HangsUp(t), nil, model.Denied, "closed the connection"},
		"garbage":   {livetest.Garbage(t, "\x00\x00\x00\x08\x00\x00\x00\x01\xff\xff\xff\xff"), nil, model.Failed, ""},
		"huge":      {livetest.Garbage(t, "\x40\x00\x00\x00 and so on"), nil, model.Failed, "1073741824"},
		"TLS alert": {livetest.Garbage(t, tls13Alert), nil, model.Failed, "TLS"},
		"TLS only":  {livetest.TLSOnly(t, authority.Server(t, nil, "127.0.0.1")), nil, model.Denied, "TLS"},
		"SASL told": {"127.0.0.1:1", sasl, model.Denied, "SASL"},
		"TLS told":  {"127.0.0.1:1", map[string]string{"kafka.ssl.enabled": "true"}, model.Denied, "TLS"},
		"SASL":      {kafkaLogin(t), nil, model.Denied, "SASL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := map[string]string{"kafka.brokerList": "10.1.9.9:9092"}
			maps.Copy(config, fault.config)
			c := withKafka(t, config)
			start := time.Now()
			r := ask(t, c, live.Options{Timeout: time.Second, Map: map[string]string{brokerOf(t, c): fault.broker}})
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("took %v", took)
			}
			if r.Queue == nil || r.Queue.Outcome != fault.outcome || !strings.Contains(r.Queue.Reason, fault.reason) ||
				r.Queue.Topics != nil {
				t.Errorf("queue %+v (skipped %v), want %s (%s)", r.Queue, r.Skipped, fault.outcome, fault.reason)
			}
			if r.Queue != nil && strings.Contains(r.Queue.Reason, "s3cr3t") {
				t.Errorf("a secret in %q", r.Queue.Reason)
			}
			if n := r.LiveNode("querynode", 100); n.Outcome != model.Answered {
				t.Errorf("querynode-100: %s", n.Outcome)
			}
		})
	}
}

// brokerOf returns the broker in a cluster's configuration.
func brokerOf(t *testing.T, c *model.Cluster) string {
	t.Helper()
	value, ok := c.WithRuntime(ask(t, c, live.Options{})).Setting("kafka.brokerList", "querynode")
	if !ok {
		t.Fatal("no broker is named")
	}
	return value.Value
}

// kafkaLogin starts a broker that returns its versions without a login, and closes the connection on any other
// request.
func kafkaLogin(t *testing.T) string {
	t.Helper()
	return brokerAnswers(t, func(r brokerRequest, conn net.Conn) {
		if r.key != askedVersions {
			_ = conn.Close()
			return
		}
		_, _ = conn.Write(versionsResponse(r))
	})
}

func TestOtherQueues(t *testing.T) {
	for name, test := range map[string]struct {
		config map[string]string
		reason string
	}{
		"RocksMQ": {nil, "RocksMQ is inside the process"},
		"told":    {map[string]string{"mq.type": "woodpecker"}, "woodpecker is not queried"},
		"Pulsar": {
			map[string]string{"mq.type": "pulsar", "kafka.brokerList": "10.1.9.9:9092"},
			"Pulsar is used, but no process reports an address of its admin API over HTTP",
		},
		"Kafka of somebody": {
			map[string]string{"kafka.brokerList": "10.1.9.9:9092"}, "no pchannel is a topic there",
		},
		"Kafka, brokers not":   {map[string]string{"mq.type": "kafka"}, "no process reports its brokers"},
		"Kafka, and certainly": {map[string]string{"mq.type": "kafka", "kafka.brokerList": "10.1.9.9:9092"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := ask(t, withKafka(t, test.config), live.Options{})
			at := slices.IndexFunc(r.Skipped, func(s model.Skipped) bool { return s.What == "message queue" })
			switch {
			case test.reason == "":
				if at >= 0 || r.Queue == nil || len(r.Queue.Topics) != 0 {
					t.Errorf("queue %+v, skipped %v", r.Queue, r.Skipped)
				}
			case at < 0 || !strings.Contains(r.Skipped[at].Reason, test.reason) || r.Queue != nil:
				t.Errorf("queue %+v, skipped %v, want %q", r.Queue, r.Skipped, test.reason)
			}
		})
	}
}
