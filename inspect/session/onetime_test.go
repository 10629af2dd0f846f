package session_test

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/history"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/inspect/source"
	"kitescope/inspect/view"
)

// loadCapture reads the metadata and the process state of a real cluster from a bundle.
func loadCapture(t *testing.T, name string) (c *model.Cluster, r *model.Runtime) {
	t.Helper()
	src, err := source.Open(t.Context(), filepath.Join("..", "..", "testdata", "broken", name+".kite"),
		source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	snapshot, err := src.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snapshot.Close()
	if c, err = meta.Load(t.Context(), snapshot, meta.Want{Parts: model.PartAll}); err != nil {
		t.Fatal(err)
	}
	with, err := session.WithStored(t.Context(), src, c)
	if err != nil {
		t.Fatal(err)
	}
	return c, with.Runtime
}

// followedCluster is a feed with its last cluster and a stateful check.Judge, as in diagnose --watch and the UI.
type followedCluster struct {
	session.FeedDriver
	shown *model.Cluster
	judge check.Judge
}

func follow() *followedCluster {
	f := &followedCluster{}
	f.FeedDriver = session.NewFeedDriver(func(u history.Update) {
		if u.Cluster != nil {
			f.shown = u.Cluster
		}
	})
	return f
}

// alarms returns the warnings and errors about the last cluster, as of one second after it was read.
func (f *followedCluster) alarms() []string {
	var list []string
	for _, x := range f.judge.Run(f.shown, view.NewEnv(f.shown, f.shown.Origin.Taken.Add(time.Second)).Now,
		rules.All()).Findings {
		if x.Severity != check.Info {
			list = append(list, x.Check+" "+x.Message)
		}
	}
	return list
}

// TestMetadataMovesOn checks that earlier answers combined with later metadata of a real cluster under load raise
// no alarm, although checkpoints move beyond the earlier ends of topics and collections grow.
func TestMetadataMovesOn(t *testing.T) {
	first, answers := loadCapture(t, "healthy-load-1")
	second, later := loadCapture(t, "healthy-load-2")
	third, _ := loadCapture(t, "healthy-load-3")
	f := follow()
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"read", func() { f.FeedDriver.OnCluster(first) }},
		{"answered", func() { f.OnAnswers(answers, first) }},
		{"metadata a minute on", func() { f.FeedDriver.OnCluster(second) }},
		{"metadata two minutes on", func() { f.FeedDriver.OnCluster(third) }},
		{"answered while it moved on", func() { f.OnAnswers(later, second) }},
	} {
		step.do()
		if alarms := f.alarms(); len(alarms) > 0 {
			t.Errorf("%s: false alarms: %q", step.name, alarms)
		}
	}
}

// TestCollectionsComeAndGo checks that creating, dropping or releasing any collection of real clusters raises no
// alarm, before, during and after the queries to processes.
func TestCollectionsComeAndGo(t *testing.T) {
	for _, name := range []string{"healthy-idle", "healthy-load-1", "healthy-load-3"} {
		c, r := loadCapture(t, name)
		for _, x := range c.Collections {
			for _, change := range []struct {
				name string
				of   func(*model.Cluster, model.CollectionID) *model.Cluster
			}{{"dropped", dropCollection}, {"released", releaseCollection}} {
				without := change.of(c, x.ID)
				less := answersWithout(r, x.ID)
				for _, course := range []struct {
					name          string
					before, after *model.Cluster
					r             *model.Runtime
				}{
					{"went while they answered, and had it", c, without, r},
					{"went while they answered, and had it no more", c, without, less},
					{"came while they answered, and had it", without, c, r},
					{"came while they answered, and did not have it yet", without, c, less},
				} {
					f := follow()
					f.FeedDriver.OnCluster(course.before)
					f.FeedDriver.OnCluster(course.after)
					f.OnAnswers(course.r, course.before)
					if alarms := f.alarms(); len(alarms) > 0 {
						t.Errorf("%s: %s %s, %s: false alarms: %q", name, x.Name, change.name, course.name, alarms)
					}
				}
				for _, course := range []struct {
					name       string
					asked, now *model.Cluster
					r          *model.Runtime
				}{{"went after they had answered", c, without, r}, {"came after they had answered", without, c, less}} {
					f := follow()
					f.FeedDriver.OnCluster(course.asked)
					f.OnAnswers(course.r, course.asked)
					f.FeedDriver.OnCluster(course.now)
					if alarms := f.alarms(); len(alarms) > 0 {
						t.Errorf("%s: %s %s, %s: false alarms: %q", name, x.Name, change.name, course.name, alarms)
					}
				}
			}
		}
	}
}

