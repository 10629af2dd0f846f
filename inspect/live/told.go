package live

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
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

// toldAnswer is what was answered to one of these types.
type toldAnswer struct {
	tasks   []*model.Task
	targets []model.CurrentTarget
}

const (
	// toldEach is how many such questions a process is asked at most within toldEvery, all its sessions together.
	toldEach  = 3
	toldEvery = 15 * time.Second
)

// toldKey is a question about tasks to a session.
type toldKey struct {
	session sessionKey
	metric  string
}

// toldQuestion is such a question that may be asked.
type toldQuestion struct {
	toldKey
	to *session
	inquiry
}

// told is what a Client remembers of such questions: when each was asked last, and the answer.
type told struct {
	asked   map[toldKey]time.Time
	answers map[toldKey]dated[toldAnswer]
}

// toldMetrics are the types that a session answers to, those first that nothing else tells of; and the service that is asked.
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

// toldQuestions are all that may be asked, by the process: a ServerID is one process's.
func (p *plan) toldQuestions(wanted func(metric string) bool) map[model.NodeID][]toldQuestion {
	all := map[model.NodeID][]toldQuestion{}
	for node, sessions := range p.sessionsOf {
		for _, x := range sessions {
			service, metrics := toldMetrics(x.Session)
			q := &asker{plan: p, base: base(x.Session)}
			for i, metric := range slices.DeleteFunc(metrics, func(metric string) bool { return !wanted(metric) }) {
				q.add(service+"GetMetrics", &milvuspb.GetMetricsRequest{Base: q.base, Request: toldRequest(x.Session, metric)})
				all[node] = append(all[node], toldQuestion{toldKey{sessionKey{x.Role, x.Node}, metric}, x, q.list[i]})
			}
		}
	}
	return all
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
	c.told = told{asked: map[toldKey]time.Time{}, answers: map[toldKey]dated[toldAnswer]{}}
	for _, questions := range p.toldQuestions(c.opts.asksFor) {
		due := before.due(questions, now)
		for _, q := range questions {
			if slices.ContainsFunc(due, func(x toldQuestion) bool { return x.toldKey == q.toldKey }) {
				q.to.inquiries = append(q.to.inquiries, q.inquiry)
				c.told.asked[q.toldKey] = now
				continue
			}
			if at, ok := before.asked[q.toldKey]; ok {
				c.told.asked[q.toldKey] = at
			}
			if had, ok := before.answers[q.toldKey]; ok {
				d.keepTold(q.toldKey, had)
			} else if c.told.asked[q.toldKey].IsZero() {
				p.skip(q.metric+" of "+q.to.Name(), fmt.Sprintf("limit of %d such calls per process in %s reached", toldEach, toldEvery))
			}
		}
	}
}

// due are the questions to one process whose turn it is: those that were asked longest ago.
func (t *told) due(questions []toldQuestion, now time.Time) []toldQuestion {
	var list []toldQuestion
	left := toldEach
	for _, q := range questions {
		if at, ok := t.asked[q.toldKey]; ok && now.Sub(at) < toldEvery {
			left--
			continue
		}
		list = append(list, q)
	}
	slices.SortStableFunc(list, func(a, b toldQuestion) int {
		return cmp.Or(t.asked[a.toldKey].Compare(t.asked[b.toldKey]), toldRank(a.metric)-toldRank(b.metric))
	})
	return list[:min(max(left, 0), len(list))]
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

// toldRank orders the types: etcd knows nothing of the first ones, and of the last ones as much.
func toldRank(metric string) int {
	return slices.Index([]string{metricTargets, metricTasks, metricSyncs, metricIndexBuilds, metricCompactions, metricImports}, metric)
}

// rememberTold keeps the answers for the rounds in which these questions are not asked.
func (c *Client) rememberTold(d *Decoder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.told.answers == nil {
		return
	}
	maps.Copy(c.told.answers, d.answers.told)
}
