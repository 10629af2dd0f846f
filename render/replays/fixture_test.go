package replays

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"kitescope/engine"
	"kitescope/engine/segment"
	"kitescope/render/rendertest"
	"kitescope/replay"
	"kitescope/replay/load"
	"kitescope/replay/log"
	"kitescope/replay/whatif"
)

var replayTaken = time.Date(2026, 11, 20, 8, 29, 58, 0, time.UTC)

// A cluster of three nodes with 50 segments, including 12 growing ones on querynode-1.
const (
	fixtureSegments = 50
	fixtureGrowing  = 12
)

func fixtureState(i int) replay.State {
	switch {
	case i < fixtureGrowing:
		return replay.Growing
	case i < fixtureGrowing+3:
		return replay.Unindexed
	}
	return replay.Indexed
}

func fixtureNode(i int) int64 {
	if i < fixtureGrowing {
		return 1
	}
	return int64(1 + i%3)
}

func fixtureRows(i int) int64 {
	switch fixtureState(i) {
	case replay.Growing:
		return int64(9000 + 700*i)
	case replay.Unindexed:
		return int64(30_000 + 1000*i)
	case replay.Indexed:
	}
	return int64(61_000 + 913*(i*7%11))
}

func fixtureSetup() replay.Setup {
	return replay.Setup{
		Command: "kitescope 0.7.0: kitescope replay run --collection docs --log queries.npy --ef 64 --sessions 8",
		Program: "0.7.0", Source: "etcd://10.0.0.5:2379/by-dev",
		Storage: "s3://milvus-bucket/files at minio:9000", Target: "engine", Collection: "docs", Milvus: "2.3.1",
		Metric: "L2", Dim: 128, Element: "float32",
		Log: "queries.npy", LogFormat: "npy",
		LogDigest: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", Queries: 10_000,
		Replica: 470590569932853001,
		Machine: replay.Machine{
			CPU: "AMD EPYC 7B13", Cores: 16, OS: "linux", Arch: "amd64", Kernels: "avx512", GoVersion: "go1.26.0",
		},
	}
}

// fixtureLatency returns a distribution with a long tail: most requests are near the median, and one in fifty
// is much slower.
func fixtureLatency(median time.Duration, count int64, seed uint64) load.Latency {
	r := rand.New(rand.NewPCG(seed, 7))
	list := make([]time.Duration, 4000)
	sum := 0.0
	for i := range list {
		f := math.Exp(0.22 * r.NormFloat64())
		if r.IntN(50) == 0 {
			f *= 3 + 2*r.Float64()
		}
		list[i] = time.Duration(f * float64(median)).Round(time.Microsecond)
		sum += float64(list[i])
	}
	slices.Sort(list)
	at := func(q float64) time.Duration { return list[int(q*float64(len(list)-1))] }
	l := load.Latency{
		Count: count, Mean: time.Duration(sum / float64(len(list))).Round(time.Microsecond), Min: list[0],
		Max: list[len(list)-1],
		P50: at(0.5), P90: at(0.9), P95: at(0.95), P99: at(0.99), P999: at(0.999), SD: median / 3,
	}
	up := l.Min
	for up < l.Max {
		up = min(l.Max, time.Duration(1.05*float64(up)).Round(time.Microsecond)+time.Microsecond)
		before := 0
		for _, b := range l.Bars {
			before += int(b.Count)
		}
		here, _ := slices.BinarySearch(list, up+1)
		if n := int64(here - before); n > 0 {
			l.Bars = append(l.Bars, load.Bar{UpTo: up, Count: n})
		}
	}
	for i := range l.Bars {
		l.Bars[i].Count *= count / 4000
	}
	return l
}

