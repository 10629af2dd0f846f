package check

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/balance"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// shifting is a cluster that changes in one thing after another, as a watched one does: what does not change is shared with
// the state before.
type shifting struct {
	*rand.Rand
	c     *model.Cluster // without the processes
	r     model.RuntimeParts
	asked *model.Runtime
	told  *model.Cluster // of when they were asked
	now   time.Time
}

func newShifting(seed uint64) *shifting {
	c := modeltest.ServedLarge(3000, 20)
	return &shifting{Rand: rand.New(rand.NewPCG(seed, 1)), c: c.WithRuntime(nil), r: c.Runtime.RuntimeParts, asked: c.Runtime, now: modeltest.Now} //nolint:gosec // no secret
}

// cluster is what a watch shows: half of the time the metadata has moved on since the processes were asked.
func (s *shifting) cluster() *model.Cluster {
	if s.told != nil {
		return s.c.WithAnswersOf(s.told)
	}
	return s.c.WithRuntime(s.asked)
}

// pick is some element of a list.
func pick[T any](s *shifting, list []T) T { return list[s.IntN(len(list))] }

// some is the position of some segment; half of the time one of the first collections, so that changes meet.
func (s *shifting) some(p *model.Parts) int {
	i := s.IntN(len(p.Segments))
	if s.IntN(2) == 0 {
		i -= i % 50
	}
	return i
}

// step changes one thing, and says what.
func (s *shifting) step() string {
	kinds := []struct {
		name string
		do   func(*model.Parts)
	}{
		{"segment changes", s.changeSegment},
		{"segment changes again", s.changeSegment},
		{"segments go", s.removeSegments},
		{"segment comes", s.addSegment},
		{"index definitions change", s.changeIndex},
		{"partitions change", s.changePartitions},
		{"collection changes", s.changeCollection},
		{"sessions change", s.changeSessions},
		{"replica changes", s.changeReplica},
		{"configuration changes", func(p *model.Parts) {
			p.Config = []*model.ConfigEntry{{Name: "dataCoord/gc/dropTolerance", Value: strconv.Itoa(s.IntN(4000)), ModRevision: 7}}
		}},
		{"time passes", func(*model.Parts) { s.now = s.now.Add(time.Duration(s.IntN(30)) * time.Minute) }},
	}
	n := s.IntN(len(kinds) + 3)
	if n >= len(kinds) {
		return s.ask()
	}
	p := s.c.Parts
	kinds[n].do(&p)
	s.c = s.c.Update(p)
	return kinds[n].name
}

func (s *shifting) changeSegment(p *model.Parts) {
	i := s.some(p)
	x := *p.Segments[i]
	x.Rows += s.Int64N(2)
	switch s.IntN(8) {
	case 0:
		x.State = pick(s, []model.SegmentState{model.SegmentGrowing, model.SegmentFlushed, model.SegmentDropped, model.SegmentImporting, model.SegmentSealed})
	case 1:
		x.Rows = s.Int64N(330_000)
	case 2:
		x.Level = pick(s, []model.SegmentLevel{model.LevelL0, model.LevelL1, model.LevelL2})
	case 3:
		x.Invisible = !x.Invisible
	case 4:
		x.DeletedRows = s.Int64N(x.Rows + 1)
	case 5:
		x.Partition = pick(s, []model.PartitionID{x.Partition, 7})
	case 6:
		x.PositionAt = model.TSOFromTime(s.now.Add(time.Duration(s.IntN(120)-100) * time.Minute))
	default:
		x.Indexes = slices.Clone(x.Indexes)
		for k := range x.Indexes {
			x.Indexes[k].State = pick(s, []model.IndexState{model.IndexFinished, model.IndexInProgress, model.IndexFailed})
			x.Indexes[k].EngineVersion = pick(s, []int32{5, 9})
		}
	}
	p.Segments = slices.Clone(p.Segments)
	p.Segments[i] = &x
}

func (s *shifting) removeSegments(p *model.Parts) {
	i := s.some(p)
	n := min(len(p.Segments)-i, 1+s.IntN(3))
	p.Segments = slices.Delete(slices.Clone(p.Segments), i, i+n)
}

