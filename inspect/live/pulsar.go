package live

import (
	"cmp"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"kitescope/inspect/model"
	"kitescope/internal/redact"
)

// pulsar queries Pulsar's admin API, with GETs of the paths below and nothing else. The formats of the
// responses are from Pulsar's documentation (pulsar.apache.org/admin-rest-api, TopicStats and
// RetentionPolicies). They were never tested against a live Pulsar.
type pulsar struct {
	client            *Client
	web               *http.Client
	address           string
	tenant, namespace string
}

const (
	pulsarWebPort  = "80" // pulsar.webport's default
	pulsarTopics   = 1024 // maximum number of topics queried
	pulsarParallel = 8    // requests
	pulsarMaxList  = 8 << 20
	pulsarMaxStats = 1 << 20
	pulsarMaxKept  = 16 << 20 // for the subscriptions of all topics, in memory
)

// MethodPulsar is the Method of a record with Pulsar's topics. Its Address is that of the admin API, its
// Response is QueueTopics as JSON.
const MethodPulsar = "PULSAR topics"

// QueueTopics holds the topics of Pulsar.
type QueueTopics struct {
	Topics []TopicStats `json:"topics"`
	// Retention is that of the namespace. It is nil if none is set or the request was refused; then the unknown
	// default of the brokers applies.
	Retention *PulsarRetention `json:"retention,omitempty"`
}

// PulsarRetention is Pulsar's RetentionPolicies; -1 means without bound.
type PulsarRetention struct {
	Minutes int64 `json:"retentionTimeInMinutes"`
	MB      int64 `json:"retentionSizeInMB"`
}

// TopicStats holds the stored fields of Pulsar's TopicStats.
type TopicStats struct {
	Name          string                       `json:"name"`
	StorageBytes  int64                        `json:"storageSize"`
	BacklogBytes  int64                        `json:"backlogSize"`
	Subscriptions map[string]SubscriptionStats `json:"subscriptions"`
}

// SubscriptionStats holds the stored fields of Pulsar's SubscriptionStats. Times are in milliseconds since
// 1970, 0 for never.
type SubscriptionStats struct {
	Type      string            `json:"type"`
	Backlog   int64             `json:"msgBacklog"`
	Bytes     int64             `json:"backlogSize"`
	Consumed  int64             `json:"lastConsumedTimestamp"`
	Acked     int64             `json:"lastAckedTimestamp"`
	Consumers []json.RawMessage `json:"consumers,omitempty"`
	Connected int               `json:"connected"` // number of consumers, in a record
}

// pulsarAddress returns the address of the admin API in a configuration, or "" if there is none.
func pulsarAddress(config map[string]string) string {
	port := cmp.Or(config["pulsarwebport"], pulsarWebPort)
	for _, key := range []string{"pulsarwebaddress", "pulsaraddress"} {
		u, err := url.Parse(config[key])
		if config[key] == "" || err == nil && u.Scheme == "https" {
			continue
		}
		host := config[key]
		if err == nil && u.Host != "" {
			host = u.Host
			if key == "pulsarwebaddress" && u.Port() != "" {
				port = u.Port()
			}
		}
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		return net.JoinHostPort(host, port)
	}
	return ""
}

// askPulsar queries the topics of the pchannels. A failure here does not mean that the queue fails, because
// brokers listen on another port.
func (a *askState) askPulsar(config map[string]string) {
	address := pulsarAddress(config)
	switch {
	case address == "":
		a.skip(skippedQueue, "Pulsar is used, but no process reports an address of its admin API over HTTP")
		return
	case config["pulsarauthplugin"] != "":
		a.skip(skippedQueue,
			"Pulsar requires a login ("+oneLine(config["pulsarauthplugin"])+"), and kitescope has none")
		return
	case len(a.plan.topics) == 0:
		a.skip(skippedQueue, "no pchannel is known")
		return
	case !pathStep(config["pulsartenant"]) || !pathStep(config["pulsarnamespace"]):
		a.skip(skippedQueue,
			"pulsar.tenant and pulsar.namespace are not names: "+
				oneLine(config["pulsartenant"]+"/"+config["pulsarnamespace"]))
		return
	}
	ctx, cancel := context.WithDeadline(a.ctx, latest(a.start.Add(a.client.opts.Timeout), time.Now().Add(minQueryTime)))
	defer cancel()
	start := time.Now()
	p := &pulsar{
		client: a.client, web: a.client.web(address), address: address,
		tenant: cmp.Or(config["pulsartenant"], "public"), namespace: cmp.Or(config["pulsarnamespace"], "default"),
	}
	defer p.web.CloseIdleConnections()
	told, f := p.topics(ctx, a.plan.topics)
	switch {
	case canceled(ctx):
		return
	case f != nil && len(told.Topics) == 0:
		a.skip(skippedQueue, "Pulsar's admin API at "+redact.Address(address)+": "+f.reason)
		return
	}
	r := Record{
		Role: "pulsar", Address: address, Method: MethodPulsar, Outcome: model.Answered.String(),
		Took: time.Since(start),
	}
	if f != nil {
		r.Outcome, r.Error = f.outcome.String(), f.reason
	}
	b, err := json.Marshal(told)
	if err != nil {
		panic(err) // it holds only texts and numbers
	}
	r.Response = b
	a.keep(r)
}

