package rules_test

import (
	"fmt"
	"testing"
	"time"

	"kitescope/inspect/model"
)

func TestChannelUnwatched(t *testing.T) {
	none := func(w *world) { w.VChannels[0].Watched, w.VChannels[0].Watcher = false, 0 }
	gone := func(w *world) { w.VChannels[0].Watcher = 99 }
	hold(t, named("channel-unwatched"), []verdict{
		{"watched", nil, nil, ""},
		{"by nobody", none, []string{"error collections/1000 1 vchannel of docs: not watched by any node (" + wellCh0 + ")"}, ""},
		{"waiting for a node", func(w *world) { w.VChannels[0].Watcher = model.UnassignedNode }, []string{"error collections/1000 DataCoord's buffer"}, ""},
		{"by a node that is gone", gone, []string{"error collections/1000 datanode-99 is gone (not registered)"}, ""},
		{"by a node that has just taken it", func(w *world) { gone(w); w.VChannels[0].WatchedAt = backT(time.Minute) }, nil, ""},
		{"both are one finding", func(w *world) { none(w); w.VChannels[1].Watcher = 99 }, []string{"error collections/1000 2 vchannels of docs"}, ""},
		{"new collection", func(w *world) { none(w); w.Collections[0].CreatedAt = back(time.Minute) }, nil, ""},
		{"of a dropped collection", func(w *world) { none(w); w.Collections[0].State = "Dropped" }, nil, ""},
		{"not of the collection any more", func(w *world) { none(w); w.VChannels[0].Shard = -1 }, nil, ""},
		{"by a streaming node", func(w *world) {
			w.another("streamingnode", 30)
			w.PChannels[0].Streaming, w.PChannels[0].Node = true, 30
			w.VChannels[0].Watcher = 30
		}, nil, ""},
		{"by a streaming node that is gone", func(w *world) {
			w.PChannels[0].Streaming, w.PChannels[0].Node = true, 31
			w.VChannels[0].Watcher = 31
		}, []string{"error collections/1000 streamingnode-31 is gone (not registered)"}, ""},
		{"stopped cluster", func(w *world) { none(w); w.Sessions = nil }, nil, "no process is registered"},
		{"a version that keeps watches elsewhere", func(w *world) {
			w.Version.Text = "2.6.1"
			none(w)
			w.VChannels[1].Watched = false
		}, nil, "stores its watches where kitescope does not look"},
		{"channels not read", func(w *world) { none(w); w.Loaded &^= model.PartChannels }, nil, "could not be read"},
	})
}

func TestChannelTwice(t *testing.T) {
	twice := func(w *world) { w.VChannels[0].OtherWatchers = []model.NodeID{15} }
	hold(t, named("channel-watched-twice"), []verdict{
		{"once", nil, nil, ""},
		{"by two that live", func(w *world) { twice(w); w.another("datanode", 15) }, []string{"error vchannels/" + wellCh0 + " " + wellCh0 + " of docs is assigned to datanode-5 and datanode-15"}, ""},
		{"by one that is gone", twice, []string{"warning vchannels/" + wellCh0 + " datanode-15"}, ""},
		{"and in the buffer", func(w *world) { w.VChannels[0].OtherWatchers = []model.NodeID{model.UnassignedNode} }, nil, ""},
		{"while it is moved", func(w *world) { twice(w); w.VChannels[0].WatchState = "ToRelease" }, nil, ""},
		{"of a dropped collection", func(w *world) { twice(w); w.Collections[0].State = "Dropping" }, nil, ""},
	})
}

func TestChannelWatchState(t *testing.T) {
	state := func(s string, since time.Duration) func(*world) {
		return func(w *world) { w.VChannels[0].WatchState, w.VChannels[0].WatchedAt = s, backT(since) }
	}
	untimed := func(s string) func(*world) {
		return func(w *world) { w.VChannels[0].WatchState, w.VChannels[0].WatchedAt = s, time.Time{} }
	}
	object := "vchannels/" + wellCh0 + " "
	hold(t, named("channel-watch-state"), configured([]verdict{
		{"success", nil, nil, ""},
		{"just begun", state("ToWatch", time.Minute), nil, ""},
		{"within the time that Milvus gives", state("ToWatch", 6*time.Minute), nil, ""},
		{"for long", state("ToWatch", 8*time.Minute), []string{"warning " + object + "is in state ToWatch on datanode-5, started 8 min ago"}, ""},
		{"released for long", state("ToRelease", time.Hour), []string{"warning " + object + "ToRelease"}, ""},
		{"longer timeout", func(w *world) {
			state("ToWatch", 8*time.Minute)(w)
			w.Config = []*model.ConfigEntry{{Name: "datacoord.channel.watchTimeoutInterval", Value: "900"}}
		}, nil, ""},
		{"failed", state("WatchFailure", 3*time.Minute), []string{"error " + object + "WatchFailure"}, ""},
		{"just failed", state("ReleaseFailure", time.Minute), nil, ""},
		{"no time", untimed("ToWatch"), nil, ""},
		{"failed, no time", untimed("WatchFailure"), []string{"error " + object + "at an unknown time"}, ""},
		{"pchannel assigned", untimed("Assigned"), nil, ""},
		{"pchannel being assigned", untimed("Assigning"), []string{"info " + object + "Assigning"}, ""},
		{"pchannel without a node", untimed("Unavailable"), []string{"warning " + object + "Unavailable"}, ""},
		{"in the buffer, another check's", func(w *world) { state("ToWatch", time.Hour)(w); w.VChannels[0].Watcher = model.UnassignedNode }, nil, ""},
	}))
	hold(t, named("channel-watch-state"), []verdict{{"just begun, and processes were not asked", state("ToWatch", time.Minute), nil, "watchTimeoutInterval): the nodes were not asked"}})
}