// fixturePoint returns the point of a server with 16 cores: QPS increases with the number of sessions until all
// cores are busy, and latency from there on.
func fixturePoint(sessions, ef, rounds int) load.Point {
	lone := time.Duration(420+9*ef) * time.Microsecond
	busy := 16 * (1 - math.Exp(-float64(sessions)/14)) // cores
	qps := math.Round(busy / lone.Seconds())
	median := time.Duration(float64(sessions) / qps * 1e9).Round(time.Microsecond)
	p := load.Point{
		Plan: load.Plan{Sessions: sessions, Rounds: rounds, Round: 10 * time.Second}, EF: ef, K: 10,
		Recall: 1 - 2.6/float64(ef)/math.Sqrt(float64(ef)), RecallLow: 1 - 2.7/float64(ef)/math.Sqrt(float64(ef)),
		RecallHigh: 1 - 2.5/float64(ef)/math.Sqrt(float64(ef)),
		QPS:        qps, Open: sessions,
		Latency:     fixtureLatency(median, int64(qps)*10*int64(rounds)/4000*4000+4000, uint64(1000*ef+sessions)),
		CPUPerQuery: lone, SwitchesPerQuery: 1.2 + 0.05*float64(sessions), DistancesPerQuery: 152_300 + 41*float64(ef),
	}
	for i := range rounds {
		p.Repeats = append(p.Repeats, load.Round{
			Took: 10 * time.Second, QPS: qps * (1 + 0.01*float64(i-rounds/2)), Queries: int64(10 * qps),
			Latency: p.Latency, CPU: time.Duration(10 * qps * float64(lone)),
		})
	}
	if rounds > 1 {
		p.QPSLow, p.QPSHigh = math.Round(qps*0.98), math.Round(qps*1.02)
	}
	p.Asked = p.Latency.Count
	return p
}

func fixtureCosts() *replay.Costs {
	c := &replay.Costs{Queries: 50_000, Reduce: 1300 * time.Millisecond}
	for i := range fixtureSegments {
		s := replay.SegmentCost{
			Segment: 470590569932852600 + int64(i), Partition: "_default",
			Channel: fmt.Sprintf("by-dev-rootcoord-dml_%d_470v%d", i%2, i%2), State: fixtureState(i),
			Node: fixtureNode(i), NodeName: fmt.Sprintf("querynode-%d", fixtureNode(i)), Rows: fixtureRows(i),
			Queries: c.Queries,
		}
		switch s.State {
		case replay.Indexed:
			s.Index, s.EF = "HNSW", 64
			s.Distances = 1450 * c.Queries
			s.Time = time.Duration(61+i%5) * time.Microsecond * time.Duration(c.Queries)
		default:
			s.Distances = s.Rows * c.Queries
			s.Time = time.Duration(s.Rows) * 19 * time.Nanosecond * time.Duration(c.Queries)
		}
		if i%9 == 0 {
			s.Deleted = s.Rows / 40
		}
		c.Wall += s.Time
		c.Segments = append(c.Segments, s)
	}
	slices.SortStableFunc(c.Segments, func(a, b replay.SegmentCost) int { return int(b.Time - a.Time) })
	return c
}