func (s *shifting) addSegment(p *model.Parts) {
	x := *pick(s, p.Segments)
	x.ID = p.Segments[len(p.Segments)-1].ID + 1
	p.Segments = append(slices.Clone(p.Segments), &x)
}

func (s *shifting) changeIndex(p *model.Parts) {
	i := s.IntN(len(p.Indexes))
	x := *p.Indexes[i]
	p.Indexes = slices.Clone(p.Indexes)
	switch s.IntN(3) {
	case 0:
		x.Deleted = !x.Deleted
		p.Indexes[i] = &x
	case 1:
		x.Type = pick(s, []string{"FLAT", "HNSW", "IVF_FLAT"})
		p.Indexes[i] = &x
	default:
		x.ID, x.Field = x.ID+1, 102
		p.Indexes = append(p.Indexes, &x)
	}
}

func (s *shifting) changePartitions(p *model.Parts) {
	i := s.IntN(len(p.Partitions))
	p.Partitions = slices.Delete(slices.Clone(p.Partitions), i, i+1)
}

func (s *shifting) changeCollection(p *model.Parts) {
	i := s.IntN(len(p.Collections))
	x := *p.Collections[i]
	p.Collections = slices.Clone(p.Collections)
	switch s.IntN(3) {
	case 0:
		p.Collections = slices.Delete(p.Collections, i, i+1)
		return
	case 1:
		x.State = "Dropping"
	default:
		x.Fields = slices.Clone(x.Fields)
		for k, f := range x.Fields {
			if changed := *f; f.ID == 101 {
				changed.Type, changed.Dim = pick(s, []string{"FloatVector", "Int64"}), 64+s.Int64N(512)
				x.Fields[k] = &changed
			}
		}
	}
	p.Collections[i] = &x
}

func (s *shifting) changeSessions(p *model.Parts) {
	i := s.IntN(len(p.Sessions))
	p.Sessions = slices.Clone(p.Sessions)
	x := *p.Sessions[i]
	x.Stopping = !x.Stopping
	p.Sessions[i] = &x
}

func (s *shifting) changeReplica(p *model.Parts) {
	i := s.IntN(len(p.Replicas))
	x := *p.Replicas[i]
	x.Nodes = slices.Delete(slices.Clone(x.Nodes), 0, min(1, len(x.Nodes)))
	p.Replicas = slices.Clone(p.Replicas)
	p.Replicas[i] = &x
}

// ask asks the processes anew: one of them says something else.
func (s *shifting) ask() string {
	if s.IntN(8) == 0 {
		s.asked, s.told = nil, nil
		return "nobody was asked"
	}
	i := s.IntN(len(s.r.Nodes))
	n := *s.r.Nodes[i]
	if n.Distribution != nil && len(n.Distribution.Sealed) > 0 {
		d := *n.Distribution
		k := s.IntN(len(d.Sealed))
		d.Sealed = slices.Clone(d.Sealed)
		switch s.IntN(3) {
		case 0:
			d.Sealed[k].Indexes = nil
		case 1:
			d.Sealed = slices.Delete(d.Sealed, k, k+1)
		default:
			d.Leaders = slices.Clone(d.Leaders)
			for v := range d.Leaders {
				d.Leaders[v].Growing = append(slices.Clone(d.Leaders[v].Growing), model.GrowingView{ID: pick(s, s.c.Segments).ID})
			}
		}
		n.Distribution = &d
	}
	if n.Config != nil {
		n.Config = &model.Config{Values: map[string]string{"commonsetting1": strconv.Itoa(s.IntN(3))}}
	}
	s.r.Nodes = slices.Clone(s.r.Nodes)
	s.r.Nodes[i] = &n
	before := s.c
	s.asked = model.BuildRuntime(s.r)
	if s.told = nil; s.IntN(2) == 0 {
		p := s.c.Parts
		s.changeCollection(&p)
		s.c = s.c.Update(p)
		s.told = s.c.WithAnswers(s.asked, before)
	}
	return "processes were asked"
}