// releaseCollection returns a cluster after a collection was released. Milvus removes its load state and its replicas.
func releaseCollection(c *model.Cluster, id model.CollectionID) *model.Cluster {
	p := c.Parts
	p.LoadStates = filterOut(p.LoadStates, func(x *model.LoadState) bool { return x.Collection == id })
	p.Replicas = filterOut(p.Replicas, func(x *model.Replica) bool { return x.Collection == id })
	p.Origin.Revision++
	return model.Build(p)
}

// dropCollection returns a cluster without a collection, as before its creation or after its complete removal.
func dropCollection(c *model.Cluster, id model.CollectionID) *model.Cluster {
	p := releaseCollection(c, id).Parts
	p.Collections = filterOut(p.Collections, func(x *model.Collection) bool { return x.ID == id })
	p.Partitions = filterOut(p.Partitions, func(x *model.Partition) bool { return x.Collection == id })
	p.Indexes = filterOut(p.Indexes, func(x *model.Index) bool { return x.Collection == id })
	p.Segments = filterOut(p.Segments, func(x *model.Segment) bool { return x.Collection == id })
	p.VChannels = filterOut(p.VChannels, func(x *model.VChannel) bool { return x.Collection == id })
	p.Aliases = filterOut(p.Aliases, func(x *model.Alias) bool { return x.Collection == id })
	p.Orphans = filterOut(p.Orphans, func(x *model.Segment) bool { return x.Collection == id })
	p.Targets = filterOut(p.Targets, func(x *model.Target) bool { return x.Collection == id })
	return model.Build(p)
}

func filterOut[T any](list []*T, gone func(*T) bool) []*T {
	return slices.DeleteFunc(slices.Clone(list), gone)
}

// answersWithout returns the process state without a collection.
func answersWithout(r *model.Runtime, id model.CollectionID) *model.Runtime {
	p := r.RuntimeParts
	p.Nodes = slices.Clone(p.Nodes)
	for i, n := range p.Nodes {
		if n.Distribution == nil {
			continue
		}
		other, d := *n, *n.Distribution
		d.Sealed = slices.DeleteFunc(slices.Clone(d.Sealed), func(s model.ServedSegment) bool {
			return s.Collection == id
		})
		d.Channels = slices.DeleteFunc(slices.Clone(d.Channels), func(s model.ServedChannel) bool {
			return s.Collection == id
		})
		d.Leaders = slices.DeleteFunc(slices.Clone(d.Leaders), func(s model.LeaderView) bool {
			return s.Collection == id
		})
		other.Distribution = &d
		p.Nodes[i] = &other
	}
	p.Loaded = filterOut(p.Loaded, func(x *model.LoadedCollection) bool { return x.Collection == id })
	p.Replicas = filterOut(p.Replicas, func(x *model.LiveReplica) bool { return x.Collection == id })
	p.ShardLeaders = slices.DeleteFunc(slices.Clone(p.ShardLeaders), func(x model.ShardLeader) bool {
		return x.Collection == id
	})
	p.Recovery = filterOut(p.Recovery, func(x *model.Recovery) bool { return x.Collection == id })
	return model.BuildRuntime(p)
}
