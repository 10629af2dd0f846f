package live_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/live"
	"kitescope/inspect/live/livetest"
	"kitescope/inspect/live/recorded"
	"kitescope/inspect/model"
)

// pulsarStats has the format of TopicStats in Pulsar's documentation, including fields that kitescope does not
// read.
const pulsarStats = `{"msgRateIn":12.5,"msgThroughputIn":512.0,"msgRateOut":0.0,"bytesInCounter":9000,"msgInCounter":40,"storageSize":123456,"backlogSize":2048,
"publishers":[{"accessMode":"Shared","producerId":1,"address":"/10.0.0.9:51422"}],
"subscriptions":{"by-dev-dataNode-7-docs":{"msgRateOut":1.5,"msgBacklog":17,"backlogSize":2048,"unackedMessages":0,"type":"Exclusive","lastConsumedTimestamp":1795730475661,
"lastAckedTimestamp":1795730470000,"consumers":[{"address":"/10.0.0.7:40000","consumerName":"s3cr3t-client"}]},
"left-behind":{"msgBacklog":900000,"backlogSize":1073741824,"type":"Exclusive","lastConsumedTimestamp":0,"lastAckedTimestamp":0,"consumers":[]}},
"replication":{},"deduplicationStatus":"Disabled"}`

// fakePulsar serves the admin API, and records the requests.
type fakePulsar struct {
	mu     sync.Mutex
	asked  []string
	answer map[string]string // by path
	status int
}

func (p *fakePulsar) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, r.Method+" "+r.URL.Path)
	body, ok := p.answer[r.URL.Path]
	switch {
	case p.status != 0:
		w.WriteHeader(p.status)
	case !ok:
		w.WriteHeader(http.StatusNotFound)
	default:
		_, _ = w.Write([]byte(body))
	}
}

const pulsarRoot = "/admin/v2/persistent/public/default"

func servePulsar(t *testing.T, p *fakePulsar, config map[string]string) (*model.Cluster, string) {
	t.Helper()
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{
		"mq.type": "pulsar", "pulsar.address": "pulsar://" + at.Hostname() + ":6650", "pulsar.webport": at.Port(),
	}
	maps.Copy(all, config)
	c := livetest.Cluster(livetest.Spec{QueryNodes: 2, Collections: 3, Segments: 6})
	return livetest.Serve(t, c, livetest.Responses(c, livetest.Options{Config: all}), recorded.Options{}), at.Host
}

func TestPulsar(t *testing.T) {
	p := &fakePulsar{answer: map[string]string{
		pulsarRoot: `["persistent://public/default/by-dev-rootcoord-dml_0","persistent://public/default/by-dev-rootcoord-dml_2","persistent://public/default/old-dml_7"]`,
		pulsarRoot + "/by-dev-rootcoord-dml_0/stats":    pulsarStats,
		pulsarRoot + "/by-dev-rootcoord-dml_2/stats":    `{"storageSize":0,"backlogSize":0,"subscriptions":{}}`,
		"/admin/v2/namespaces/public/default/retention": `{"retentionTimeInMinutes":4320,"retentionSizeInMB":-1}`,
	}}
	c, _ := servePulsar(t, p, nil)
	kept := ""
	r := ask(t, c, live.Options{Keep: func(r live.Record) {
		if r.Method == live.MethodPulsar {
			kept = string(r.Response)
		}
	}})
	if r.Queue == nil || r.Queue.Kind != "pulsar" || r.Queue.Outcome != model.Answered {
		t.Fatalf("queue: %+v, skipped %v", r.Queue, r.Skipped)
	}
	want := &model.Queue{
		Kind: "pulsar", Address: r.Queue.Address, Outcome: model.Answered,
		Retention: &model.QueueRetention{Time: 72 * time.Hour, Bytes: -1},
		Topics: []model.Topic{
			{
				Name: "by-dev-rootcoord-dml_0",
				Stats: &model.TopicStats{Bytes: 123456, BacklogBytes: 2048, Subscriptions: []model.Subscription{
					{
						Name: "by-dev-dataNode-7-docs", Type: "Exclusive", Backlog: 17, Bytes: 2048, Consumers: 1,
						Consumed: time.UnixMilli(1795730475661).UTC(), Acked: time.UnixMilli(1795730470000).UTC(),
					},
					{Name: "left-behind", Type: "Exclusive", Backlog: 900000, Bytes: 1 << 30},
				}},
			},
			{Name: "by-dev-rootcoord-dml_2", Stats: &model.TopicStats{}},
		},
	}
	if diff := cmp.Diff(want, r.Queue); diff != "" {
		t.Errorf("(-want, +got):\n%s", diff)
	}
	if strings.Contains(kept, "s3cr3t-client") || !strings.Contains(kept, "left-behind") {
		t.Errorf("a record keeps the names of clients, or lost a subscription: %s", kept)
	}
	if len(p.asked) != 4 {
		t.Errorf("asked %v", p.asked)
	}
	for _, asked := range p.asked {
		if !strings.HasPrefix(asked, "GET /admin/v2/") {
			t.Errorf("asked %s", asked)
		}
	}
}

