package rules_test

import (
	"slices"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// silenceAll takes away all that processes said.
func (w *world) silenceAll(o model.Outcome) {
	for _, n := range w.runtime.Nodes {
		n.Distribution, n.System, n.Config, n.Outcome, n.Reason = nil, nil, nil, o, "as the test wants it"
	}
}

func TestNodeUnreachable(t *testing.T) {
	silent := func(o model.Outcome) func(*world) {
		return func(w *world) { w.serve(); w.silence(nodeB, o) }
	}
	hold(t, named("node-unreachable"), []verdict{
		{"dead", silent(model.Refused), []string{"error nodes/querynode-8 nothing listens there: the process is dead"}, ""},
		{"hangs", silent(model.TimedOut), []string{"error nodes/querynode-8 does not answer: timed out"}, ""},
		{"out of reach", silent(model.Unreachable), []string{"warning nodes/querynode-8 not reachable: unreachable"}, ""},
		{"wants credentials", silent(model.Denied), []string{"warning nodes/querynode-8 not reachable: denied"}, ""},
		{"not healthy", func(w *world) { silent(model.NotReady)(w); w.query(nodeB).State = "Abnormal" }, []string{"error nodes/querynode-8 reports that it is not healthy: Abnormal"}, ""},
		{"answers, and is not healthy", func(w *world) { w.serve(); w.query(nodeB).State = "Initializing" }, []string{"error nodes/querynode-8 not healthy: Initializing"}, ""},
		{"is starting", func(w *world) {
			w.serve()
			n := w.query(nodeB)
			n.State, n.System.StartedAt = "Initializing", w.now.Add(-20*time.Second)
		}, []string{"info nodes/querynode-8 not healthy: Initializing, started 20 s ago"}, ""},
		{"of no use yet", func(w *world) { silent(model.Refused)(w); w.Replicas[0].Nodes = []model.NodeID{nodeA} }, []string{"warning nodes/querynode-8 nothing listens there"}, ""},
		{"a data node", func(w *world) {
			w.serve()
			w.live("datanode").Outcome = model.Refused
		}, []string{"error nodes/datanode-5 data node datanode-5 at 10.0.0.5:1"}, ""},
		{"a standby coordinator", func(w *world) {
			w.serve()
			n := w.another("rootcoord", 30)
			n.Outcome, n.State = model.NotReady, "StandBy"
		}, nil, ""},
		{"stopping", func(w *world) {
			silent(model.Refused)(w)
			w.Sessions[len(w.Sessions)-1].Stopping = true
		}, nil, ""},
		{"stale", silent(model.Stale), nil, ""},
		{"not asked", silent(model.NotAsked), nil, "querynode-8: not asked"},
		{"a version without the call", silent(model.Unimplemented), nil, "querynode-8: unimplemented"},
		{"nobody answers", func(w *world) { w.serve(); w.silenceAll(model.Unreachable) }, []string{"info / answers; first: datacoord-2 at 10.0.0.2:1, unreachable"}, ""},
	})
}

// TestDuties: a dead node's finding says what depends on it, and costs what is lost.
func TestDuties(t *testing.T) {
	r := judged(t, named("node-unreachable"), func(w *world) { w.serve(); w.silence(nodeB, model.Refused) })
	f := r.Findings[0]
	if f.Cost != 1 {
		t.Errorf("the only collection is lost, and the cost is %v", f.Cost)
	}
	for _, ref := range []model.Ref{{Resource: "collections", ID: "1000"}, {Resource: "vchannels", ID: wellCh1}} {
		if !f.Mentions(ref) {
			t.Errorf("%v is not among its objects: %v", ref, f.Objects)
		}
	}
	if !slices.ContainsFunc(f.Evidence, func(e check.Evidence) bool { return e.Value == "1 segment, 90,000 rows" }) {
		t.Errorf("it does not say what leaders ask the node for: %v", f.Evidence)
	}
	two := judged(t, named("node-unreachable"), func(w *world) {
		w.serve()
		w.silence(nodeB, model.Refused)
		w.Replicas[0].Nodes = []model.NodeID{nodeB}
		w.Replicas = append(w.Replicas, &model.Replica{ID: 3001, Collection: wellColl, Nodes: []model.NodeID{nodeA}})
	})
	if cost := two.Findings[0].Cost; cost != 0.5 {
		t.Errorf("one of two replicas is lost, and the cost is %v", cost)
	}
}

// TestDeadNodeExplains: what follows from a dead node stands behind it.
func TestDeadNodeExplains(t *testing.T) {
	w := well()
	w.serve()
	w.silence(nodeB, model.Refused)
	r := check.Run(w.build(), w.now, servingChecks())
	if len(r.Findings) < 3 || r.Findings[0].Check != "node-unreachable" {
		t.Fatalf("findings %v", keysOf(r.Findings))
	}
	for _, f := range r.Findings[1:] {
		if f.Severity > check.Info && f.Cause == "" {
			t.Errorf("%s has no cause: %s", f.Key(), f.Message)
		}
	}
}

func TestStaleSession(t *testing.T) {
	stale := func(o model.Outcome) func(*world) {
		return func(w *world) { w.serve(); w.silence(nodeB, o) }
	}
	hold(t, named("stale-session"), []verdict{
		{"another id answers", stale(model.Stale), []string{"error nodes/querynode-8 querynode-8: another process answers at 10.0.0.8:1"}, ""},
		{"another cluster answers", stale(model.OtherCluster), []string{"error nodes/querynode-8 a process of another cluster answers"}, ""},
		{"of no use any more", func(w *world) { stale(model.Stale)(w); w.Replicas[0].Nodes = []model.NodeID{nodeA} }, []string{"warning nodes/querynode-8 another process"}, ""},
		{"nobody answers", stale(model.Refused), nil, ""},
		{"nobody was asked", func(w *world) { w.serve(); w.silenceAll(model.NotAsked) }, nil, "no process was asked"},
	})
}

func TestStopping(t *testing.T) {
	stopping := func(w *world) { w.serve(); w.Sessions[len(w.Sessions)-1].Stopping = true }
	empty := func(w *world) { stopping(w); w.query(nodeB).Distribution = &model.Distribution{} }
	leaving := func(w *world) {
		w.serve()
		w.Replicas[0].Nodes, w.Replicas[0].RONodes = []model.NodeID{nodeA}, []model.NodeID{nodeB}
	}
	hold(t, named("stopping-node-serving"), []verdict{
		{"serves", stopping, []string{"warning nodes/querynode-8 is stopping and still serves 2 segments and 1 shard"}, ""},
		{"by its own word", func(w *world) { w.serve(); w.query(nodeB).State = "Stopping" }, []string{"warning nodes/querynode-8 is stopping and still serves"}, ""},
		{"empty", empty, nil, ""},
		{
			"does not say", func(w *world) { stopping(w); w.silence(nodeB, model.TimedOut) },
			[]string{"warning nodes/querynode-8 did not report what it serves; other nodes request 1 segment and 1 shard"},
			"",
		},
		{"leaving a replica", leaving, []string{"warning nodes/querynode-8 is leaving the replicas of docs and still serves 2 segments and 1 shard of them"}, ""},
		{"has left a replica", func(w *world) { leaving(w); w.query(nodeB).Distribution = &model.Distribution{} }, nil, ""},
	})
	hold(t, named("node-stopping"), []verdict{
		{"empty", empty, []string{"info nodes/querynode-8 query node querynode-8 is stopping and no longer serves anything"}, ""},
		{"serves", stopping, nil, ""},
		{"a data node, of which nobody was asked", func(w *world) { w.Sessions[4].Stopping = true }, []string{"info nodes/datanode-5 data node datanode-5 is stopping"}, ""},
		{"nobody", nil, nil, ""},
	})
}

func TestReplicaDeadNode(t *testing.T) {
	hold(t, named("replica-dead-node"), []verdict{
		{
			"one of two", func(w *world) {
				w.Replicas[0].Nodes = []model.NodeID{nodeA, 99}
				w.ResourceGroups[0].Nodes = []model.NodeID{nodeA, 99}
			},
			[]string{"warning nodes/querynode-99 querynode-99 is gone but still listed in 1 replica and resource group __default_resource_group"},
			"",
		},
		{
			"all", func(w *world) { w.Replicas[0].Nodes = []model.NodeID{98, 99} },
			[]string{"error nodes/querynode-98 docs has no other node", "error nodes/querynode-99 docs has no other node"},
			"",
		},
		{"all of one of two replicas", func(w *world) {
			w.Replicas = append(w.Replicas, &model.Replica{ID: 3001, Collection: wellColl, Nodes: []model.NodeID{99}})
		}, []string{"warning nodes/querynode-99 querynode-99 is gone but still listed in 1 replica"}, ""},
		{"the default group alone, and nobody was asked", func(w *world) { w.ResourceGroups[0].Nodes = []model.NodeID{nodeA, 99} }, []string{"info nodes/querynode-99 querynode-99 is gone but still listed in resource group"}, ""},
		{"another group alone", func(w *world) {
			w.ResourceGroups = append(w.ResourceGroups, &model.ResourceGroup{Name: "tenants", Capacity: 1, Nodes: []model.NodeID{99}, Requests: -1, Limits: -1})
		}, []string{"warning nodes/querynode-99 querynode-99 is gone but still listed in resource group tenants"}, ""},
		{"QueryCoord has it no more", func(w *world) {
			w.serve()
			w.ResourceGroups[0].Nodes = []model.NodeID{nodeA, nodeB, 99}
			w.Replicas[0].Nodes = []model.NodeID{nodeA, nodeB, 99}
			w.runtime.Groups = []*model.LiveResourceGroup{{Name: facts.DefaultGroup, Capacity: 1000000, Available: 2}}
		}, []string{"info nodes/querynode-99 QueryCoord itself no longer has it"}, ""},
		{"QueryCoord counts it", func(w *world) {
			w.serve()
			w.ResourceGroups = append(w.ResourceGroups, &model.ResourceGroup{Name: "tenants", Capacity: 1, Nodes: []model.NodeID{99}, Requests: -1, Limits: -1})
			w.runtime.Groups = []*model.LiveResourceGroup{{Name: "tenants", Capacity: 1, Available: 1}}
		}, []string{"warning nodes/querynode-99 querynode-99 is gone but still listed in resource group tenants"}, ""},
		{"QueryCoord names it", func(w *world) {
			w.serve()
			w.Replicas[0].Nodes = []model.NodeID{nodeA, nodeB, 99}
			w.runtime.Replicas[0].Nodes = []model.NodeID{nodeA, nodeB, 99}
		}, []string{"warning nodes/querynode-99 querynode-99 is gone but still listed in 1 replica"}, ""},
		{"a read-only one", func(w *world) { w.Replicas[0].RONodes = []model.NodeID{99} }, []string{"info nodes/querynode-99 is gone but still listed in 1 replica, as read-only"}, ""},
		{"none", nil, nil, ""},
		{"no sessions at all", func(w *world) { w.Sessions = nil }, nil, "no process is registered"},
		{"2.1", func(w *world) { w.Version.Text = "2.1" }, nil, "Milvus 2.1"},
	})
}

func TestReplicaShort(t *testing.T) {
	hold(t, named("replica-short"), []verdict{
		{"one of two", func(w *world) { w.LoadStates[0].Replicas = 2 }, []string{"warning collections/1000 collection docs: 1 of 2 replicas work"}, ""},
		{"none of two", func(w *world) {
			w.Replicas[0].Nodes = []model.NodeID{98}
			w.Replicas = append(w.Replicas, &model.Replica{ID: 3001, Collection: wellColl, Nodes: []model.NodeID{99}})
		}, []string{"error collections/1000 none of 2 replicas works"}, ""},
		{"only a node that stops", func(w *world) { w.Sessions[3].Stopping = true }, []string{"error collections/1000 none of 1 replica works"}, ""},
		{"as asked", nil, nil, ""},
		{"only query nodes inside streaming nodes are left", func(w *world) {
			w.Replicas[0].Nodes, w.Replicas[0].StreamingNodes = []model.NodeID{99}, []model.NodeID{nodeA}
		}, []string{"error collections/1000 none of 1 replica works"}, ""},
		{"not loaded", func(w *world) { w.LoadStates[0].Status, w.LoadStates[0].Replicas = "Invalid", 3 }, nil, ""},
		{"no sessions at all", func(w *world) { w.Sessions = nil }, nil, "no process is registered"},
	})
}

func TestLoadStuck(t *testing.T) {
	// loading has the collection load, and its newest segment loaded some time ago.
	loading := func(ago time.Duration) func(*world) {
		return func(w *world) {
			w.serve()
			w.LoadStates[0].Status = "Loading"
			w.runtime.Loaded[0].Percent = 40
			w.query(nodeB).Distribution.Sealed[0].Version = nanos(ago)
		}
	}
	hold(t, named("load-stuck"), []verdict{
		{"for half an hour", loading(30 * time.Minute), []string{"warning collections/1000 is loading at 40%, without progress for 30 min"}, ""},
		{"moving", loading(time.Minute), nil, ""},
		{"loaded", (*world).serve, nil, ""},
		{"begun, and nothing there", func(w *world) {
			loading(time.Minute)(w)
			for _, id := range []model.NodeID{nodeA, nodeB} {
				w.query(id).Distribution = &model.Distribution{}
			}
		}, []string{"info collections/1000 no query node has any of it yet"}, ""},
		{"versions are no times", func(w *world) {
			loading(time.Minute)(w)
			for _, id := range []model.NodeID{nodeA, nodeB} {
				d := w.query(id).Distribution
				d.Channels[0].Version = 1
				for i := range d.Sealed {
					d.Sealed[i].Version = 1
				}
			}
		}, nil, "time of its last progress"},
	})
}

func TestLoadMismatch(t *testing.T) {
	hold(t, named("load-state-mismatch"), []verdict{
		{"QueryCoord does not have it", func(w *world) { w.serve(); w.runtime.Loaded = []*model.LoadedCollection{} }, []string{"error collections/1000 is Loaded in etcd, but QueryCoord does not list it"}, ""},
		{"QueryCoord has a part", func(w *world) { w.serve(); w.runtime.Loaded[0].Percent = 60 }, []string{"warning collections/1000 QueryCoord has only 60% of it"}, ""},
		{"not available", func(w *world) { w.serve(); w.runtime.Loaded[0].Available = false }, []string{"warning collections/1000 not available"}, ""},
		{"QueryCoord has just started", func(w *world) {
			w.serve()
			w.runtime.Loaded[0].Percent = 0
			w.live("querycoord").System.StartedAt = w.now.Add(-10 * time.Second)
		}, []string{"info collections/1000 QueryCoord has only 0% of it: it started 10 s ago and is still collecting"}, ""},
		{"etcd does not have it", func(w *world) { w.serve(); w.LoadStates = nil }, []string{"info collections/1000 is loaded in QueryCoord, but not in etcd"}, ""},
		{"loading", func(w *world) { w.serve(); w.LoadStates[0].Status, w.runtime.Loaded[0].Percent = "Loading", 60 }, nil, ""},
		{"a partition of it is being loaded", func(w *world) {
			w.serve()
			w.LoadStates[0].Partitions = []model.PartitionLoad{{Partition: wellPart, Status: "Loaded"}, {Partition: wellPart + 1, Status: "Loading"}}
			w.runtime.Loaded[0].Percent = 50
		}, []string{"info collections/1000 is Loaded, QueryCoord has 50% of it: partitions are being loaded"}, ""},
		{"QueryCoord did not say", func(w *world) { w.serve(); w.runtime.Loaded = nil }, nil, "QueryCoord did not report its loaded collections"},
	})
}

func TestConsumptionLag(t *testing.T) {
	// lagging has the metrics of node A tell how far it is behind in a collection.
	lagging := func(lag time.Duration, collection string) func(*world) {
		return func(w *world) {
			w.serve()
			for _, id := range []model.NodeID{nodeA, nodeB} {
				p := &model.Process{Address: "10.0.0." + id.String() + ":9091", Outcome: model.Answered, Metrics: modeltest.Scrape(time.Time{}, nil)}
				w.query(id).Process, w.query(id).System = p, nil
				w.runtime.Processes = append(w.runtime.Processes, p)
				modeltest.AddSeries(p.Metrics, "milvus_querynode_consume_tt_lag_ms", model.Series{
					Labels: []model.Pair{{Key: "collection_id", Value: "1000"}, {Key: "msg_type", Value: "insert"}, {Key: "node_id", Value: id.String()}}, Value: 180,
				})
			}
			modeltest.AddSeries(w.query(nodeA).Process.Metrics, "milvus_querynode_consume_tt_lag_ms", model.Series{
				Labels: []model.Pair{{Key: "collection_id", Value: collection}, {Key: "msg_type", Value: "insert"}, {Key: "node_id", Value: nodeA.String()}}, Value: float64(lag.Milliseconds()),
			})
		}
	}
	hold(t, named("channel-consumption-lag"), []verdict{
		{"two minutes", lagging(2*time.Minute, "1000"), []string{"warning nodes/querynode-4 querynode-4 is 2 min behind in consuming collection docs"}, ""},
		{"ten minutes", lagging(10*time.Minute, "1000"), []string{"error nodes/querynode-4 is 10 min behind"}, ""},
		{"a few hundred milliseconds", lagging(300*time.Millisecond, "1000"), nil, ""},
		{"a series of a collection that it does not lead", lagging(10*time.Minute, "4711"), nil, ""},
		{"by its slowest channel", func(w *world) {
			lagging(0, "1000")(w)
			w.query(nodeB).System = &model.System{Quota: &model.QuotaMetrics{SlowestChannel: wellCh1, SlowestAt: back(40 * time.Second)}}
		}, []string{"warning nodes/querynode-8 is 39 s behind in consuming " + wellCh1}, ""},
		{"all are behind", func(w *world) {
			lagging(2*time.Minute, "1000")(w)
			w.query(nodeB).System = &model.System{Quota: &model.QuotaMetrics{SlowestChannel: wellCh1, SlowestAt: back(40 * time.Second)}}
		}, []string{"warning / all 2 query nodes that lead shards are behind, by up to 2 min"}, ""},
		{"all are behind, and one has just started", func(w *world) {
			lagging(2*time.Minute, "1000")(w)
			w.query(nodeB).System = &model.System{StartedAt: w.now.Add(-20 * time.Second), Quota: &model.QuotaMetrics{SlowestChannel: wellCh1, SlowestAt: back(40 * time.Second)}}
		}, []string{"info nodes/querynode-8 is 39 s behind in consuming " + wellCh1 + ", started 20 s ago", "warning nodes/querynode-4 is 2 min behind in consuming collection docs"}, ""},
		{"a collection that is just being loaded is read on from the checkpoint", func(w *world) {
			lagging(46*time.Second, "1000")(w)
			for i := range w.query(nodeA).Distribution.Channels {
				w.query(nodeA).Distribution.Channels[i].Version = w.now.Add(-6 * time.Second).UnixNano()
			}
		}, []string{"info nodes/querynode-4 is 46 s behind in consuming collection docs, which it was given 6 s ago"}, ""},
		{"a shard that has moved is read on from the checkpoint", func(w *world) {
			lagging(0, "1000")(w)
			for i := range w.query(nodeB).Distribution.Channels {
				w.query(nodeB).Distribution.Channels[i].Version = w.now.Add(-6 * time.Second).UnixNano()
			}
			w.query(nodeB).System = &model.System{Quota: &model.QuotaMetrics{SlowestChannel: wellCh1, SlowestAt: back(40 * time.Second)}}
		}, []string{"info nodes/querynode-8 is 39 s behind in consuming " + wellCh1 + ", which it was given 6 s ago"}, ""},
		{"a shard that is still being loaded is not served", func(w *world) {
			lagging(0, "1000")(w)
			w.query(nodeB).System = &model.System{Quota: &model.QuotaMetrics{SlowestChannel: "by-dev-rootcoord-dml_7_1001v0", SlowestAt: back(40 * time.Second)}}
		}, nil, ""},
		{"what it has had is behind, and what it was given hides nothing", func(w *world) {
			lagging(46*time.Second, "1000")(w)
			w.query(nodeA).Distribution.Channels = append(w.query(nodeA).Distribution.Channels, model.ServedChannel{Name: "by-dev-rootcoord-dml_7_1001v0", Collection: 1001, Version: w.now.Add(-6 * time.Second).UnixNano()})
			w.query(nodeA).System = &model.System{Quota: &model.QuotaMetrics{SlowestChannel: "by-dev-rootcoord-dml_7_1001v0", SlowestAt: back(70 * time.Second)}}
		}, []string{"warning nodes/querynode-4 is 46 s behind in consuming collection docs"}, ""},
		{"a slow node makes others wait for the end of the questions", func(w *world) {
			lagging(0, "1000")(w)
			w.runtime.From = w.runtime.To.Add(-20 * time.Second)
			w.query(nodeB).System = &model.System{Quota: &model.QuotaMetrics{SlowestChannel: wellCh1, SlowestAt: back(20 * time.Second)}}
		}, nil, ""},
		{"one that tells neither", func(w *world) {
			lagging(0, "1000")(w)
			w.query(nodeB).Process.Metrics.Families = nil
		}, nil, "querynode-8: consumption of its channels"},
		{"no metrics", (*world).serve, nil, "no process reported its metrics"},
	})
}
