package replay_test

import (
	"math"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
	"kitescope/replay"
	"kitescope/replay/load"
)

var began = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// used is the state of a process: seconds of CPU, and the number of searches it answered, 20 ms each.
type used struct{ cpu, searches float64 }

func scrape(at time.Time, u used) *model.Metrics {
	m := modeltest.Scrape(at, map[string][]model.Series{
		"process_cpu_seconds_total":     {{Value: u.cpu}},
		"process_start_time_seconds":    {{Value: 1}},
		"go_memstats_alloc_bytes_total": {{Value: 1000 * u.cpu}},
	})
	if u.searches > 0 {
		m.Families["milvus_proxy_sq_latency"] = &model.Family{
			Name: "milvus_proxy_sq_latency", Kind: model.MetricHistogram, Bounds: []float64{16, 32},
			Series: []model.Series{{
				Labels: []model.Pair{{Key: "node_id", Value: "3"}, {Key: "query_type", Value: "search"}},
				Count:  u.searches, Value: 20 * u.searches, Buckets: []float64{0, u.searches},
			}},
		}
	}
	return m
}

// process is a session with the state of its process before and after a load.
type process struct {
	role          string
	node          model.NodeID
	address       string
	before, after used
}

func servedCluster(from time.Time, took time.Duration, list ...process) *model.Cluster {
	r := model.RuntimeParts{}
	for _, p := range list {
		x := &model.Process{
			Address: p.address, Outcome: model.Answered,
			Before: scrape(from, p.before), Metrics: scrape(from.Add(took), p.after),
		}
		r.Processes = append(r.Processes, x)
		r.Nodes = append(r.Nodes, &model.LiveNode{
			Role: p.role, Node: p.node, Address: p.address, Outcome: model.Answered, Process: x,
			System: &model.System{CPUs: 4},
		})
	}
	return model.Build(model.Parts{}).WithRuntime(model.BuildRuntime(r))
}

func TestServerUsage(t *testing.T) {
	idle := servedCluster(began.Add(-time.Minute), 2*time.Second,
		process{"querynode", 1, "10.0.0.1:21123", used{cpu: 10}, used{cpu: 10.1}},
		process{"proxy", 3, "127.0.0.1:19530", used{5, 100}, used{5.02, 101}})
	s, err := replay.ServerUsage(servedCluster(began, 10*time.Second,
		process{"querynode", 1, "10.0.0.1:21123", used{cpu: 20}, used{cpu: 24.5}},
		process{"querynode", 2, "192.168.7.9:21123", used{cpu: 30}, used{cpu: 31}},
		process{"proxy", 3, "127.0.0.1:19530", used{6, 200}, used{6.5, 400}}), idle,
		[]net.IP{net.ParseIP("192.168.7.9")})
	if err != nil {
		t.Fatal(err)
	}
	if s.Took != 10*time.Second || s.Requests != 200 {
		t.Errorf("%v requests in %v", s.Requests, s.Took)
	}
	want := []load.Process{
		{Role: "proxy", Node: 3, Name: "proxy-3", Here: true, Cores: 4, CPU: 500 * time.Millisecond, Idle: 0.01},
		{Role: "querynode", Node: 1, Name: "querynode-1", Cores: 4, CPU: 4500 * time.Millisecond, Idle: 0.05},
		{Role: "querynode", Node: 2, Name: "querynode-2", Here: true, Cores: 4, CPU: time.Second, Idle: -1}, // new
	}
	for i, p := range s.Processes {
		w := want[i]
		if math.Abs(p.Idle-w.Idle) > 1e-9 || (p.CPU-w.CPU).Abs() > time.Microsecond {
			t.Errorf("%s used %v and idle %v, want %v and %v", p.Name, p.CPU, p.Idle, w.CPU, w.Idle)
		}
		p.Idle, p.CPU = w.Idle, w.CPU
		if p != w {
			t.Errorf("process %d is %+v, want %+v", i, p, w)
		}
	}
	if p := s.Find("total"); p == nil || (p.Wait-20*time.Millisecond).Abs() > time.Millisecond || len(p.Nodes) != 1 ||
		p.Nodes[0].Node != 3 || p.Nodes[0].Calls != 1 {
		t.Errorf("the whole request is %+v", p)
	}
	if s.Find("no such phase") != nil {
		t.Error("a phase was found that there is not")
	}
}

func TestServerUsageErrors(t *testing.T) {
	node := process{"querynode", 1, "10.0.0.1:21123", used{cpu: 20}, used{cpu: 24.5}}
	once := servedCluster(began, 10*time.Second, node)
	once.Runtime.Processes[0].Before = nil
	mute := servedCluster(began, 10*time.Second, node)
	mute = mute.WithRuntime(model.BuildRuntime(model.RuntimeParts{
		Processes: mute.Runtime.Processes,
		Nodes: append(mute.Runtime.Nodes, &model.LiveNode{
			Role: "proxy", Node: 3, Address: "10.0.0.3:19530", Reason: "its port is unknown",
		}),
	}))
	for why, c := range map[string]*model.Cluster{
		"the processes of the cluster were not queried":         model.Build(model.Parts{}),
		"no process returned metrics before and after the load": once,
		"proxy-3 returned no metrics: its port is unknown":      mute,
		"its proxies counted no searches during the load: is the target an": servedCluster(began, 10*time.Second, node,
			process{"proxy", 3, "10.0.0.3:19530", used{6, 200}, used{6.5, 200}}),
	} {
		if s, err := replay.ServerUsage(c, nil, nil); err == nil || !strings.HasPrefix(err.Error(), why) {
			t.Errorf("%v, %v, want %s", s, err, strconv.Quote(why))
		}
	}
}