func fixtureRun() *replay.Result {
	p := fixturePoint(8, 64, 5)
	r := &replay.Result{
		Version: 1, Kind: "run", Taken: replayTaken, Setup: fixtureSetup(), Points: []load.Point{p},
		Costs: fixtureCosts(),
		Cover: replay.Coverage{
			Segments: fixtureSegments, Loaded: fixtureSegments, Bytes: 1_340_000_000, Memory: 1_410_000_000,
			Took: 2100 * time.Millisecond, Deleted: 11_204,
		},
		Recall: &replay.Recall{
			K: 10, Queries: 10_000, Mean: 0.98731, Low: 0.98655, High: 0.98807, Worst: 0.4, WorstQuery: 771,
			Against: "exact, by the engine",
		},
		Differences: &replay.Differences{
			Against: "Milvus 2.3.1 at 10.0.0.9:19530", Queries: 1000, Hits: 10_000, Equal: 9987, SameSet: 9994,
			BitEqual:  9987,
			Explained: map[string]int{"equal distance": 9, "row not in storage": 3},
			Examples: []replay.Difference{
				{
					Query: 17, Place: 3, Want: load.Hit{Key: engine.NumberKey(4711), Distance: 0.25},
					Got: load.Hit{Key: engine.NumberKey(4712), Distance: 0.25}, Reason: "equal distance",
				},
			},
		},
	}
	for i := range fixtureSegments {
		r.Cover.Rows += fixtureRows(i)
	}
	r.Cover.Covered = r.Cover.Rows
	for i := range 5 {
		q := replay.SlowQuery{Request: 900 - 13*i, Took: time.Duration(9000-700*i) * time.Microsecond}
		for j := range 10 {
			q.Segments = append(q.Segments, replay.SegmentTime{
				Segment: 470590569932852600 + int64(14-j), Node: fixtureNode(14 - j), State: fixtureState(14 - j),
				Took: time.Duration(1900-150*j-9*i) * time.Microsecond, Distances: int(fixtureRows(14 - j)),
			})
		}
		r.Slowest = append(r.Slowest, q)
	}
	return r
}

// fixtureTrouble returns a run with all kinds of errors and hostile names.
func fixtureTrouble() *replay.Result {
	r := fixtureRun()
	r.Setup.Collection, r.Setup.Log, r.Setup.Target = rendertest.HostileName, rendertest.HostileName+"<script>.npy",
		"milvus "+rendertest.HostileName
	r.Stopped = "interrupted " + rendertest.HostileName
	r.Notes = []string{"3 queries have NaN and were left out", rendertest.HostileName + "<b>&amp;"}
	r.Cover.Loaded, r.Cover.Covered, r.Cover.RowsUnknown = 37, r.Cover.Rows-400_000, 2
	for i := range 13 {
		m := replay.Missing{
			Segment: 470590569932852600 + int64(i), State: fixtureState(i), Rows: fixtureRows(i),
			Reason: "insert_log/470/471/472/100/1: truncated " + rendertest.HostileName,
		}
		if i%5 == 4 {
			m.Rows = -1
		}
		if i == 0 { // only the index is missing
			m.State, m.Rows, m.Of, m.Reason = replay.Indexed, 0, 22_000,
				"searched row by row: IVF_PQ is not searched here"
		}
		r.Cover.Missing = append(r.Cover.Missing, m)
	}
	p := &r.Points[0]
	p.Rate, p.Poisson, p.Late = 2500, true, 1
	p.Failed, p.Asked = 6100, p.Asked+6100
	p.FailedLatency = load.Latency{
		Count: 6100, Mean: 2 * time.Millisecond, P50: time.Millisecond, P99: 10 * time.Second, Max: 10 * time.Second,
	}
	p.Errors = map[string]int64{"deadline exceeded": 6000, "unavailable " + rendertest.HostileName: 99, "a": 1}
	p.CPUPerQuery, p.SwitchesPerQuery, p.DistancesPerQuery, p.Recall = 0, 0, 0, -1
	p.Stopped = "the target stopped answering"
	p.Sessions, p.Open, p.Unsent, p.Waited, p.Notes = 8, 5, 4000, fixtureLatency(40*time.Microsecond, 4000, 9),
		[]string{"could not open 3 sessions: refused " + rendertest.HostileName}
	r.Differences.Explained[rendertest.HostileName] = 1
	r.Recall.Unseen = 0.54
	r.Differences.Equal, r.Differences.BitEqual = 9900, 9891
	r.Differences.Examples = append(r.Differences.Examples, replay.Difference{
		Query: 1, Want: load.Hit{Key: engine.TextKey(rendertest.HostileName)}, GotNone: true,
	})
	c := r.Costs
	c.Segments[0].NodeName, c.Segments[0].Index, c.Segments[0].Partition = rendertest.HostileName,
		rendertest.HostileName, rendertest.HostileName+"<i>"
	c.Segments[1].Node, c.Segments[1].NodeName, c.Segments[1].Rows = 0, "", -1
	r.Slowest[0].Segments = nil
	return r
}

