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
	"kitescope/sorting"
)

// pulsar asks Pulsar's admin API, with GETs of the paths below and nothing else. Their answers are those of Pulsar's documentation
// (pulsar.apache.org/admin-rest-api, TopicStats and RetentionPolicies); they were never seen from a live Pulsar.
type pulsar struct {
	web               *http.Client
	address           string
	tenant, namespace string
	patience          time.Duration
}

const (
	pulsarWebPort  = "80" // pulsar.webport's default
	pulsarTopics   = 1024 // that are asked about
	pulsarAtOnce   = 8    // requests
	pulsarMaxList  = 8 << 20
	pulsarMaxStats = 1 << 20
)

// MethodPulsar is the Method of a record that holds Pulsar's topics: its Address is that of the admin API, its Response QueueTopics as JSON.
const MethodPulsar = "PULSAR topics"

// QueueTopics is what Pulsar says of its topics.
type QueueTopics struct {
	// Listed are all topics of the namespace, Others the first of those that are no pchannels.
	Listed int      `json:"listed"`
	Others []string `json:"others,omitempty"`
	// Retention is the namespace's, nil where it was not told: the server's default applies.
	Retention *pulsarRetention `json:"retention,omitempty"`
	Topics    []TopicStats     `json:"topics"`
}

type pulsarRetention struct {
	Minutes int64 `json:"retentionTimeInMinutes"`
	MB      int64 `json:"retentionSizeInMB"`
}

// TopicStats are the fields of Pulsar's TopicStats that are kept.
type TopicStats struct {
	Name          string                       `json:"name"`
	StorageBytes  int64                        `json:"storageSize"`
	BacklogBytes  int64                        `json:"backlogSize"`
	RateIn        float64                      `json:"msgRateIn"`
	Subscriptions map[string]SubscriptionStats `json:"subscriptions"`
}

// SubscriptionStats are the fields of Pulsar's SubscriptionStats that are kept; times are milliseconds since 1970, 0 for never.
type SubscriptionStats struct {
	Type      string            `json:"type"`
	Backlog   int64             `json:"msgBacklog"`
	Bytes     int64             `json:"backlogSize"`
	RateOut   float64           `json:"msgRateOut"`
	Consumed  int64             `json:"lastConsumedTimestamp"`
	Acked     int64             `json:"lastAckedTimestamp"`
	Consumers []json.RawMessage `json:"consumers,omitempty"`
	Connected int               `json:"connected"` // consumers, of a record
}

// pulsarAddress is the address of the admin API that a configuration tells, "" if none.
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

// askPulsar asks for the topics that pchannels are. What cannot be asked there says nothing of the queue itself: brokers listen on
// another port.
func (a *asking) askPulsar(config map[string]string) {
	address := pulsarAddress(config)
	switch {
	case address == "":
		a.skip(skippedQueue, "Pulsar is used, but no process reports an address of its admin API over HTTP")
		return
	case config["pulsarauthplugin"] != "":
		a.skip(skippedQueue, "Pulsar wants a login ("+oneLine(config["pulsarauthplugin"])+"), and kitescope has none")
		return
	case len(a.plan.topics) == 0:
		a.skip(skippedQueue, "no pchannel is known")
		return
	}
	ctx, cancel := context.WithDeadline(a.ctx, latest(a.start.Add(a.client.opts.Timeout), time.Now().Add(grace)))
	defer cancel()
	start := time.Now()
	p := &pulsar{
		web: a.client.web(address), address: address, patience: a.client.opts.Timeout,
		tenant: cmp.Or(config["pulsartenant"], "public"), namespace: cmp.Or(config["pulsarnamespace"], "default"),
	}
	defer p.web.CloseIdleConnections()
	told, f := p.topics(ctx, a.plan.topics)
	switch {
	case givenUp(ctx):
		return
	case f != nil:
		a.skip(skippedQueue, "Pulsar's admin API at "+address+": "+f.reason)
		return
	}
	b, err := json.Marshal(told)
	if err != nil {
		panic(err) // there are only texts and numbers in it
	}
	a.keep(Record{Role: "pulsar", Address: address, Method: MethodPulsar, Outcome: model.Answered.String(), Took: time.Since(start), Response: b})
}

// topics asks for the list, and for each pchannel on it.
func (p *pulsar) topics(ctx context.Context, pchannels []string) (*QueueTopics, *failure) {
	space := url.PathEscape(p.tenant) + "/" + url.PathEscape(p.namespace)
	var listed []string
	if f := p.get(ctx, "/admin/v2/persistent/"+space, pulsarMaxList, &listed); f != nil {
		return nil, f
	}
	told := &QueueTopics{Listed: len(listed)}
	want := setOf(pchannels)
	var names []string
	for _, full := range listed {
		name := full[strings.LastIndexByte(full, '/')+1:]
		if want[name] {
			names, want[name] = append(names, name), false
		} else if _, ours := want[name]; !ours {
			told.Others = append(told.Others, oneLine(name))
		}
	}
	slices.Sort(told.Others)
	told.Others = told.Others[:min(len(told.Others), pulsarTopics)]
	var retention pulsarRetention
	if f := p.get(ctx, "/admin/v2/namespaces/"+space+"/retention", pulsarMaxStats, &retention); f == nil {
		told.Retention = &retention
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	var failure *failure
	free := make(chan struct{}, pulsarAtOnce)
	for _, name := range names[:min(len(names), pulsarTopics)] {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			t := TopicStats{}
			f := p.get(ctx, "/admin/v2/persistent/"+space+"/"+url.PathEscape(name)+"/stats", pulsarMaxStats, &t)
			mu.Lock()
			defer mu.Unlock()
			if f != nil {
				failure = f
				return
			}
			t.Name = name
			for of, s := range t.Subscriptions {
				s.Connected, s.Consumers = len(s.Consumers), nil // they name clients and their addresses
				t.Subscriptions[of] = s
			}
			told.Topics = append(told.Topics, t)
		})
	}
	wg.Wait()
	if len(told.Topics) == 0 && failure != nil {
		return nil, failure
	}
	sorting.Sort(told.Topics, func(a, b TopicStats) int { return cmp.Compare(a.Name, b.Name) })
	return told, nil
}

// get asks for one JSON document.
func (p *pulsar) get(ctx context.Context, path string, limit int64, into any) *failure {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.address+path, http.NoBody)
	if err != nil {
		return failed(model.Failed, "%v", err)
	}
	request.Header = http.Header{"Accept": {"application/json"}, "User-Agent": {"kitescope"}}
	response, err := p.web.Do(request)
	if err != nil {
		return (&Client{opts: Options{Timeout: p.patience}}).httpFailure(err)
	}
	defer response.Body.Close()
	pieces, more, err := readPieces(response.Body, limit)
	switch {
	case response.StatusCode == http.StatusUnauthorized, response.StatusCode == http.StatusForbidden:
		return failed(model.Denied, "%s", response.Status)
	case response.StatusCode != http.StatusOK:
		return failed(model.Failed, "%s", response.Status)
	case err != nil:
		return failed(model.CutOff, "the answer was cut off")
	case more:
		return tooLarge(0, limit)
	}
	body := slices.Concat(pieces...)
	if f := heavy(weighJSON(body)); f != nil {
		return f
	}
	if json.Unmarshal(body, into) != nil {
		return failed(model.Garbled, "%s answers with something else than Pulsar's admin API", p.address)
	}
	return nil
}
