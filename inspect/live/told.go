package live

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"

	"kitescope/inspect/model"
)

// GetMetrics has further types since 2.5 (milvus pkg/util/metricsinfo/metric_request.go). These tell of tasks that a process
// has in memory: of QueryCoord (internal/querycoordv2/server.go: registerMetricsRequest), of DataCoord (internal/datacoord/
// server.go) and of a data node (internal/datanode/data_node.go). What others say is said elsewhere already: dist, segments and
// channels by GetDataDistribution, replica by GetReplicas, resource_group by DescribeResourceGroup; and of what collections take
// in storage, DataCoord tells with system_info, as no release answers to collection_storage.
const (
	metricTasks       = "tasks_all"
	metricIndexBuilds = "build_index_tasks"
	metricCompactions = "compaction_tasks"
	metricImports     = "import_tasks"
	metricSyncs       = "sync_tasks"
	// metricTargets is what QueryCoord wants served now. It names every segment, and is asked only of who wants it.
	metricTargets = "qc_target"
)

// toldEvery is how often a question of this kind is put at most: in between the last answer counts.
const toldEvery = 15 * time.Second

// toldKey is the key of a question of this kind to a session.
func toldKey(to sessionKey, metric string) answerKey {
	return answerKey{what: whatTold, about: to.String() + " " + metric}
}

const whatTold = "told"

// told is what a Client remembers of such questions: when each was asked last, and the answer.
type told struct {
	asked   map[answerKey]time.Time
	answers coordinatorAnswers
}

// toldMetrics are the types that a session answers to, and the service that is asked.
func toldMetrics(s *model.Session) (service string, metrics []string) {
	if s.Standby || !model.Since(s.Version, 2, 5) {
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

// toldRequest is the request for a type. A mixcoord has one GetMetrics for all its services, and has to be told which coordinator
// is meant (internal/coordinator/mix_coord.go: GetMetrics); one of before answers as RootCoord that it does not know the type.
func toldRequest(s *model.Session, metric string) string {
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
		panic(err) // there is only text in it
	}
	return string(text)
}

// asksFor reports whether a type is wanted.
func (o *Options) asksFor(metric string) bool {
	if metric == metricTargets {
		return o.Targets
	}
	return o.Tasks
}

// askTold adds to a plan those of these questions whose turn it is, and hands on what was answered to the others.
func (c *Client) askTold(p *plan, d *Decoder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, before := c.opts.Now(), c.told
	c.told = told{asked: map[answerKey]time.Time{}, answers: coordinatorAnswers{}}
	for _, sessions := range p.sessionsOf {
		for _, x := range sessions {
			service, metrics := toldMetrics(x.Session)
			q := &asker{plan: p, base: base(x.Session)}
			for _, metric := range metrics {
				key := toldKey(sessionKey{x.Role, x.Node}, metric)
				at, asked := before.asked[key]
				switch {
				case !c.opts.asksFor(metric):
				case asked && now.Sub(at) < toldEvery:
					c.told.asked[key] = at
					if had, ok := before.answers[key]; ok {
						d.answers.keep(key, had)
					}
				default:
					c.told.asked[key] = now
					q.add(service+"GetMetrics", &milvuspb.GetMetricsRequest{Base: q.base, Request: toldRequest(x.Session, metric)})
				}
			}
			x.inquiries = append(x.inquiries, q.list...)
		}
	}
}

// IsTold reports whether a record is of one of these questions: who asks often does not put them each time.
func IsTold(r *Record) bool {
	if !strings.HasSuffix(r.Method, "/GetMetrics") {
		return false
	}
	for _, metric := range []string{metricTargets, metricTasks, metricSyncs, metricIndexBuilds, metricCompactions, metricImports} {
		if bytes.Contains(r.Request, []byte(`"`+metric+`"`)) {
			return true
		}
	}
	return false
}

// rememberTold keeps the answers for the rounds in which these questions are not asked.
func (c *Client) rememberTold(d *Decoder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.told.answers == nil {
		return
	}
	for key, answer := range d.answers {
		if key.what == whatTold {
			c.told.answers[key] = answer
		}
	}
}
