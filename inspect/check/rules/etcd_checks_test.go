package rules_test

import (
	"testing"
	"time"

	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// members is an etcd of n members, the first the leader, to be changed.
func members(n int, change func([]model.EtcdMember)) func(*world) {
	return func(w *world) {
		w.Etcd = &model.Etcd{At: modeltest.Now}
		for i := range n {
			w.Etcd.Members = append(w.Etcd.Members, model.EtcdMember{
				Name: []string{"a", "b", "c"}[i], Endpoint: "e:" + model.NodeID(i).String(), Leader: i == 0, DBSize: 100 << 20, DBInUse: 90 << 20, DBQuota: 2 << 30,
			})
		}
		if change != nil {
			change(w.Etcd.Members)
		}
	}
}

func TestEtcdAlarm(t *testing.T) {
	hold(t, named("etcd-alarm"), []verdict{
		{"well", members(3, nil), nil, ""},
		{"full", members(3, func(m []model.EtcdMember) { m[1].Errors = []string{"NOSPACE"} }), []string{"error / etcd reports NOSPACE: its database is full, and every write is refused"}, ""},
		{
			"as etcd writes it", members(3, func(m []model.EtcdMember) {
				m[0].Errors, m[1].Errors = []string{"memberID:10276657743932975437 alarm:NOSPACE "}, []string{"memberID:10276657743932975437 alarm:NOSPACE ", "memberID:11 alarm:CORRUPT "}
			}), []string{"error / etcd reports CORRUPT and NOSPACE: its database is full"}, "",
		},
		{"corrupt", members(1, func(m []model.EtcdMember) { m[0].Errors = []string{"CORRUPT"} }), []string{"error / etcd reports CORRUPT"}, ""},
		{"no leader is another check's", members(1, func(m []model.EtcdMember) { m[0].Errors = []string{"etcdserver: no leader"} }), nil, ""},
		{"one member silent: the others know its alarms", members(3, func(m []model.EtcdMember) { m[2].Problem = "no answer" }), nil, ""},
		{"all silent", members(1, func(m []model.EtcdMember) { m[0].Problem = "no answer" }), nil, "no etcd member"},
		{"not asked", nil, nil, "etcd was not asked"},
	})
}

func TestEtcdNoLeader(t *testing.T) {
	silent := func(ids ...int) func([]model.EtcdMember) {
		return func(m []model.EtcdMember) {
			for _, i := range ids {
				m[i].Problem, m[i].Leader = "no answer from here", false
			}
		}
	}
	hold(t, named("etcd-no-leader"), []verdict{
		{"well", members(3, nil), nil, ""},
		{"one alone", members(1, nil), nil, ""},
		{"no leader", members(3, func(m []model.EtcdMember) {
			m[0].Leader = false
			for i := range m {
				m[i].Errors = []string{"etcdserver: no leader"}
			}
		}), []string{"error / etcd has no leader and cannot write"}, ""},
		{"the only one that answers knows no leader", members(3, func(m []model.EtcdMember) {
			silent(1, 2)(m)
			m[0].Leader, m[0].Errors = false, []string{"etcdserver: no leader"}
		}), []string{"error / etcd has no leader and cannot write"}, ""},
		{"one member cut off", members(3, func(m []model.EtcdMember) { m[2].Errors = []string{"etcdserver: no leader"} }), []string{"warning / 1 of 3 etcd members sees no leader, the others do"}, ""},
		{"two lead", members(3, func(m []model.EtcdMember) { m[2].Leader = true }), []string{"warning / 2 etcd members claim to lead"}, ""},
		{"the leader is not among those listed", members(1, func(m []model.EtcdMember) { m[0].Leader = false }), nil, "the leader of etcd: not among the members"},
		{"members not listed", func(w *world) { members(1, nil)(w); w.Etcd.Problem = "members could not be listed: permission denied" }, nil, "members could not be listed"},
		{"one silent of three that answer", members(3, silent(2)), []string{"warning / 1 of 3 etcd members does not answer from here"}, ""},
		{"the leader silent", members(3, silent(0)), []string{"warning / 1 of 3 etcd members"}, ""},
		{"one answers, through a forwarded port", members(3, silent(1, 2)), []string{"info / 2 of 3 etcd members do not answer from here; there is a leader"}, ""},
		{
			"one answers, the others refuse", members(3, func(m []model.EtcdMember) { silent(1, 2)(m); m[1].Problem += ": connection refused" }),
			[]string{"warning / 2 of 3 etcd members do not answer from here; there is a leader"},
			"",
		},
		{"a silent learner", members(3, func(m []model.EtcdMember) { silent(2)(m); m[2].Learner = true }), nil, ""},
		{"all silent", members(3, silent(0, 1, 2)), nil, "no etcd member"},
	})
}

func TestEtcdSize(t *testing.T) {
	size := func(n, inUse, quota int64) func(*world) {
		return members(3, func(m []model.EtcdMember) { m[1].DBSize, m[1].DBInUse, m[1].DBQuota = n, inUse, quota })
	}
	hold(t, named("etcd-size"), []verdict{
		{"small", members(3, nil), nil, ""},
		{"most of its quota", size(1700<<20, 1700<<20, 2<<30), []string{"warning / the database of etcd member b is 1.7 GiB, 83% of its quota"}, ""},
		{"nearly all", size(1990<<20, 1990<<20, 2<<30), []string{"error / 97.2%"}, ""},
		{"much of a greater quota", size(1990<<20, 1990<<20, 8<<30), nil, ""},
		{"quota unknown", size(1990<<20, 1990<<20, 0), []string{"info / its quota is not reported, the default is 2.0 GiB"}, ""},
		{"hollow", size(900<<20, 200<<20, 8<<30), []string{"info / 900 MiB, only 200 MiB in use"}, ""},
		{"use not told", size(900<<20, 0, 8<<30), nil, ""},
		{"silent", members(1, func(m []model.EtcdMember) { m[0].Problem = "no answer" }), nil, "no etcd member"},
	})
	r := judged(t, named("etcd-size"), func(w *world) {
		size(900<<20, 200<<20, 8<<30)(w)
		w.Etcd.Members[2].DBSize, w.Etcd.Members[2].DBInUse = 1<<30, 1<<30
	})
	if f := r.Findings[0]; f.Evidence[0].Value != "900 MiB" || f.Evidence[0].Source != "etcd e:1" {
		t.Errorf("the evidence is of another member than the message: %+v", f.Evidence)
	}
}

func TestWatchLivelock(t *testing.T) {
	active := func(over time.Duration, revisions int64, hot ...model.KeyWrites) func(*world) {
		return func(w *world) {
			members(1, nil)(w)
			w.Etcd.Activity = &model.EtcdActivity{Over: over, Revisions: revisions, Writes: revisions, Hot: hot}
		}
	}
	watch := func(n int64) model.KeyWrites {
		return model.KeyWrites{Key: "by-dev/meta/channelwatch/5/" + wellCh0, Writes: n}
	}
	hold(t, named("watch-livelock"), []verdict{
		{"quiet", active(time.Minute, 60, model.KeyWrites{Key: "by-dev/kv/gid/timestamp", Writes: 20}), nil, ""},
		{"a channel over and over", active(time.Minute, 120, watch(60)), []string{"error keys/by-dev/meta/channelwatch/5/" + wellCh0 + " the watch of " + wellCh0 + " by datanode-5 was written 60 times in 60 s: it is reassigned in a loop"}, ""},
		{"a channel that moves", active(6*time.Second, 20, watch(3)), nil, ""},
		{"another key", active(10*time.Second, 120, model.KeyWrites{Key: "by-dev/meta/x", Writes: 60}), []string{"warning keys/by-dev/meta/x by-dev/meta/x was written 60 times in 10 s"}, ""},
		{"a busy etcd", active(10*time.Second, 9000), []string{"info / etcd writes 900 revisions a second"}, ""},
		{"hardly watched", active(500*time.Millisecond, 60, watch(60)), nil, "watched for only 500 ms"},
		{"not watched", members(1, nil), nil, "not watched"},
	})
}

func TestClockRegression(t *testing.T) {
	live := func(reserved time.Duration) func(*world) {
		return func(w *world) {
			w.Origin.Kind, w.Allocators[0].At = "etcd", modeltest.Now.Add(reserved)
			for _, v := range w.VChannels {
				v.Checkpoint.At = back(time.Hour)
			}
		}
	}
	hold(t, named("clock-regression"), []verdict{
		{"well", nil, nil, ""},
		{"checkpoint ahead", func(w *world) { w.VChannels[0].Checkpoint.At = back(-time.Minute) }, []string{"error / 1 position is ahead of RootCoord's reserved timestamps by up to 60 s"}, ""},
		{"a little ahead", func(w *world) { w.VChannels[0].Checkpoint.At = back(-5 * time.Second) }, nil, ""},
		{"marked as dropped", func(w *world) { w.VChannels[0].Checkpoint.At = model.MaxTSO }, nil, ""},
		{"segments ahead", func(w *world) { w.segment(0).PositionAt, w.segment(1).StartAt = back(-time.Hour), back(-time.Minute) }, []string{"error / 2 positions are ahead of RootCoord's reserved timestamps by up to 60 min"}, ""},
		{"dropped segment", func(w *world) { w.segment(0).PositionAt, w.segment(0).State = back(-time.Hour), model.SegmentDropped }, nil, ""},
		{"live, in step", live(3 * time.Second), nil, ""},
		{"live, behind", live(-5 * time.Minute), []string{"warning nodes/rootcoord-1 cluster timestamps are 5 min behind this machine's clock"}, ""},
		{"live, ahead", live(5 * time.Minute), []string{"warning nodes/rootcoord-1 5 min ahead of this machine's clock"}, ""},
		{
			"a bundle of a live one", func(w *world) { live(-5 * time.Minute)(w); w.Origin.Kind, w.Origin.ByClock = "bundle", true },
			[]string{"warning nodes/rootcoord-1 5 min behind the clock of the machine that saved the bundle"},
			"",
		},
		{"a bundle of a file", func(w *world) { live(-5 * time.Minute)(w); w.Origin.Kind = "bundle" }, nil, ""},
		{"live, nobody runs", func(w *world) { live(-5 * time.Minute)(w); w.Sessions = nil }, nil, ""},
		{"no allocator", func(w *world) { w.Allocators = nil }, nil, "the metadata has no timestamp allocator"},
	})
}
