package modeltest

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"kitescope/inspect/model"
)

// ChangingCluster is a cluster that changes step by step, like a watched one. Unchanged objects are shared with the
// previous state.
type ChangingCluster struct {
	*rand.Rand
	Metadata *model.Cluster // without responses of processes
	r        model.RuntimeParts
	runtime  *model.Runtime
	atQuery  *model.Cluster // at the time of the query; nil if the metadata are unchanged
	Now      time.Time
}

// NewChangingCluster returns a cluster of 3,000 segments in 50 collections on 20 nodes. The seed determines its
// changes.
func NewChangingCluster(seed uint64) *ChangingCluster {
	c := ServedLarge(3000, 20)
	return &ChangingCluster{
		Rand: rand.New(rand.NewPCG(seed, 1)), Metadata: c.WithRuntime(nil), r: c.Runtime.RuntimeParts,
		runtime: c.Runtime, Now: Now,
	} //nolint:gosec // no secret
}

// Cluster returns the cluster as shown by a watch. After some queries, its metadata are newer than the
// responses.
func (s *ChangingCluster) Cluster() *model.Cluster {
	if s.atQuery != nil {
		return s.Metadata.WithAnswersOf(s.atQuery)
	}
	return s.Metadata.WithRuntime(s.runtime)
}

// pick returns a random element of a list.
func pick[T any](s *ChangingCluster, list []T) T { return list[s.IntN(len(list))] }

// randomSegment returns the position of a random segment. Half of the time it is in the first collection, to make
// changes overlap.
func (s *ChangingCluster) randomSegment(p *model.Parts) int {
	i := s.IntN(len(p.Segments))
	if s.IntN(2) == 0 {
		i -= i % 50
	}
	return i
}

// Step makes one random change and returns its description.
func (s *ChangingCluster) Step() string {
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
			p.Config = []*model.ConfigEntry{
				{Name: "dataCoord/gc/dropTolerance", Value: strconv.Itoa(s.IntN(4000)), ModRevision: 7},
			}
		}},
		{"time passes", func(*model.Parts) { s.Now = s.Now.Add(time.Duration(s.IntN(30)) * time.Minute) }},
	}
	n := s.IntN(len(kinds) + 3)
	if n >= len(kinds) {
		return s.query()
	}
	p := s.Metadata.Parts
	kinds[n].do(&p)
	s.Metadata = s.Metadata.Update(p)
	return kinds[n].name
}

func (s *ChangingCluster) changeSegment(p *model.Parts) {
	i := s.randomSegment(p)
	x := *p.Segments[i]
	x.Rows += s.Int64N(2)
	switch s.IntN(14) {
	case 0, 1:
		x.State = pick(s, []model.SegmentState{
			model.SegmentGrowing, model.SegmentFlushed, model.SegmentDropped, model.SegmentImporting,
			model.SegmentSealed,
		})
	case 2:
		x.Rows = s.Int64N(330_000)
	case 3:
		x.Level = pick(s, []model.SegmentLevel{model.LevelL0, model.LevelL1, model.LevelL2})
	case 4:
		x.Invisible = !x.Invisible
	case 5:
		x.DeletedRows = s.Int64N(x.Rows + 1)
	case 6:
		x.Partition = pick(s, []model.PartitionID{x.Partition, 7})
	case 7:
		x.PositionAt = s.randomTime()
	case 8:
		x.DroppedAt = pick(s, []model.TSO{0, s.randomTime()})
	case 9:
		x.StartAt, x.PositionAt, x.ExpireAt = 0, pick(s, []model.TSO{0, model.MaxTSO}), 0
	case 10:
		x.Sorted, x.Importing = s.IntN(2) == 0, s.IntN(4) == 0
	case 11:
		x.MaxRows = pick(s, []int64{x.MaxRows, x.MaxRows + s.Int64N(3), 0})
	case 12:
		x.Indexes = nil
	default:
		x.Indexes = slices.Clone(x.Indexes)
		for k := range x.Indexes {
			x.Indexes[k].State = pick(s, []model.IndexState{
				model.IndexFinished, model.IndexInProgress, model.IndexFailed,
			})
			x.Indexes[k].EngineVersion = pick(s, []int32{5, 9})
		}
	}
	p.Segments = slices.Clone(p.Segments)
	p.Segments[i] = &x
}

// randomTime returns a time between 100 minutes ago and 20 minutes ahead.
func (s *ChangingCluster) randomTime() model.TSO {
	return model.TSOFromTime(s.Now.Add(time.Duration(s.IntN(120)-100) * time.Minute))
}

func (s *ChangingCluster) removeSegments(p *model.Parts) {
	i := s.randomSegment(p)
	n := min(len(p.Segments)-i, 1+s.IntN(3))
	p.Segments = slices.Delete(slices.Clone(p.Segments), i, i+n)
}

func (s *ChangingCluster) addSegment(p *model.Parts) {
	x := *pick(s, p.Segments)
	x.ID = p.Segments[len(p.Segments)-1].ID + 1
	p.Segments = append(slices.Clone(p.Segments), &x)
}

func (s *ChangingCluster) changeIndex(p *model.Parts) {
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

func (s *ChangingCluster) changePartitions(p *model.Parts) {
	i := s.IntN(len(p.Partitions))
	p.Partitions = slices.Delete(slices.Clone(p.Partitions), i, i+1)
}

func (s *ChangingCluster) changeCollection(p *model.Parts) {
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

func (s *ChangingCluster) changeSessions(p *model.Parts) {
	i := s.IntN(len(p.Sessions))
	p.Sessions = slices.Clone(p.Sessions)
	x := *p.Sessions[i]
	x.Stopping = !x.Stopping
	p.Sessions[i] = &x
}

func (s *ChangingCluster) changeReplica(p *model.Parts) {
	i := s.IntN(len(p.Replicas))
	x := *p.Replicas[i]
	x.Nodes = slices.Delete(slices.Clone(x.Nodes), 0, min(1, len(x.Nodes)))
	p.Replicas = slices.Clone(p.Replicas)
	p.Replicas[i] = &x
}

// query queries the processes again. One response differs, or nobody is queried.
func (s *ChangingCluster) query() string {
	if s.IntN(8) == 0 {
		s.runtime, s.atQuery = nil, nil
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
				d.Leaders[v].Growing = append(slices.Clone(d.Leaders[v].Growing),
					model.GrowingView{ID: pick(s, s.Metadata.Segments).ID})
			}
		}
		n.Distribution = &d
	}
	if n.Config != nil {
		n.Config = &model.Config{Values: map[string]string{"commonsetting1": strconv.Itoa(s.IntN(3))}}
	}
	s.r.Nodes = slices.Clone(s.r.Nodes)
	s.r.Nodes[i] = &n
	before := s.Metadata
	s.runtime = model.BuildRuntime(s.r)
	if s.atQuery = nil; s.IntN(2) == 0 {
		p := s.Metadata.Parts
		s.changeCollection(&p)
		s.Metadata = s.Metadata.Update(p)
		s.atQuery = s.Metadata.WithAnswers(s.runtime, before)
	}
	return "processes were asked"
}
