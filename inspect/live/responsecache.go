package live

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"

	"kitescope/inspect/model"
)

// GetMetrics has further types since 2.5 (milvus pkg/util/metricsinfo/metric_request.go). The types below
// return the tasks that a process has in memory: of QueryCoord (internal/querycoordv2/server.go:
// registerMetricsRequest), of DataCoord (internal/datacoord/server.go) and of a data node
// (internal/datanode/data_node.go). Other calls already return the data of the remaining types:
// GetDataDistribution for dist, segments and channels, GetReplicas for replica, DescribeResourceGroup for
// resource_group. DataCoord reports the storage size of collections with system_info, because no release
// implements collection_storage.
const (
	metricTasks       = "tasks_all"
	metricIndexBuilds = "build_index_tasks"
	metricCompactions = "compaction_tasks"
	metricImports     = "import_tasks"
	metricSyncs       = "sync_tasks"
	// metricTargets returns the current target of QueryCoord. It names every segment, and is requested only
	// with Options.Targets.
	metricTargets = "qc_target"
)

// cacheTTL is the minimum interval between calls for these types. In between, the last response is used.
const cacheTTL = 15 * time.Second

// cacheKey returns the key of a call for such a type to a session.
func cacheKey(to sessionKey, metric string) responseKey {
	return responseKey{kind: kindCached, object: to.String() + " " + metric}
}

const kindCached = "told"

// responseCache caches these calls in a Client: the time of the last call and the response.
type responseCache struct {
	queriedAt map[responseKey]time.Time
	responses coordinatorResponses
}

// metricTypes returns the types that a session supports and the service to call.
func metricTypes(s *model.Session) (service string, metrics []string) {
	if s.Standby || !model.VersionAtLeast(s.Version, 2, 5) {
		return "", nil
	}
	switch s.Role {
	case "querycoord":
		return queryCoord, []string{metricTargets, metricTasks}
	case "datacoord":
		return dataCoord, []string{metricIndexBuilds, metricCompactions, metricImports}
	case "mixcoord":
		return rootCoord, []string{metricTargets, metricTasks, metricIndexBuilds, metricCompactions, metricImports}
	case "datanode":
		return dataNode, []string{metricSyncs}
	}
	return "", nil
}

// metricRequest returns the request for a type. A mixcoord has one GetMetrics for all its services and needs the
// name of the coordinator (internal/coordinator/mix_coord.go: GetMetrics). Older ones respond as RootCoord that
// the type is unknown.
func metricRequest(s *model.Session, metric string) string {
	request := struct {
		Type string `json:"metric_type"`
		Role string `json:"ProcessRole,omitempty"`
	}{Type: metric}
	if s.Role == "mixcoord" {
		request.Role = "datacoord"
		if metric == metricTasks || metric == metricTargets {
			request.Role = "querycoord"
		}
	}
	text, err := json.Marshal(request)
	if err != nil {
		panic(err) // it holds only text
	}
	return string(text)
}

// asksFor reports whether the options request a type.
func (o *Options) asksFor(metric string) bool {
	if metric == metricTargets {
		return o.Targets
	}
	return o.Tasks
}

// planCached adds the calls that are due to a plan, and adds the cached responses of the others to the Decoder.
func (c *Client) planCached(p *plan, d *Decoder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, before := c.opts.Now(), c.cache
	c.cache = responseCache{queriedAt: map[responseKey]time.Time{}, responses: coordinatorResponses{}}
	for _, sessions := range p.sessionsOf {
		for _, x := range sessions {
			service, metrics := metricTypes(x.Session)
			q := &asker{plan: p, base: base(x.Session)}
			for _, metric := range metrics {
				key := cacheKey(sessionKey{x.Role, x.Node}, metric)
				at, asked := before.queriedAt[key]
				switch {
				case !c.opts.asksFor(metric):
				case asked && now.Sub(at) < cacheTTL:
					c.cache.queriedAt[key] = at
					if had, ok := before.responses[key]; ok {
						d.responses.keep(key, had)
					}
				default:
					c.cache.queriedAt[key] = now
					q.add(service+"GetMetrics", &milvuspb.GetMetricsRequest{
						Base: q.base, Request: metricRequest(x.Session, metric),
					})
				}
			}
			x.inquiries = append(x.inquiries, q.list...)
		}
	}
}

// IsCached reports whether a record is a call for such a type, which is not made in every round.
func IsCached(r *Record) bool {
	if !strings.HasSuffix(r.Method, "/GetMetrics") {
		return false
	}
	for _, metric := range []string{
		metricTargets, metricTasks, metricSyncs, metricIndexBuilds, metricCompactions, metricImports,
	} {
		if bytes.Contains(r.Request, []byte(`"`+metric+`"`)) {
			return true
		}
	}
	return false
}

// cacheResponses caches the responses for the rounds without these calls.
func (c *Client) cacheResponses(d *Decoder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cache.responses == nil {
		return
	}
	for key, answer := range d.responses {
		if key.kind == kindCached {
			c.cache.responses[key] = answer
		}
	}
}