// fixtureLive returns a run against a server, for which the costs of segments are unknown.
func fixtureLive() *replay.Result {
	r := fixtureRun()
	r.Setup.Target, r.Setup.Storage = "Milvus 2.3.1 at 10.0.0.9:19530", ""
	r.Cover, r.Costs, r.Recall, r.Differences, r.Slowest = replay.Coverage{}, nil, nil, nil, nil
	p := fixturePoint(1, 64, 1)
	p.DistancesPerQuery, p.CPUPerQuery, p.SwitchesPerQuery, p.Recall = 0, 0, 0, -1
	r.Points = []load.Point{p}
	return r
}

func fixtureSweep() *replay.Result { return fixtureRounds(5) }

func fixtureRounds(rounds int) *replay.Result {
	r := fixtureRun()
	r.Kind, r.Points, r.Differences = "sweep", nil, nil
	for _, ef := range []int{16, 32, 64, 128} {
		for _, sessions := range []int{1, 2, 4, 8, 16, 32, 48} {
			r.Points = append(r.Points, fixturePoint(sessions, ef, rounds))
		}
	}
	return r
}

// fixtureAfter returns the sweep on the same cluster with all segments indexed. It is faster, but not measurably
// at ef 16.
func fixtureAfter() *replay.Result { return fixtureIndexed(fixtureSweep()) }

// fixturePair returns results with enough rounds for verdicts.
func fixturePair() (base, now *replay.Result) {
	base, now = fixtureRounds(12), fixtureIndexed(fixtureRounds(12))
	base.Points, now.Points = base.Points[4:16], slices.Concat(now.Points[4:15], now.Points[27:])
	now.Setup.Program = "0.8.0"
	return base, now
}

func fixtureIndexed(r *replay.Result) *replay.Result {
	r.Taken = r.Taken.Add(2 * time.Hour)
	for i := range r.Points {
		p := &r.Points[i]
		f := []float64{1.004, 1.31, 1.42, 1.5}[i/7]
		p.QPS, p.QPSLow, p.QPSHigh = math.Round(p.QPS*f), math.Round(p.QPSLow*f), math.Round(p.QPSHigh*f)
		for j := range p.Repeats {
			p.Repeats[j].QPS *= f
			p.Repeats[j].CPU = time.Duration(float64(p.Repeats[j].CPU) / f)
		}
		for j := range p.Repeats {
			l := &p.Repeats[j].Latency
			g := f * (1 + 0.03*float64(j-2))
			l.P50, l.P99 = time.Duration(float64(l.P50)/g).Round(time.Microsecond),
				time.Duration(float64(l.P99)/g).Round(time.Microsecond)
		}
		p.Latency = fixtureLatency(time.Duration(float64(p.Latency.P50)/f).Round(time.Microsecond), p.Latency.Count,
			uint64(1000*p.EF+p.Sessions))
		p.CPUPerQuery = time.Duration(float64(p.CPUPerQuery) / f).Round(time.Microsecond)
	}
	for i := range r.Costs.Segments {
		s := &r.Costs.Segments[i]
		s.State, s.Index, s.EF = replay.Indexed, "HNSW", 64
		s.Time, s.Distances = min(s.Time, 63*time.Microsecond*time.Duration(s.Queries)), 1450*s.Queries
	}
	return r
}

func fixtureOutcome(maxQPS float64, sessions int, cpu time.Duration, uses ...float64) whatif.Outcome {
	qps := math.Round(min(maxQPS, float64(sessions)/cpu.Seconds()*3))
	rt := time.Duration(float64(sessions) / qps * 1e9).Round(time.Microsecond)
	x := whatif.Outcome{
		QPS: qps, Mean: rt, P50: rt * 9 / 10, P95: rt * 17 / 10, P99: rt * 23 / 10, Bound: "node querynode-1's cores",
	}
	for i, use := range uses {
		x.Nodes = append(x.Nodes, whatif.NodeOutcome{
			ID: int64(i + 1), Name: fmt.Sprintf("querynode-%d", i+1), Use: use, Segments: 16,
		})
	}
	return x
}