// crowded adds n collections with a channel each, all consumed by one node and so far behind.
func (w *world) crowded(n int, age time.Duration) {
	for i := range n {
		id := model.CollectionID(7000 + i)
		name := fmt.Sprintf("by-dev-rootcoord-dml_2_%dv0", id)
		w.Collections = append(w.Collections, &model.Collection{ID: id, Database: 1, Name: fmt.Sprintf("c%d", i), State: "Created", VChannels: []string{name}, CreatedAt: back(48 * time.Hour)})
		w.VChannels = append(w.VChannels, &model.VChannel{
			Name: name, PChannel: "by-dev-rootcoord-dml_2", Collection: id, Watched: true, Watcher: 5, WatchState: "WatchSuccess", Checkpoint: model.Checkpoint{At: back(age)},
		})
	}
}

func TestCheckpointLag(t *testing.T) {
	lag := func(age time.Duration) func(*world) {
		return func(w *world) { w.VChannels[0].Checkpoint.At = back(age) }
	}
	and := func(f, more func(*world)) func(*world) { return func(w *world) { f(w); more(w) } }
	hold(t, named("checkpoint-lag"), []verdict{
		{"current", nil, nil, ""},
		{"waiting for its buffer", lag(10*time.Minute + 17*time.Second), nil, ""},
		{"behind", lag(16 * time.Minute), []string{"warning collections/1000 1 vchannel of docs: checkpoint 16 min old (" + wellCh0 + ")"}, ""},
		{"a day behind", lag(25 * time.Hour), []string{"error collections/1000 25 h old"}, ""},
		{"a longer syncPeriod", and(lag(16*time.Minute), func(w *world) {
			w.asked()
			w.live("datanode").Config.Values["datanodesegmentsyncperiod"] = "1200"
		}), nil, ""},
		{"just taken over", and(lag(16*time.Minute), func(w *world) { w.VChannels[0].WatchedAt = backT(time.Minute) }), nil, ""},
		{"of a dropped collection", and(lag(16*time.Minute), func(w *world) { w.Collections[0].State = "Dropping" }), nil, ""},
		{"none", func(w *world) { w.VChannels[0].Checkpoint.At = 0 }, nil, ""},
		{"marked as dropped", func(w *world) { w.VChannels[0].Checkpoint.At = model.MaxTSO }, nil, ""},
		{"by nobody", and(lag(16*time.Minute), func(w *world) { w.VChannels[0].Watched = false }), []string{"warning collections/1000 16 min"}, ""},
		{"several collections", func(w *world) { w.crowded(3, 20*time.Minute) }, []string{"warning collections/7000 c0", "warning collections/7001 c1", "warning collections/7002 c2"}, ""},
		{"a node with many", func(w *world) { w.crowded(6, 20*time.Minute) }, []string{"warning nodes/datanode-5 6 vchannels of 6 collections on datanode-5 lag by up to 20 min"}, ""},
		{"2.1 has none", and(lag(time.Hour), func(w *world) { w.Version.Text = "2.1" }), nil, "Milvus 2.1"},
		{"no time", and(lag(time.Hour), func(w *world) { w.now = time.Time{} }), nil, "time of the metadata is unknown"},
		{"not read", and(lag(time.Hour), func(w *world) { w.Loaded &^= model.PartChannels }), nil, "could not be read"},
	})
}

func TestCheckpointMissing(t *testing.T) {
	none := func(w *world) { w.VChannels[0].Checkpoint = model.Checkpoint{} }
	hold(t, named("checkpoint-missing"), []verdict{
		{"there", nil, nil, ""},
		{"missing", none, []string{"warning collections/1000 1 vchannel of docs has no checkpoint"}, ""},
		{"both", func(w *world) { none(w); w.VChannels[1].Checkpoint = model.Checkpoint{} }, []string{"warning collections/1000 2 vchannels of docs have no checkpoint"}, ""},
		{"new collection", func(w *world) { none(w); w.Collections[0].CreatedAt = back(9 * time.Minute) }, nil, ""},
		{"just taken over", func(w *world) { none(w); w.VChannels[0].WatchedAt = backT(4 * time.Minute) }, nil, ""},
		{"of a dropped collection", func(w *world) { none(w); w.Collections[0].State = "Dropping" }, nil, ""},
		{"2.1 has none", func(w *world) { none(w); w.Version.Text = "2.1" }, nil, "Milvus 2.1"},
	})
}

func TestCheckpointStale(t *testing.T) {
	left := func(v model.VChannel) func(*world) {
		return func(w *world) { w.VChannels = append(w.VChannels, &v) }
	}
	gone := model.VChannel{Name: "by-dev-rootcoord-dml_3_900v0", Collection: 900, Shard: -1, Checkpoint: model.Checkpoint{At: back(time.Hour)}}
	hold(t, named("checkpoint-stale-dropped"), []verdict{
		{"none", nil, nil, ""},
		{"of a collection that is gone", left(gone), []string{"info / 1 stale channel record left by 1 dropped collection"}, ""},
		{"of one that is being dropped", func(w *world) { w.Collections[0].State = "Dropping" }, []string{"info / 2 stale channel records left by 1 dropped collection"}, ""},
		{"only a removal mark", left(model.VChannel{Name: "x_900v0", Collection: 900, Removal: "removed"}), []string{"info / 1 stale channel record"}, ""},
		{"marked as 2.6 does", left(model.VChannel{Name: "x_900v0", Collection: 900, Checkpoint: model.Checkpoint{At: model.MaxTSO}}), nil, ""},
		{"the control channel", left(model.VChannel{Name: "by-dev-rootcoord-dml_0vcchan", Checkpoint: model.Checkpoint{At: back(0)}}), nil, ""},
	})
}