// pathStep reports whether a name is a single path element and not a relative one.
func pathStep(name string) bool { return name != "." && name != ".." && !strings.Contains(name, "/") }

// topics requests the list of topics and the statistics of each listed pchannel. It may return incomplete
// results together with a failure.
func (p *pulsar) topics(ctx context.Context, pchannels []string) (*QueueTopics, *failure) {
	told := &QueueTopics{}
	space := p.tenant + "/" + p.namespace
	var listed []string
	if f := p.get(ctx, "/admin/v2/persistent/"+space, pulsarMaxList, "Pulsar's list of topics", '[', &listed); f !=
		nil {
		return told, f
	}
	want := setOf(pchannels)
	var names []string
	for _, full := range listed {
		name := full[strings.LastIndexByte(full, '/')+1:]
		if want[name] && pathStep(name) {
			names, want[name] = append(names, name), false
		}
	}
	retention := PulsarRetention{}
	if f := p.get(ctx, "/admin/v2/namespaces/"+space+"/retention", pulsarMaxStats, "Pulsar's retention of a namespace",
		'{', &retention); f == nil {
		told.Retention = &retention
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	var failure *failure
	kept := 0
	if len(names) > pulsarTopics {
		failure = newFailure(model.TooLarge, "%d topics: only the first %d are queried", len(names), pulsarTopics)
	}
	free := make(chan struct{}, pulsarParallel)
	for _, name := range names[:min(len(names), pulsarTopics)] {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			t := TopicStats{}
			f := p.get(ctx, "/admin/v2/persistent/"+space+"/"+name+"/stats", pulsarMaxStats,
				"Pulsar's statistics of a topic", '{', &t)
			mu.Lock()
			defer mu.Unlock()
			if f != nil {
				// Failed for any reason, because the API does respond.
				failure = newFailure(model.Failed, "topic %s: %s", oneLine(name), f.reason)
				return
			}
			t.Name = name
			for of, s := range t.Subscriptions {
				kept += costMessage + len(of)
				s.Connected, s.Consumers = len(s.Consumers), nil // they name clients and their addresses
				t.Subscriptions[of] = s
			}
			if kept > pulsarMaxKept {
				failure = newFailure(model.TooLarge, "the topics have more subscriptions than fit into %s",
					mebibytes(pulsarMaxKept))
				return
			}
			told.Topics = append(told.Topics, t)
		})
	}
	wg.Wait()
	slices.SortFunc(told.Topics, func(a, b TopicStats) int { return cmp.Compare(a.Name, b.Name) })
	return told, failure
}

// get requests one JSON document. what names it in errors; begin is its first byte.
func (p *pulsar) get(ctx context.Context, path string, limit int64, what string, begin byte, into any) *failure {
	tenant := p.client.budget.newReservation()
	defer tenant.releaseAll()
	answer, f := p.client.send(ctx, p.web,
		httpGet{url: url.URL{Scheme: "http", Host: p.address, Path: path}, accept: "application/json", limit: limit},
		tenant)
	if gone := tenant.exceeded(); gone != nil {
		f = gone
	}
	switch {
	case f != nil:
		return f
	case answer.code == http.StatusUnauthorized, answer.code == http.StatusForbidden:
		return newFailure(model.Denied, "%s", answer.status)
	case answer.code != http.StatusOK:
		return newFailure(model.Failed, "%s", answer.status)
	}
	return readJSON(answer.body, what, begin, into)
}
