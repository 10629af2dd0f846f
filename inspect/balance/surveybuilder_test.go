package balance

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

const docs = model.CollectionID(7)

// fixture is a cluster with a single collection, whose float vector has 10 dimensions and an HNSW index with M
// 8 (665.6 rows a search). Its segments are those that nodes serve.
type fixture struct {
	parts   model.Parts
	runtime model.RuntimeParts
}

func newFixture(nodes ...model.NodeID) *fixture {
	w := &fixture{parts: model.Parts{
		Loaded: model.PartAll, Version: model.Version{Text: "2.4.17"},
		Databases: []*model.Database{{ID: 2, Name: "tenant"}},
		Collections: []*model.Collection{
			{
				ID: docs, Name: "docs", Database: 2,
				Fields: []*model.Field{{ID: 1, Type: "Int64"}, {ID: 100, Type: "FloatVector", Dim: 10}},
			},
		},
		Indexes: []*model.Index{
			{ID: 70, Collection: docs, Field: 100, Type: "HNSW", Params: []model.Pair{{Key: "M", Value: "8"}}},
			{ID: 71, Collection: docs, Field: 1, Type: "STL_SORT"},
		},
		Replicas: []*model.Replica{{ID: 50, Collection: docs, ResourceGroup: "rg", Nodes: nodes}},
	}}
	for _, id := range nodes {
		w.node(id)
	}
	return w
}

// node registers a query node that responds.
func (w *fixture) node(id model.NodeID) *model.LiveNode {
	w.parts.Sessions = append(w.parts.Sessions, &model.Session{Node: id, Role: "querynode"})
	n := &model.LiveNode{
		Role: "querynode", Node: id, Outcome: model.Answered, Distribution: &model.Distribution{},
		System: &model.System{Memory: 1 << 30, MemoryUse: 1 << 20},
	}
	w.runtime.Nodes = append(w.runtime.Nodes, n)
	return n
}

func (w *fixture) live(id model.NodeID) *model.LiveNode {
	for _, n := range w.runtime.Nodes {
		if n.Node == id {
			return n
		}
	}
	return nil
}

// serve adds a sealed segment to a node. rows below 0 means that etcd has no record of the segment.
func (w *fixture) serve(node model.NodeID, id model.SegmentID, rows int64, indexed bool) *model.ServedSegment {
	if rows >= 0 {
		w.parts.Segments = append(w.parts.Segments, &model.Segment{
			ID: id, Collection: docs, Rows: rows, Bytes: 100 * rows, State: model.SegmentFlushed,
		})
	}
	s := model.ServedSegment{ID: id, Collection: docs}
	if indexed {
		s.Indexes = []model.ServedIndex{{Field: 1, Index: 71, Bytes: 5}, {Field: 100, Index: 70, Bytes: 50}}
	}
	d := w.live(node).Distribution
	d.Sealed = append(d.Sealed, s)
	return &d.Sealed[len(d.Sealed)-1]
}

func (w *fixture) build() *model.Cluster {
	return model.Build(w.parts).WithRuntime(model.BuildRuntime(w.runtime))
}