// TestPulsarSilent checks that an admin API that does not respond leaves the state of the brokers unknown.
func TestPulsarSilent(t *testing.T) {
	list := map[string]string{pulsarRoot: `["persistent://public/default/by-dev-rootcoord-dml_0"]`}
	for name, test := range map[string]struct {
		fake   *fakePulsar
		config map[string]string
		want   string
	}{
		"wants a login": {&fakePulsar{status: http.StatusUnauthorized}, nil, "401 Unauthorized"},
		"is another": {
			&fakePulsar{answer: map[string]string{pulsarRoot: "<html>welcome</html>"}}, nil,
			"an HTML page, not Pulsar's list of topics",
		},
		"has no stats": {&fakePulsar{answer: list}, nil, "404 Not Found"},
		"is too long": {
			&fakePulsar{answer: map[string]string{pulsarRoot: `["` + strings.Repeat("x", 9<<20) + `"]`}}, nil, "8 MiB",
		},
		"Milvus logs in": {
			&fakePulsar{answer: list}, map[string]string{"pulsar.authPlugin": "token"}, "requires a login (token)",
		},
		"tenant leads elsewhere": {
			&fakePulsar{answer: list}, map[string]string{"pulsar.tenant": "../../v3"}, "are not names",
		},
		"address is not told": {
			&fakePulsar{}, map[string]string{"pulsar.address": ""}, "no process reports an address",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := servePulsar(t, test.fake, test.config)
			r := ask(t, c, live.Options{})
			i := slices.IndexFunc(r.Skipped, func(s model.Skipped) bool { return s.What == "message queue" })
			if r.Queue != nil || i < 0 || !strings.Contains(r.Skipped[i].Reason, test.want) {
				t.Errorf("queue %+v, skipped %v, want %q", r.Queue, r.Skipped, test.want)
			}
		})
	}
}

// TestPulsarOfManySubscriptions checks that one response may be large, but that the total that is retained is
// bounded.
func TestPulsarOfManySubscriptions(t *testing.T) {
	var many strings.Builder
	for i := range 70_000 {
		fmt.Fprintf(&many, `"s%d":{},`, i)
	}
	p := &fakePulsar{answer: map[string]string{
		pulsarRoot: `["persistent://public/default/by-dev-rootcoord-dml_0","persistent://public/default/by-dev-rootcoord-dml_2"]`,
		pulsarRoot + "/by-dev-rootcoord-dml_0/stats": `{"subscriptions":{` + many.String() + `"last":{}}}`,
		pulsarRoot + "/by-dev-rootcoord-dml_2/stats": `{"subscriptions":{` + many.String() + `"last":{}}}`,
	}}
	c, _ := servePulsar(t, p, nil)
	q := ask(t, c, live.Options{Timeout: 30 * time.Second}).Queue
	if q == nil || q.Outcome != model.TooLarge || len(q.Topics) != 1 {
		t.Errorf("%+v", q)
	}
}

// TestPulsarInPart checks that a topic whose statistics are refused does not affect the others, and that the
// result is marked as partial.
func TestPulsarInPart(t *testing.T) {
	p := &fakePulsar{answer: map[string]string{
		pulsarRoot: `["persistent://public/default/by-dev-rootcoord-dml_0","persistent://public/default/by-dev-rootcoord-dml_2"]`,
		pulsarRoot + "/by-dev-rootcoord-dml_0/stats": pulsarStats,
	}}
	c, _ := servePulsar(t, p, nil)
	q := ask(t, c, live.Options{}).Queue
	if q == nil || q.Outcome != model.Failed || q.Reason != "topic by-dev-rootcoord-dml_2: 404 Not Found" ||
		len(q.Topics) != 1 || q.Topics[0].Stats.Bytes != 123456 {
		t.Errorf("%+v", q)
	}
}
