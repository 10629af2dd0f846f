package rulestest

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

// SceneNow is the time at which checks run on scenes.
var SceneNow = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// Scene is a cluster of collections with 1,000 rows per segment, for checks of the distribution of work.
type Scene struct {
	Parts   model.Parts
	Runtime model.RuntimeParts
	Next    model.SegmentID
}

// NewScene returns a scene with query nodes that started an hour ago. Unless autoBalance is empty, a QueryCoord
// reports that value.
func NewScene(autoBalance string, nodes ...model.NodeID) *Scene {
	s := &Scene{Next: 1000, Parts: model.Parts{
		Loaded: model.PartAll, Version: model.Version{Text: "2.4.5"}, Origin: model.Origin{Root: "by-dev"},
		ResourceGroups: []*model.ResourceGroup{{Name: "rg", Nodes: nodes}},
	}}
	for _, id := range nodes {
		s.Node("querynode", id)
	}
	if autoBalance != "" {
		s.Node("querycoord", 1).Config = &model.Config{Values: map[string]string{"querycoordautobalance": autoBalance}}
	}
	return s
}

// Node adds a session and its process, which responds.
func (s *Scene) Node(role string, id model.NodeID) *model.LiveNode {
	address := fmt.Sprintf("10.0.0.%d:21123", id)
	s.Parts.Sessions = append(s.Parts.Sessions, &model.Session{Node: id, Role: role, Address: address})
	n := &model.LiveNode{
		Role: role, Node: id, Address: address, Outcome: model.Answered, Distribution: &model.Distribution{},
		System: &model.System{CPUs: 4, Memory: 1000 << 20, MemoryUse: 300 << 20, StartedAt: SceneNow.Add(-time.Hour)},
	}
	n.Process = &model.Process{
		Address: fmt.Sprintf("10.0.0.%d:9091", id), Outcome: model.Answered, Metrics: &model.Metrics{At: SceneNow},
	}
	s.Runtime.Nodes = append(s.Runtime.Nodes, n)
	s.Runtime.Processes = append(s.Runtime.Processes, n.Process)
	return n
}

// Live returns the response of a session.
func (s *Scene) Live(role string, id model.NodeID) *model.LiveNode {
	i := slices.IndexFunc(s.Runtime.Nodes, func(n *model.LiveNode) bool { return n.Role == role && n.Node == id })
	return s.Runtime.Nodes[i]
}

// Load adds a collection with the given number of segments on each node.
func (s *Scene) Load(id model.CollectionID, group string, segments map[model.NodeID]int) {
	s.Parts.Collections = append(s.Parts.Collections, &model.Collection{
		ID: id, Name: fmt.Sprintf("c%d", id), Fields: []*model.Field{{ID: 100, Type: "FloatVector", Dim: 8}},
	})
	r := &model.Replica{ID: model.ReplicaID(id + 500), Collection: id, ResourceGroup: group}
	for node := range segments {
		r.Nodes = append(r.Nodes, node)
	}
	slices.Sort(r.Nodes)
	for _, node := range r.Nodes {
		for range segments[node] {
			s.Next++
			s.Parts.Segments = append(s.Parts.Segments, &model.Segment{
				ID: s.Next, Collection: id, Rows: 1000, State: model.SegmentFlushed,
			})
			d := s.Live("querynode", node).Distribution
			d.Sealed = append(d.Sealed, model.ServedSegment{ID: s.Next, Collection: id})
		}
	}
	s.Parts.Replicas = append(s.Parts.Replicas, r)
}

// Run runs one check on the scene.
func (s *Scene) Run(x *check.Check) *check.Result {
	c := model.Build(s.Parts)
	if s.Runtime.Nodes != nil {
		c = c.WithRuntime(model.BuildRuntime(s.Runtime))
	}
	return check.Run(c, SceneNow, []*check.Check{x}).Results[0]
}

// Format formats a result: its status and reason, followed by a line with severity, object and message for each
// finding.
func Format(r *check.Result) string {
	lines := []string{r.Status.String()}
	if r.Reason != "" {
		lines[0] += ": " + r.Reason
	}
	for _, f := range r.Findings {
		lines = append(lines, f.Severity.String()+" "+f.Object.Resource+"/"+f.Object.ID+" "+f.Message)
	}
	return strings.Join(lines, "\n")
}

// SceneCase is a scene and the expected result of a check.
type SceneCase struct {
	Name  string
	Check *check.Check
	Scene func() *Scene
	Want  string // part of the formatted result
}

// RunScenes compares the result of each case with the expected text.
func RunScenes(t *testing.T, cases []SceneCase) {
	t.Helper()
	for _, tt := range cases {
		t.Run(tt.Check.ID+"/"+tt.Name, func(t *testing.T) {
			got := Format(tt.Scene().Run(tt.Check))
			if tt.Want == "ok" && got != "ok" || !strings.Contains(got, tt.Want) {
				t.Errorf("said:\n%s\nwant:\n%s", got, tt.Want)
			}
		})
	}
}

// Index adds an HNSW index to the segments of a collection.
func (s *Scene) Index(id model.CollectionID) {
	s.Parts.Indexes = append(s.Parts.Indexes, &model.Index{
		ID: 900, Collection: id, Field: 100, Type: "HNSW", Params: []model.Pair{{Key: "M", Value: "2"}},
	})
	for _, n := range s.Runtime.Nodes {
		for i := range n.Distribution.Sealed {
			if x := &n.Distribution.Sealed[i]; x.Collection == id {
				x.Indexes = []model.ServedIndex{{Field: 100, Index: 900}}
			}
		}
	}
}

// Lead makes a query node the leader of shards of a collection, with 100 growing rows each.
func (s *Scene) Lead(node model.NodeID, id model.CollectionID, shards int) {
	d := s.Live("querynode", node).Distribution
	for range shards {
		s.Next++
		d.Leaders = append(d.Leaders, model.LeaderView{
			Channel: fmt.Sprintf("ch%d", s.Next), Collection: id, GrowingRows: 100,
		})
	}
}

// Watch assigns channels to nodes that started an hour ago.
func (s *Scene) Watch(role string, channels map[model.NodeID]int) {
	s.Parts.Collections = append(s.Parts.Collections, &model.Collection{ID: 77, Name: "watched"})
	for id, n := range channels {
		s.Node(role, id)
		for i := range n {
			name := fmt.Sprintf("dml_%d_%d", id, i)
			s.Parts.VChannels = append(s.Parts.VChannels, &model.VChannel{
				Name: name + "v0", Collection: 77, Watched: true, Watcher: id,
			})
			s.Parts.PChannels = append(s.Parts.PChannels, &model.PChannel{Name: name, Node: id, Streaming: true})
		}
	}
}

// Busy sets the cores that query nodes used over ten seconds.
func (s *Scene) Busy(cores map[model.NodeID]float64) {
	scrape := func(at time.Time, seconds float64) *model.Metrics {
		return modeltest.Scrape(at, map[string][]model.Series{"process_cpu_seconds_total": {{Value: seconds}}})
	}
	for id, n := range cores {
		p := s.Live("querynode", id).Process
		p.Before, p.Metrics = scrape(SceneNow.Add(-10*time.Second), 100), scrape(SceneNow, 100+10*n)
	}
}