func TestSurveySums(t *testing.T) {
	w := newFixture(1, 2)
	w.serve(1, 10, 1000, true)
	w.serve(1, 11, 500, false)
	w.serve(1, 12, 300, true).Level = model.LevelL0
	w.serve(1, 13, -1, false) // no record, no index: its rows are unknown
	w.serve(2, 14, 2000, true)
	unrecorded := w.serve(2, 15, -1, true)
	unrecorded.Indexes[1].Rows = 400 // the rows are in the index file
	w.live(2).Distribution.Leaders = []model.LeaderView{
		{Channel: "c0", Collection: docs, GrowingRows: 70, Growing: []model.GrowingView{{ID: 20}, {ID: 21}}},
	}
	w.live(2).Distribution.Channels = []model.ServedChannel{{Name: "c0", Collection: docs}}
	s := NewSurvey(w.build())
	g := s.Groups[0]
	if g.Name() != "tenant.docs" || len(s.Groups) != 1 || g.Sealed != 5 {
		t.Errorf("%s: %d groups, %d sealed segments", g.Name(), len(s.Groups), g.Sealed)
	}
	type figures struct {
		Sealed, LevelZero, Unrecorded, Growing, Leaders, Channels int
		SealedRows, GrowingRows, Indexed, Brute, Bytes, Index     int64
		Cost, BruteCost, GrowingCost                              float64
	}
	want := map[model.NodeID]figures{
		1: {
			Sealed: 3, LevelZero: 1, Unrecorded: 1, SealedRows: 1500, Indexed: 1000, Brute: 500, Bytes: 150_000,
			Index: 55, Cost: 6656 + 5000, BruteCost: 5000,
		},
		2: {
			Sealed: 2, Growing: 2, Leaders: 1, Channels: 1, SealedRows: 2400, GrowingRows: 70, Indexed: 2400, Brute: 70,
			Bytes: 200_000, Index: 110,
			Cost: 6656 + 4000 + 700, BruteCost: 700, GrowingCost: 700,
		},
	}
	for _, list := range [][]*Share{g.Shares, s.Nodes} {
		got := map[model.NodeID]figures{}
		for _, x := range list {
			got[x.Node] = figures{
				x.Sealed, x.LevelZero, x.Unrecorded, x.Growing, x.Leaders, x.Channels,
				x.SealedRows, x.GrowingRows, x.IndexedRows, x.BruteRows, x.Bytes, x.IndexBytes, x.Cost, x.BruteCost,
				x.GrowingCost,
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestStatesOfNodes(t *testing.T) {
	w := newFixture(1, 2, 3, 4)
	w.parts.Replicas[0].RONodes = []model.NodeID{5}
	w.parts.Replicas[0].StreamingNodes = []model.NodeID{6}
	for _, id := range []model.NodeID{5, 6, 7} {
		w.node(id)
	}
	// 2
	w.parts.Sessions[1].Stopping = true
	// 3
	w.live(3).Outcome, w.live(3).Distribution = model.TimedOut, nil
	// 4 has no session
	w.parts.Sessions = append(w.parts.Sessions[:3], w.parts.Sessions[4:]...)
	// and was not queried
	w.runtime.Nodes = append(w.runtime.Nodes[:3], w.runtime.Nodes[4:]...)
	// 6
	w.parts.Sessions[4].Labels = []model.Pair{{Key: "QUERYNODE_STREAMING-EMBEDDED", Value: "1"}}
	// 7 is not a member
	w.live(7).Distribution.Sealed = []model.ServedSegment{
		{ID: 10, Collection: docs}, {ID: 11, Collection: 99}, {ID: 12, Level: model.LevelL0},
	}
	s := NewSurvey(w.build())
	got := map[model.NodeID]string{}
	takes := map[model.NodeID]bool{}
	for _, x := range s.Groups[0].Shares {
		got[x.Node] = x.State()
		takes[x.Node] = x.Assignable()
	}
	if diff := cmp.Diff(map[model.NodeID]string{
		1: "", 2: "stopping", 3: "timed out", 4: "dead", 5: "read-only", 6: "streaming", 7: "outside",
	}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[model.NodeID]bool{1: true, 2: false, 3: true, 4: false, 5: false, 6: false, 7: false},
		takes); diff != "" {
		t.Error(diff)
	}
	if s.Groups[0].Unknown != 1 || len(s.Unknown) != 1 || s.Unknown[0].Node != 3 {
		t.Errorf("unknown: %d, %v", s.Groups[0].Unknown, s.Unknown)
	}
	// Segments of a collection without metadata form a separate group after the replicas.
	if len(s.Groups) != 3 || s.Groups[2].Replica != nil || s.Groups[2].Collection != nil || s.Groups[2].Name() != "99" {
		t.Errorf("groups: %+v", s.Groups)
	}
}

func TestNoRuntime(t *testing.T) {
	s := NewSurvey(model.Build(newFixture(1, 2).parts))
	if s.HasRuntime || len(s.Groups) != 1 || len(s.Groups[0].Shares) != 2 || s.Groups[0].Shares[0].Known ||
		s.Groups[0].Spread.Nodes != 0 {
		t.Errorf("%+v", s)
	}
	if p := s.Plan(s.Groups[0], Options{}); p.Why != "the nodes did not report their segments" || p.Reached ||
		len(p.Moves) > 0 {
		t.Errorf("%+v", p)
	}
	if v := s.Milvus(s.Groups[0]); v.Modelled || v.Acts {
		t.Errorf("%+v", v)
	}
}

func TestSpread(t *testing.T) {
	w := newFixture(1, 2, 3, 4)
	for i, node := range []model.NodeID{1, 1, 1, 2, 2, 2, 3, 3, 3, 3} {
		w.serve(node, model.SegmentID(10+i), 100, false)
	}
	g := NewSurvey(w.build()).Groups[0]
	want := Spread{MaxMean: 1.6, CV: 0.6, Busiest: 0.4, RowsMaxMean: 1.6, RowsCV: 0.6, MemoryMaxMean: 1.6, Nodes: 4}
	if diff := cmp.Diff(want, g.Spread,
		cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })); diff != "" {
		t.Error(diff)
	}
}

func TestCompared(t *testing.T) {
	w := DefaultWeights()
	index := func(kind string, params ...string) *model.Index {
		x := &model.Index{Type: kind}
		for i := 0; i < len(params); i += 2 {
			x.Params = append(x.Params, model.Pair{Key: params[i], Value: params[i+1]})
		}
		return x
	}
	for _, tt := range []struct {
		index *model.Index
		rows  float64
		want  float64
	}{
		{index(""), 5000, 5000},
		{index("FLAT"), 5000, 5000},
		{index("BIN_FLAT"), 5000, 5000},
		{index("GPU_BRUTE_FORCE"), 5000, 5000},
		{index("HNSW", "M", "16"), 1e6, 1331.2},
		{index("HNSW", "M", "16"), 500, 500},
		{index("HNSW_SQ"), 1e6, 2496},
		{index("AUTOINDEX"), 1e6, 1497.6},
		{index("DISKANN"), 1e6, 2329.6},
		{index("GPU_CAGRA", "graph_degree", "32"), 1e6, 1331.2},
		{index("IVF_FLAT", "nlist", "64"), 6400, 864},
		{index("IVF_SQ8"), 12800, 928},
		{index("SCANN", "nlist", "x"), 12800, 928},
		{index("IVF_FLAT", "nlist", "4"), 1000, 1000},
		{index("SPARSE_INVERTED_INDEX"), 1000, 100},
		{index("SOMETHING_NEW"), 1e6, 2496},
	} {
		if got := w.comparedRows(indexingOf(tt.index), tt.rows); got < tt.want-1e-6 || got > tt.want+1e-6 {
			t.Errorf("%s of %v rows: %v compared, want %v", tt.index.Type, tt.rows, got, tt.want)
		}
	}
	if s := w.String(); !strings.Contains(s, "not measured by replay") {
		t.Errorf("weights do not say where they come from: %s", s)
	}
}

// TestPlanWithinMemory checks that nothing is moved to a full node.
func TestPlanWithinMemory(t *testing.T) {
	w := newFixture(1, 2, 3)
	for i := range 6 {
		w.serve(1, model.SegmentID(10+i), 1000, false)
	}
	w.live(2).System.MemoryUse = 950 << 20 // of 1 GiB: above the nine tenths that Milvus fills
	s := NewSurvey(w.build())
	p := s.Plan(s.Groups[0], Options{Goal: 1.5})
	if len(p.Moves) != 3 || !p.Reached {
		t.Errorf("%d moves, reached %v: %+v", len(p.Moves), p.Reached, p.After)
	}
	for _, m := range p.Moves {
		if m.To != 3 {
			t.Errorf("segment %d goes to %d, which is full", m.Segment, m.To)
		}
	}
	if p = s.Plan(s.Groups[0], Options{Goal: 1.1}); p.Reached || !strings.Contains(p.Why, "within the memory") {
		t.Errorf("reached %v: %s", p.Reached, p.Why)
	}
	w.live(2).System = nil
	if p = NewSurvey(w.build()).Plan(NewSurvey(w.build()).Groups[0], Options{}); len(p.MemoryUnknown) != 1 {
		t.Errorf("memory unknown of %v", p.MemoryUnknown)
	}
}

// TestPlanSkipsDuplicateSegments checks that a segment on two nodes is not moved, because it is already being moved.
func TestPlanSkipsDuplicateSegments(t *testing.T) {
	w := newFixture(1, 2, 3)
	for i := range 3 {
		w.serve(1, model.SegmentID(10+i), 1000, false)
	}
	w.live(2).Distribution.Sealed = append(w.live(2).Distribution.Sealed, model.ServedSegment{ID: 11, Collection: docs})
	s := NewSurvey(w.build())
	for _, m := range s.Plan(s.Groups[0], Options{}).Moves {
		if m.Segment == 11 {
			t.Error("a segment that is on two nodes is moved")
		}
	}
}

// TestGrowingOutOfReach checks the plan for a goal that growing rows make unreachable.
func TestGrowingOutOfReach(t *testing.T) {
	w := newFixture(1, 2)
	w.serve(1, 10, 100, false)
	w.live(1).Distribution.Leaders = []model.LeaderView{
		{Channel: "c0", Collection: docs, GrowingRows: 900}, {Channel: "c1", Collection: docs, GrowingRows: 800},
	}
	c := w.build()
	s := NewSurvey(c)
	p := s.Plan(s.Groups[0], Options{})
	if p.Reached || !strings.Contains(p.Why, "growing rows") {
		t.Errorf("reached %v: %s", p.Reached, p.Why)
	}
}

func TestCalls(t *testing.T) {
	w := newFixture(1, 2)
	for i := range 14 {
		w.serve(1, model.SegmentID(10+i), 1000, false)
	}
	s := NewSurvey(w.build())
	p := s.Plan(s.Groups[0], Options{})
	calls := p.Calls()
	if len(p.Moves) != 7 || len(calls) != 2 {
		t.Fatalf("%d moves in %d calls", len(p.Moves), len(calls))
	}
	if got := calls[0].String(); got != `utility.load_balance("docs", 1, [2], [10, 11, 12, 13, 14])` ||
		calls[0].Database != "tenant" {
		t.Errorf("%s in %s", got, calls[0].Database)
	}
}

func TestGenerations(t *testing.T) {
	for version, want := range map[string]bool{
		"2.3.5": false, "2.3.18": false, "2.3.19": true, "2.4.0": false, "2.4.6": false, "2.4.7": true,
		"v2.5.1-dev": true, "": true,
	} {
		if got := hasQuotas(version); got != want {
			t.Errorf("%q: %v, want %v", version, got, want)
		}
	}
	for version, want := range map[string]string{
		"2.2.4": "moves of RowCountBasedBalancer", "2.3.4": "before Milvus 2.3.5",
	} {
		old := newFixture(1, 2)
		old.parts.Version.Text = version
		s := NewSurvey(old.build())
		if v := s.Milvus(s.Groups[0]); v.Modelled || !strings.Contains(v.Behavior, want) {
			t.Errorf("%s: %+v", version, v)
		}
	}
}

// TestVerdicts checks the reasons for the behaviour of Milvus's balancer.
func TestVerdicts(t *testing.T) {
	uneven := func() *fixture {
		w := newFixture(1, 2)
		for i := range 4 {
			w.serve(1, model.SegmentID(10+i), 1000, true)
		}
		return w
	}
	config := func(value string) []*model.ConfigEntry {
		return []*model.ConfigEntry{{Name: "queryCoord/autoBalance", Value: value}}
	}
	for _, tt := range []struct {
		name string
		w    *fixture
		edit func(*fixture)
		acts bool
		want string
	}{
		{
			"on", uneven(), func(w *fixture) { w.parts.Config = config("true") }, true,
			"ScoreBasedBalancer moves 2 segments, 2 in the first round",
		},
		{
			"off", uneven(), func(w *fixture) { w.parts.Config = config("false") }, false,
			"auto-balance is off (dynamic configuration: queryCoord.autoBalance=false); if on: ScoreBasedBalancer " +
				"moves 2 segments",
		},
		{"unknown", uneven(), func(*fixture) {}, false, "auto-balance unknown; if on, ScoreBasedBalancer moves 2"},
		{"another balancer", uneven(), func(w *fixture) {
			w.parts.Config = append(config("true"), &model.ConfigEntry{
				Name: "queryCoord.balancer", Value: "MultipleTargetBalancer",
			})
		}, false, "moves of MultipleTargetBalancer are not computed"},
		{
			"a blind node", uneven(), func(w *fixture) { w.live(2).Distribution = nil }, false,
			"querynode-2 did not report its segments",
		},
		{"tolerated", newFixture(1, 2), func(w *fixture) {
			w.parts.Config = config("true")
			w.serve(1, 10, 1020, true)
			w.serve(2, 11, 1000, true)
		}, false, "scores differ by 2.0%, tolerance 5%"},
		{"turned round", newFixture(1, 2), func(w *fixture) {
			w.parts.Config = config("true")
			w.serve(1, 10, 1000, true)
			w.serve(1, 11, 1000, true)
			w.serve(2, 12, 1000, true)
		}, false, "every move would only reverse the difference"},
	} {
		tt.edit(tt.w)
		s := NewSurvey(tt.w.build())
		v := s.Milvus(s.Groups[0])
		if v.Acts != tt.acts || !strings.Contains(v.Why, tt.want) {
			t.Errorf("%s: acts %v: %s", tt.name, v.Acts, v.Why)
		}
	}
}

// TestHandoverByMetrics checks RepeatedRows. Metrics do not name segments, so the growing rows of a segment in
// handover are among the sealed ones, on the same node or on another. RepeatedRows bounds their number. It is 0 if
// both are known by name.
func TestHandoverByMetrics(t *testing.T) {
	scrape := func(node, sealed, growing float64) *model.Process {
		id := strconv.Itoa(int(node))
		pair := func(state string) []model.Pair {
			return []model.Pair{
				{Key: "collection_id", Value: "7"},
				{Key: "indexed_field_count", Value: "1"},
				{Key: "node_id", Value: id},
				{Key: "segment_state", Value: state},
			}
		}
		return &model.Process{Metrics: modeltest.Scrape(time.Time{}, map[string][]model.Series{
			"milvus_querynode_segment_num": {{Labels: pair("Sealed"), Value: 1}, {Labels: pair("Growing"), Value: 1}},
			"milvus_querynode_entity_num": {
				{Labels: pair("Sealed"), Value: sealed}, {Labels: pair("Growing"), Value: growing},
			},
		})}
	}
	for name, x := range map[string]struct {
		silent []model.NodeID // known by their metrics
		want   map[model.NodeID]int64
	}{
		"answers":        {nil, map[model.NodeID]int64{1: 0, 2: 0}},
		"metrics":        {[]model.NodeID{1, 2}, map[model.NodeID]int64{1: 700, 2: 1500}},
		"metrics of one": {[]model.NodeID{1}, map[model.NodeID]int64{1: 700, 2: 0}},
	} {
		w := newFixture(1, 2)
		for _, id := range x.silent {
			n := w.live(id)
			n.Distribution, n.Outcome = nil, model.TimedOut
			n.Process = scrape(float64(id), map[model.NodeID]float64{1: 1000, 2: 500}[id],
				map[model.NodeID]float64{1: 700, 2: 9000}[id])
			w.runtime.Processes = append(w.runtime.Processes, n.Process)
		}
		if len(x.silent) < 2 {
			w.serve(2, 5, 500, true)
		}
		s := NewSurvey(model.Build(w.parts).WithRuntime(model.BuildRuntime(w.runtime)))
		got := map[model.NodeID]int64{}
		var sum int64
		for _, n := range s.Nodes {
			got[n.Node] = n.RepeatedRows
			sum += n.RepeatedRows
		}
		if d := cmp.Diff(x.want, got); d != "" || len(s.Groups) != 1 || s.Groups[0].RepeatedRows() != sum {
			t.Errorf("%s: %s", name, d)
		}
	}
}
