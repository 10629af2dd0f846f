package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

var spreadNow = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// scene is a cluster of collections of 1,000 rows a segment, for checks of how the work is spread.
type scene struct {
	parts   model.Parts
	runtime model.RuntimeParts
	next    model.SegmentID
}

// newScene has query nodes that started an hour ago and a QueryCoord that says autoBalance.
func newScene(autoBalance string, nodes ...model.NodeID) *scene {
	s := &scene{next: 1000, parts: model.Parts{
		Loaded: model.PartAll, Version: model.Version{Text: "2.4.5"}, Origin: model.Origin{Root: "by-dev"},
		ResourceGroups: []*model.ResourceGroup{{Name: "rg", Nodes: nodes}},
	}}
	for _, id := range nodes {
		s.node("querynode", id)
	}
	if autoBalance != "" {
		s.node("querycoord", 1).Config = &model.Config{Values: map[string]string{"querycoordautobalance": autoBalance}}
	}
	return s
}

func (s *scene) node(role string, id model.NodeID) *model.LiveNode {
	address := fmt.Sprintf("10.0.0.%d:21123", id)
	s.parts.Sessions = append(s.parts.Sessions, &model.Session{Node: id, Role: role, Address: address})
	n := &model.LiveNode{
		Role: role, Node: id, Address: address, Outcome: model.Answered, Distribution: &model.Distribution{},
		System: &model.System{CPUs: 4, Memory: 1000 << 20, MemoryUse: 300 << 20, StartedAt: spreadNow.Add(-time.Hour)},
	}
	n.Process = &model.Process{Address: fmt.Sprintf("10.0.0.%d:9091", id), Outcome: model.Answered, Metrics: &model.Metrics{At: spreadNow}}
	s.runtime.Nodes = append(s.runtime.Nodes, n)
	s.runtime.Processes = append(s.runtime.Processes, n.Process)
	return n
}

func (s *scene) live(role string, id model.NodeID) *model.LiveNode {
	i := slices.IndexFunc(s.runtime.Nodes, func(n *model.LiveNode) bool { return n.Role == role && n.Node == id })
	return s.runtime.Nodes[i]
}

// load adds a collection with so many segments on each node.
func (s *scene) load(id model.CollectionID, group string, segments map[model.NodeID]int) {
	s.parts.Collections = append(s.parts.Collections, &model.Collection{
		ID: id, Name: fmt.Sprintf("c%d", id), Fields: []*model.Field{{ID: 100, Type: "FloatVector", Dim: 8}},
	})
	r := &model.Replica{ID: model.ReplicaID(id + 500), Collection: id, ResourceGroup: group}
	for node := range segments {
		r.Nodes = append(r.Nodes, node)
	}
	slices.Sort(r.Nodes)
	for _, node := range r.Nodes {
		for range segments[node] {
			s.next++
			s.parts.Segments = append(s.parts.Segments, &model.Segment{ID: s.next, Collection: id, Rows: 1000, State: model.SegmentFlushed})
			d := s.live("querynode", node).Distribution
			d.Sealed = append(d.Sealed, model.ServedSegment{ID: s.next, Collection: id})
		}
	}
	s.parts.Replicas = append(s.parts.Replicas, r)
}

func (s *scene) run(x *check.Check) *check.Result {
	c := model.Build(s.parts)
	if s.runtime.Nodes != nil {
		c = c.WithRuntime(model.BuildRuntime(s.runtime))
	}
	return check.Run(c, spreadNow, []*check.Check{x}).Results[0]
}

// said is a result in a line: its status, then severity, object and message of each finding.
func said(r *check.Result) string {
	lines := []string{r.Status.String()}
	if r.Reason != "" {
		lines[0] += ": " + r.Reason
	}
	for _, f := range r.Findings {
		lines = append(lines, f.Severity.String()+" "+f.Object.Resource+"/"+f.Object.ID+" "+f.Message)
	}
	return strings.Join(lines, "\n")
}

// sceneCase is what a check says of a scene.
type sceneCase struct {
	name  string
	check *check.Check
	scene func() *scene
	want  string // part of what is said
}