// testimony is all that a report says.
type testimony struct {
	Results  []Result
	Findings []*Finding
	Shares   []balance.Share
	Spreads  []balance.Spread
}

func whatItSays(r *Report) testimony {
	s := testimony{Findings: r.Findings}
	for _, x := range r.Results {
		x := *x
		x.Took = 0
		s.Results = append(s.Results, x)
	}
	for _, g := range r.Balance.Groups {
		s.Spreads = append(s.Spreads, g.Spread)
		for _, x := range g.Shares {
			s.Shares = append(s.Shares, *x)
		}
	}
	for _, x := range r.Balance.Nodes {
		s.Shares = append(s.Shares, *x)
	}
	return s
}

// TestJudgeSeesTheSchemaChange: which indexes have to be loaded depends on the fields, and those on the collection's record
// alone.
func TestJudgeSeesTheSchemaChange(t *testing.T) {
	s := newShifting(0)
	i := slices.IndexFunc(s.c.Collections, func(x *model.Collection) bool { return x.Name == "docs_5" })
	retype := func(to string) {
		p := s.c.Parts
		p.Collections = slices.Clone(p.Collections)
		x := *p.Collections[i]
		x.Fields = slices.Clone(x.Fields)
		for k, f := range x.Fields {
			if changed := *f; f.ID == 101 {
				changed.Type = to
				x.Fields[k] = &changed
			}
		}
		p.Collections[i] = &x
		s.c = s.c.Update(p)
	}
	var judge Judge
	for _, x := range []struct {
		to   string
		want Status
	}{{"Int64", OK}, {"FloatVector", Found}, {"Int64", OK}} {
		retype(x.to)
		if got := judge.Run(s.cluster(), s.now, []*Check{IndexNotLoaded}).Results[0]; got.Status != x.want {
			t.Errorf("with the field a %s: %s, want %s", x.to, got.Status, x.want)
		}
	}
}

// TestJudgeForgetsWhatIsGone: of collections, segments and answers that are no more nothing is kept.
func TestJudgeForgetsWhatIsGone(t *testing.T) {
	s := newShifting(0)
	var judge Judge
	judge.Run(s.cluster(), s.now, All)
	if n := len(judge.kept.digests); n != 50 || len(judge.kept.odds) != 50 || judge.kept.views == nil {
		t.Fatalf("%d digests, %d odds of 50 collections", n, len(judge.kept.odds))
	}
	p := s.c.Parts
	p.Collections = p.Collections[:20]
	p.Segments = slices.DeleteFunc(slices.Clone(p.Segments), func(x *model.Segment) bool { return x.Collection > p.Collections[19].ID })
	s.c = s.c.Update(p)
	judge.Run(s.c, s.now, All)
	if n := len(judge.kept.digests); n != 20 || len(judge.kept.odds) != 0 || judge.kept.views != nil {
		t.Errorf("%d digests of 20 collections; %d odds and views %v though nobody was asked", n, len(judge.kept.odds), judge.kept.views)
	}
	judge.Run(s.c, s.now, nil)
	if n := len(judge.kept.digests); n != 0 {
		t.Errorf("%d digests though no check wanted any", n)
	}
}

// TestJudgeIsNeverStale lets one Judge follow a cluster through changes of every kind: each of its reports has to be the one
// of a judge who has never seen the cluster before.
func TestJudgeIsNeverStale(t *testing.T) {
	for seed := range uint64(3) {
		var judge Judge
		s := newShifting(seed)
		judge.Run(s.cluster(), s.now, All)
		for i := range 50 {
			what := s.step()
			c := s.cluster()
			want, got := whatItSays(Run(c, s.now, All)), whatItSays(judge.Run(c, s.now, All))
			if !reflect.DeepEqual(want, got) {
				t.Fatalf("seed %d, step %d: %s: the report is not that of a fresh judge:\n%s", seed, i, what, cmp.Diff(want.Results, got.Results, cmp.Comparer(func(a, b *Check) bool { return a == b })))
			}
		}
	}
}