func fixtureWhatIf() *whatif.Report {
	r := &whatif.Report{
		Load: whatif.Load{Sessions: 16, NQ: 1, K: 10, Seed: 1}, Setup: fixtureSetup(), Cover: fixtureRun().Cover,
		Check: whatif.Check{
			FitMedian: 0.031, FitWorst: 0.142,
			Calibrated: "live.json", Live: []whatif.CheckPoint{{
				Sessions: 16, MeasuredQPS: 1094, PredictedQPS: 1510, MeasuredP99: 31 * time.Millisecond,
				PredictedP99: 24_380 * time.Microsecond,
				MeasuredMean: 14_600 * time.Microsecond, PredictedMean: 10_596 * time.Microsecond,
			}},
		},
		Notes: []string{"3 of 50 segments were not built here: their costs are of the model"},
	}
	predict := func(
		name string, most, base float64, cost whatif.Cost, modelled, recall float64, uses ...float64,
	) whatif.Prediction {
		p := whatif.Prediction{
			Change: fixtureChange(name),
			Layout: whatif.Segments{Replicas: 1, Segments: 50, Growing: 4, Unindexed: 6, Indexed: 40, Rows: 1_234_567},
			Cost:   cost, Most: most, Gain: most / base, Measured: modelled == 0, Modelled: modelled, Recall: recall,
		}
		out := fixtureOutcome(most, 16, cost.CPU, uses...)
		p.Outcome = &out
		if name != "" {
			p.AtLoad = whatif.Range{Gain: most / base, Low: most / base * 0.8, High: most / base * 1.3}
		}
		if r.Base.Outcome != nil {
			p.GainAtLoad = out.QPS / r.Base.Outcome.QPS
		}
		return p
	}
	micro := func(n int) time.Duration { return time.Duration(n) * time.Microsecond }
	r.Base = predict("", 1510, 1510,
		whatif.Cost{
			CPU: micro(7750), Growing: micro(2917), Unindexed: micro(2451), Indexed: micro(2382), Critical: micro(4712),
			Node: "querynode-1",
		}, 0, 0.9873, 0.97, 0.41, 0.38)
	r.Base.Gain = 1
	r.Others = []whatif.Prediction{
		predict("index", 3402, 1510,
			whatif.Cost{CPU: micro(3240), Indexed: micro(3240), Critical: micro(1570), Node: "querynode-1"}, 0.19,
			0.9841, 0.96, 0.66, 0.65),
		predict("balance", 2190, 1510,
			whatif.Cost{
				CPU: micro(7750), Growing: micro(2917), Unindexed: micro(2451), Indexed: micro(2382),
				Critical: micro(3010), Node: "querynode-1",
			}, 0, 0.9873, 0.96, 0.93, 0.92),
		predict("index,balance,nodes=+1", 5020, 1510,
			whatif.Cost{CPU: micro(3240), Indexed: micro(3240), Critical: micro(840), Node: "querynode-2"}, 0.19,
			0.9841, 0.95, 0.96, 0.94, 0.95),
		predict("ef=32", 1603, 1510,
			whatif.Cost{
				CPU: micro(7060), Growing: micro(2917), Unindexed: micro(2451), Indexed: micro(1692),
				Critical: micro(4470), Node: "querynode-1",
			}, 0, 0.9511, 0.97, 0.36, 0.34),
		predict("scale=100", 14.2, 1510,
			whatif.Cost{
				CPU: micro(775_000), Growing: micro(2917), Unindexed: micro(2451), Indexed: micro(769_632),
				Critical: micro(471_200), Node: "querynode-3",
			}, 0.99, -1, 0.97, 0.95, 0.94),
	}
	// 16 sessions cannot keep four nodes busy
	r.Others[2].Outcome.QPS, r.Others[2].GainAtLoad = 1710, 1710/r.Base.Outcome.QPS
	r.Others[4].Outcome.Saturated = true
	r.Others[4].Notes = []string{"recall at this size is unknown"}
	return r
}