func playScenes(t *testing.T, cases []sceneCase) {
	t.Helper()
	for _, tt := range cases {
		t.Run(tt.check.ID+"/"+tt.name, func(t *testing.T) {
			got := said(tt.scene().run(tt.check))
			if tt.want == "ok" && got != "ok" || !strings.Contains(got, tt.want) {
				t.Errorf("said:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}

func TestSpreadChecks(t *testing.T) {
	playScenes(t, []sceneCase{
		{"uneven rows", named("imbalance-rows"), func() *scene {
			s := newScene("true", 11, 12, 13)
			s.load(7, "rg", map[model.NodeID]int{11: 14, 12: 5, 13: 5})
			return s
		}, "findings\nwarning replicas/507 c7: querynode-11 has 14,000 of 24,000 rows, 1.75 times the mean"},
		{"uneven rows while a node is being filled", named("imbalance-rows"), func() *scene {
			s := newScene("true", 11, 12, 13)
			s.load(7, "rg", map[model.NodeID]int{11: 14, 12: 5, 13: 5})
			s.live("querynode", 13).System.StartedAt = spreadNow.Add(-time.Minute)
			return s
		}, "findings\ninfo replicas/507"},
		{"rows as memory is", named("imbalance-rows"), func() *scene {
			s := newScene("true", 11, 12, 13)
			s.parts.Version.Text = "2.5.4"
			s.load(7, "rg", map[model.NodeID]int{11: 14, 12: 5, 13: 5})
			s.live("querynode", 11).System.Memory *= 3
			return s
		}, "ok"},
		{"rows as memory is, of a version that does not go by it", named("imbalance-rows"), func() *scene {
			s := newScene("true", 11, 12, 13)
			s.load(7, "rg", map[model.NodeID]int{11: 14, 12: 5, 13: 5})
			s.live("querynode", 11).System.Memory *= 3
			return s
		}, "warning replicas/507"},
		{"nodes divided among channels", named("imbalance-rows"), func() *scene {
			s := newScene("true", 11, 12, 13)
			s.load(7, "rg", map[model.NodeID]int{11: 14, 12: 5, 13: 5})
			s.parts.Replicas[0].ChannelNodes = map[string][]model.NodeID{"a": {11}, "b": {12, 13}}
			return s
		}, "ok"},
		{"nodes were divided among channels", named("imbalance-rows"), func() *scene {
			s := newScene("true", 11, 12, 13)
			s.load(7, "rg", map[model.NodeID]int{11: 14, 12: 5, 13: 5})
			s.parts.Replicas[0].ChannelNodes = map[string][]model.NodeID{"a": nil, "b": nil}
			return s
		}, "warning replicas/507"},
		{"uneven rows of a small collection", named("imbalance-rows"), func() *scene {
			s := newScene("true", 11, 12, 13)
			s.load(7, "rg", map[model.NodeID]int{11: 100, 12: 100, 13: 100})
			s.load(8, "rg", map[model.NodeID]int{11: 6, 12: 1, 13: 1})
			return s
		}, "ok"},
		{"uneven rows that nothing helps", named("imbalance-rows"), func() *scene {
			s := newScene("true", 11, 12, 13)
			s.load(7, "rg", map[model.NodeID]int{11: 0, 12: 2, 13: 2})
			s.live("querynode", 11).Distribution.Leaders = []model.LeaderView{{Channel: "c", Collection: 7, GrowingRows: 6000}}
			return s
		}, "ok"},

		{"memory apart", named("imbalance-memory"), func() *scene {
			s := newScene("true", 11, 12)
			s.load(7, "rg", map[model.NodeID]int{11: 5, 12: 5})
			s.live("querynode", 11).System.MemoryUse = 700 << 20
			return s
		}, "warning nodes/querynode-11 querynode-11 uses 70% of its memory, querynode-12 in the same resource group 30%"},
		{"memory apart while a node is being filled", named("imbalance-memory"), func() *scene {
			s := newScene("true", 11, 12, 13)
			s.load(7, "rg", map[model.NodeID]int{11: 5, 12: 5, 13: 1})
			for _, id := range []model.NodeID{11, 12} {
				s.live("querynode", id).System.MemoryUse = 800 << 20
			}
			s.live("querynode", 13).System.StartedAt = spreadNow.Add(-time.Minute)
			return s
		}, "ok"},
		{"memory apart as the cluster tolerates", named("imbalance-memory"), func() *scene {
			s := newScene("true", 11, 12)
			s.load(7, "rg", map[model.NodeID]int{11: 5, 12: 5})
			s.live("querynode", 11).System.MemoryUse = 700 << 20
			s.live("querycoord", 1).Config.Values["querycoordmemoryusagemaxdifferencepercentage"] = "50"
			return s
		}, "ok"},
		{"memory of both unknown", named("imbalance-memory"), func() *scene {
			s := newScene("", 11, 12)
			s.load(7, "rg", map[model.NodeID]int{11: 5, 12: 5})
			s.live("querynode", 11).System, s.live("querynode", 12).System = nil, nil
			return s
		}, "skipped: no process reported its CPU and memory"},

		{"nearly full", named("memory-pressure"), func() *scene {
			s := newScene("true", 11)
			s.live("querynode", 11).System.MemoryUse = 880 << 20
			return s
		}, "warning nodes/querynode-11 querynode-11 uses 88% of its memory"},
		{"full", named("memory-pressure"), func() *scene {
			s := newScene("true", 11)
			s.live("querynode", 11).System.MemoryUse = 970 << 20
			return s
		}, "error nodes/querynode-11"},
		{"own levels", named("memory-pressure"), func() *scene {
			s := newScene("true", 11)
			s.live("querynode", 11).System.MemoryUse = 880 << 20
			s.node("rootcoord", 2).Config = &model.Config{Values: map[string]string{"quotaandlimitslimitwritingmemprotectionquerynodememorylowwaterlevel": "0.9"}}
			return s
		}, "ok"},
		{"a coordinator is judged by other bounds", named("memory-pressure"), func() *scene {
			s := newScene("true", 11)
			s.live("querycoord", 1).System.MemoryUse = 880 << 20
			s.node("rootcoord", 2).Config = &model.Config{}
			return s
		}, "ok"},
		{"levels that nobody tells", named("memory-pressure"), func() *scene { return newScene("true", 11) }, "MemoryHighWaterLevel): there is no rootcoord or mixcoord"},
		{"a host that is full", named("memory-pressure"), func() *scene {
			s := newScene("true", 11, 12, 13)
			for _, n := range s.runtime.Nodes {
				n.Address = strings.Replace(n.Address, n.Address[:strings.IndexByte(n.Address, ':')], "10.0.0.1", 1) + n.Node.String()
			}
			return s
		}, "warning nodes/querycoord-1 querycoord-1, querynode-11, querynode-12 and querynode-13 share a host and together use 120% of its memory"},
		{"one process of several roles counts once", named("memory-pressure"), func() *scene {
			s := newScene("true", 11)
			for _, role := range []string{"datanode", "proxy", "rootcoord"} {
				n := s.node(role, 11)
				n.Process = s.live("querynode", 11).Process
				n.Config = &model.Config{}
			}
			return s
		}, "ok"},

		{"leaders on one node", named("imbalance-leaders"), func() *scene {
			s := newScene("true", 11, 12, 13)
			s.load(7, "rg", map[model.NodeID]int{11: 5, 12: 5, 13: 5})
			s.lead(11, 7, 6)
			return s
		}, "warning nodes/querynode-11 querynode-11 leads 6 of 6 shards, the others of resource group rg lead 0.0 on average; it holds 600 growing rows"},
		{"leaders of collections with one shard each", named("imbalance-leaders"), func() *scene {
			s := newScene("true", 11, 12, 13)
			for id := range model.CollectionID(9) {
				s.load(100+id, "rg", map[model.NodeID]int{11: 5, 12: 5, 13: 5})
				s.lead(11, 100+id, 1)
			}
			return s
		}, "info nodes/querynode-11 querynode-11 leads 9 of 9 shards"},
		{"leaders with much that grows", named("imbalance-leaders"), func() *scene {
			s := newScene("true", 11, 12, 13)
			for id := range model.CollectionID(9) {
				s.load(100+id, "rg", map[model.NodeID]int{11: 1, 12: 1, 13: 1})
				s.lead(11, 100+id, 1)
			}
			s.live("querynode", 11).Distribution.Leaders[0].GrowingRows = 9000
			return s
		}, "warning nodes/querynode-11"},
		{"leaders as Milvus leaves them", named("imbalance-leaders"), func() *scene {
			s := newScene("true", 11, 12, 13)
			s.load(7, "rg", map[model.NodeID]int{11: 5, 12: 5, 13: 5})
			s.lead(11, 7, 5)
			s.lead(12, 7, 4)
			return s
		}, "ok"},
		{"leaders of streaming nodes", named("imbalance-leaders"), func() *scene {
			s := newScene("true", 11, 12)
			s.load(7, "rg", map[model.NodeID]int{11: 5, 12: 5})
			s.parts.Streaming = &model.Streaming{}
			for _, id := range []model.NodeID{21, 22, 23} {
				s.node("querynode", id)
				s.parts.Sessions[len(s.parts.Sessions)-1].Labels = []model.Pair{{Key: "QUERYNODE_STREAMING-EMBEDDED", Value: "1"}}
			}
			s.lead(21, 7, 8)
			return s
		}, "warning nodes/querynode-21 querynode-21 leads 8 of 8 shards"},

		{"channels on one data node", named("imbalance-channels"), func() *scene {
			s := newScene("true", 11)
			s.watch("datanode", map[model.NodeID]int{31: 6, 32: 0})
			return s
		}, "warning nodes/datanode-31 datanode-31 consumes 6 of 6 channels, datanode-32 consumes 0"},
		{"channels while a data node joins", named("imbalance-channels"), func() *scene {
			s := newScene("true", 11)
			s.watch("datanode", map[model.NodeID]int{31: 6, 32: 0})
			s.live("datanode", 32).System.StartedAt = spreadNow.Add(-2 * time.Minute)
			return s
		}, "info nodes/datanode-31"},
		{"channels spread", named("imbalance-channels"), func() *scene {
			s := newScene("true", 11)
			s.watch("datanode", map[model.NodeID]int{31: 4, 32: 3})
			return s
		}, "ok"},
		{"pchannels on one streaming node", named("imbalance-channels"), func() *scene {
			s := newScene("true", 11)
			s.parts.Streaming = &model.Streaming{}
			s.watch("streamingnode", map[model.NodeID]int{31: 16, 32: 0})
			return s
		}, "warning nodes/streamingnode-31 streamingnode-31 consumes 16 of 16 channels"},

		{"one busy node", named("cpu-skew"), func() *scene {
			s := newScene("true", 11, 12, 13)
			s.busy(map[model.NodeID]float64{11: 3.6, 12: 0.2, 13: 0.3})
			return s
		}, "warning nodes/querynode-11 querynode-11 uses 3.6 cores, the other 2 query nodes use 0.2 on average"},
		{"a node with cores to spare", named("cpu-skew"), func() *scene {
			s := newScene("true", 11, 12, 13)
			s.busy(map[model.NodeID]float64{11: 1.6, 12: 0.2, 13: 0.3})
			return s
		}, "info nodes/querynode-11"},
		{"all busy", named("cpu-skew"), func() *scene {
			s := newScene("true", 11, 12, 13)
			s.busy(map[model.NodeID]float64{11: 3.6, 12: 3.2, 13: 2.3})
			return s
		}, "ok"},
		{"one scrape", named("cpu-skew"), func() *scene { return newScene("true", 11, 12) }, "skipped: CPU rate unknown: needs two metric samples per process"},
	})
}

// index has the segments of a collection behind an HNSW index.
func (s *scene) index(id model.CollectionID) {
	s.parts.Indexes = append(s.parts.Indexes, &model.Index{ID: 900, Collection: id, Field: 100, Type: "HNSW", Params: []model.Pair{{Key: "M", Value: "2"}}})
	for _, n := range s.runtime.Nodes {
		for i := range n.Distribution.Sealed {
			if x := &n.Distribution.Sealed[i]; x.Collection == id {
				x.Indexes = []model.ServedIndex{{Field: 100, Index: 900}}
			}
		}
	}
}

// lead makes a query node the leader of shards of a collection, with 100 growing rows each.
func (s *scene) lead(node model.NodeID, id model.CollectionID, shards int) {
	d := s.live("querynode", node).Distribution
	for range shards {
		s.next++
		d.Leaders = append(d.Leaders, model.LeaderView{Channel: fmt.Sprintf("ch%d", s.next), Collection: id, GrowingRows: 100})
	}
}

// watch gives channels to nodes that started an hour ago.
func (s *scene) watch(role string, channels map[model.NodeID]int) {
	s.parts.Collections = append(s.parts.Collections, &model.Collection{ID: 77, Name: "watched"})
	for id, n := range channels {
		s.node(role, id)
		for i := range n {
			name := fmt.Sprintf("dml_%d_%d", id, i)
			s.parts.VChannels = append(s.parts.VChannels, &model.VChannel{Name: name + "v0", Collection: 77, Watched: true, Watcher: id})
			s.parts.PChannels = append(s.parts.PChannels, &model.PChannel{Name: name, Node: id, Streaming: true})
		}
	}
}

// busy lets query nodes use so many cores over ten seconds.
func (s *scene) busy(cores map[model.NodeID]float64) {
	scrape := func(at time.Time, seconds float64) *model.Metrics {
		return modeltest.Scrape(at, map[string][]model.Series{"process_cpu_seconds_total": {{Value: seconds}}})
	}
	for id, n := range cores {
		p := s.live("querynode", id).Process
		p.Before, p.Metrics = scrape(spreadNow.Add(-10*time.Second), 100), scrape(spreadNow, 100+10*n)
	}
}

// TestSpreadOfLargeCluster keeps the checks of the spread within what judging may take.
func TestSpreadOfLargeCluster(t *testing.T) {
	s := newScene("true", 11, 12, 13)
	for i := range 100 {
		s.load(model.CollectionID(100+i), "rg", map[model.NodeID]int{11: 30 + i%7, 12: 10, 13: 10 + i%3})
	}
	c := model.Build(s.parts).WithRuntime(model.BuildRuntime(s.runtime))
	start := time.Now()
	r := check.Run(c, spreadNow, []*check.Check{named("auto-balance-off"), named("node-idle"), named("imbalance-rows"), named("imbalance-memory"), named("imbalance-leaders"), named("imbalance-channels"), named("memory-pressure"), named("cpu-skew")})
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
	if len(r.Findings) > 20 {
		t.Errorf("%d findings about one thing", len(r.Findings))
	}
}
