package live

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kitescope/inspect/model"
	"kitescope/internal/redact"
)

// Reports of a proxy, since 2.5: the clients connected to it, and the state of its connections to etcd and the
// message queue.
const (
	connectionsPath    = "/api/v1/_cluster/clients"
	methodConnections  = "GET " + connectionsPath
	dependenciesPath   = "/api/v1/_cluster/dependencies"
	methodDependencies = "GET " + dependenciesPath
)

// Bounds of a response.
const (
	maxConnections = 10_000
	maxMembers     = 1_000
)

// dependenciesProxy returns the proxy to query for its dependencies, or nil if there is none. Only one is
// queried, because it opens connections of its own for the response.
func (p *plan) dependenciesProxy() *session { return p.firstProxy(2, 5) }

// writesToPulsar returns why a proxy is not queried for its dependencies, or "" if it may be. With mq.type
// pulsar it makes a broker check itself, and the broker writes a message to a topic of its own
// (pkg/mq/msgstream/msgstream_util.go: PulsarHealthCheck). All other checks only read. queue is mq.type as the
// proxy reported it, or "".
func (h queueHint) writesToPulsar(queue string) string {
	switch {
	case queue == "pulsar":
		return "the message queue is Pulsar, and for this answer its broker would write to a topic of its own"
	case queue == "" && h.size != model.OffsetSize: // neither Kafka nor RocksMQ has other sizes
		return "the message queue may be Pulsar, whose broker would write to a topic of its own for this answer"
	}
	return ""
}

// queueOf returns mq.type in a proxy's configuration.
func queueOf(body []byte) string {
	var told struct {
		Dotted string `json:"mq.type"`
		Folded string `json:"mqtype"`
	}
	if f := readJSON(body, "a configuration", '{', &told); f != nil {
		return ""
	}
	return strings.ToLower(withoutSource(cmp.Or(told.Folded, told.Dotted)))
}

// connectedClient is commonpb.ClientInfo as connection/manager.go lists it (List), without the user.
type connectedClient struct {
	SDK      string            `json:"sdk_type,omitempty"`
	Version  string            `json:"sdk_version,omitempty"`
	Host     string            `json:"host,omitempty"`
	Reserved map[string]string `json:"reserved,omitempty"`
}

// Keys that the proxy adds.
const (
	connectedID   = "identifier"
	connectedLast = "last_active_time"
)

// connections holds the clients connected to a proxy.
type connections []*connectedClient

// clean truncates the list to maxConnections and one more, and removes secrets.
func (l *connections) clean() bool {
	d := NewDecoder()
	list := slices.DeleteFunc(*l, func(c *connectedClient) bool { return c == nil })
	*l = list[:min(len(list), maxConnections+1)]
	for _, c := range *l {
		c.SDK, c.Version, c.Host = d.slowName(c.SDK), d.slowName(c.Version), d.slowName(redact.Address(c.Host))
		c.Reserved = map[string]string{
			connectedID: d.slowName(c.Reserved[connectedID]), connectedLast: d.slowName(c.Reserved[connectedLast]),
		}
	}
	return true
}

// takeConnections stores the clients connected to a proxy.
func takeConnections(d *Decoder, p *processRecords, q *pendingRecord, response *connections) {
	told := *response
	if !d.reserve(q, int64(512*len(told))) {
		return
	}
	list := make([]model.Connection, 0, len(told))
	for _, c := range told[:min(len(told), maxConnections)] {
		list = append(list, model.Connection{
			Proxy: q.Node, ID: d.text(c.Reserved[connectedID]), SDK: d.text(c.SDK), Version: d.text(c.Version),
			Host: d.text(c.Host), ActiveAt: goTime(c.Reserved[connectedLast]),
		})
	}
	if len(told) > maxConnections {
		d.note("clients of "+q.key().String(),
			fmt.Sprintf("more than %d reported: the others are skipped", maxConnections))
	}
	slices.SortStableFunc(list, func(a, b model.Connection) int {
		return cmp.Or(b.ActiveAt.Compare(a.ActiveAt), cmp.Compare(a.ID, b.ID))
	})
	p.Connections = list
}

// dependencyStatus is common.MQClusterStatus and common.MetaClusterStatus (pkg/common/3rd_dependency.go).
type dependencyStatus struct {
	Health   bool                `json:"health_status"`
	Reason   string              `json:"unhealthy_reason"`
	Members  []*dependencyMember `json:"members_health"`
	Queue    string              `json:"mq_type,omitempty"`
	Metadata string              `json:"meta_type,omitempty"`
}

type dependencyMember struct {
	Endpoint string `json:"endpoint"`
	Health   bool   `json:"health"`
	Error    string `json:"error,omitempty"`
}

// dependencies is the response of getDependencies.
type dependencies struct {
	Queue    *dependencyStatus `json:"mq,omitempty"`
	Metadata *dependencyStatus `json:"metastore,omitempty"`
}

// clean removes secrets.
func (on *dependencies) clean() bool {
	for _, x := range []*dependencyStatus{on.Queue, on.Metadata} {
		if x == nil {
			continue
		}
		x.Reason, x.Queue, x.Metadata = oneLine(x.Reason), oneLine(x.Queue), oneLine(x.Metadata)
		x.Members = slices.DeleteFunc(x.Members[:min(len(x.Members), maxMembers)], func(m *dependencyMember) bool {
			return m == nil
		})
		for _, m := range x.Members {
			m.Endpoint, m.Error = oneLine(redact.Address(m.Endpoint)), oneLine(m.Error)
		}
	}
	return on.Queue != nil || on.Metadata != nil
}

// takeDependencies stores the state of etcd and the message queue as seen by a proxy.
func takeDependencies(d *Decoder, p *processRecords, q *pendingRecord, deps *dependencies) {
	list := []model.Dependency{}
	if x := deps.Metadata; x != nil {
		list = x.addTo(list, model.Dependency{Proxy: q.Node, Kind: "metadata store", Type: d.text(x.Metadata)}, true)
	}
	if x := deps.Queue; x != nil {
		// The proxy checks no others: RocksMQ and NATS are always healthy, Woodpecker and "default" never
		// (internal/util/dependency/factory.go: HealthCheck).
		looked := x.Queue == "kafka" || x.Queue == "pulsar"
		list = x.addTo(list, model.Dependency{Proxy: q.Node, Kind: "message queue", Type: d.text(x.Queue)}, looked)
	}
	if d.reserve(q, int64(1024*len(list))) {
		p.Dependencies = list
	}
}

// addTo appends the dependency and its members.
func (x *dependencyStatus) addTo(list []model.Dependency, as model.Dependency, looked bool) []model.Dependency {
	as.Healthy, as.Reason = model.TristateOf(x.Health), x.Reason
	if !looked {
		as.Healthy, as.Reason = model.Unknown, "Milvus does not check this kind of queue"
	}
	list = append(list, as)
	for _, m := range x.Members {
		as.Member, as.Healthy, as.Reason = m.Endpoint, model.TristateOf(m.Health), m.Error
		list = append(list, as)
	}
	return list
}