func fixtureChange(name string) whatif.Change {
	c, err := whatif.ParseChange(name)
	if err != nil {
		return whatif.Change{Name: name}
	}
	return c
}

func fixtureLayout() *replay.Layout {
	l := &replay.Layout{
		Source: "etcd://10.0.0.5:2379/by-dev", Taken: replayTaken, Version: "2.3.1", Root: "files",
		Collection: replay.Collection{
			ID: 470590569932850000, Name: "docs", Database: "default", VectorField: "embedding", KeyField: "id",
			Dim: 128, Index: replay.Index{Type: "HNSW", M: 16, EFConstruction: 200},
		},
		Storage: replay.Storage{Kind: "remote", Endpoint: "minio:9000", Bucket: "milvus-bucket"},
		Replicas: []replay.Replica{
			{
				ID: 470590569932853001, Nodes: []int64{1, 2, 3},
				Leaders: map[string]int64{"by-dev-rootcoord-dml_0_470v0": 1, "by-dev-rootcoord-dml_1_470v1": 1},
			},
		},
		L0: []replay.Deletes{
			{
				Segment: 470590569932852700, Partition: -1, Channel: "by-dev-rootcoord-dml_0_470v0",
				Files: []string{"delta_log/1"},
			},
		},
	}
	for id := range int64(4) {
		n := replay.Node{ID: id + 1, Name: fmt.Sprintf("querynode-%d", id+1), Cores: 16}
		if id == 3 {
			n.Cores = 0
		}
		l.Nodes = append(l.Nodes, n)
	}
	for i := range fixtureSegments {
		s := replay.Segment{
			ID: 470590569932852600 + int64(i), Partition: 470590569932850001, PartitionName: "_default",
			Channel: fmt.Sprintf("by-dev-rootcoord-dml_%d_470v%d", i%2, i%2),
			State:   fixtureState(i), Rows: fixtureRows(i), On: []int64{fixtureNode(i)},
			Files: &segment.Files{
				Insert: map[int64][]string{0: {"a"}, 1: {"b"}, 100: {"c"}, 101: {"d", "e"}}, Delta: []string{"f"},
			},
		}
		if s.State == replay.Indexed {
			s.Index = l.Collection.Index
			s.Files.Indexes = []string{"g"}
		}
		if i == 3 {
			s.Files = nil
		}
		if i == 7 {
			s.Rows = -1
		}
		l.Segments = append(l.Segments, s)
	}
	return l
}

// fixtureShape returns ten minutes of a proxy's access log with 40 requests per second and a burst.
func fixtureShape() (*log.Log, *log.Shape) {
	l := &log.Log{
		Name: "access.log", Format: "access", Digest: "00ff", Start: replayTaken,
		Notes: []string{"skipped methods that are not searches: Insert " + rendertest.HostileName},
	}
	for i := range 600 {
		n := 40 + i%7
		if i > 300 && i < 330 {
			n *= 5
		}
		for j := range n {
			l.Requests = append(l.Requests, log.Request{
				NQ: 1, At: time.Duration(i)*time.Second + time.Duration(j)*time.Second/time.Duration(n), Timed: true,
				Took: time.Duration(3+j%11) * time.Millisecond, Failed: i%100 == 3 && j == 0,
			})
		}
	}
	s := l.Shape()
	s.Lines, s.Methods = len(l.Requests)+20_007, map[string]int{
		"Search": len(l.Requests), "Insert": 20_000, rendertest.HostileName: 7,
	}
	s.Statuses = map[string]int{"Successful": len(l.Requests) + 19_971, "Failed": 36}
	return l, s
}
