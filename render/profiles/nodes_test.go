package profiles

import (
	"math"
	"time"

	"kitescope/profile"
	"kitescope/profile/report"
	"kitescope/render/rendertest"
)

func nodePart(name string, value, events int64, share, low, high float64) report.Part {
	return report.Part{Name: name, Value: value, Events: events, Part: share, Low: low, High: high}
}

func nodeShares(node string, cores float64, load report.Load, parts ...report.Part) report.NodeShares {
	h := cpuHeader()
	h.Origin = profile.Origin{Name: node + ".cpu.pb.gz", Format: "pprof", Node: node, Role: "querynode"}
	h.Total, h.Samples = int64(cores*30e9), int64(cores*3000)
	return report.NodeShares{
		Header: h, Node: node, Cores: cores, Others: 1, LoadP: 0.2, Load: load, Classes: parts,
		Activities: []report.Part{nodePart("search", 1e9, 100, 0.1, 0.08, 0.12), nodePart("gc", 1e9, 100, 0.1, 0.08, 0.12)},
		BruteForce: report.BruteForce{Known: node != rendertest.HostileName, Why: "libknowhere has no names", Part: nodePart("", 5e8, 50, 0.71, 0.68, 0.74), Knowhere: nodePart("", 1e9, 100, 0.8, 0.7, 0.9), Named: 0.25},
	}
}

func sampleNodes() *report.Nodes {
	unknown := nodeShares(rendertest.HostileName, 0, report.LoadUnknown)
	unknown.Cores, unknown.Others, unknown.LoadP, unknown.Samples, unknown.Duration, unknown.Time = math.NaN(), math.NaN(), math.NaN(), -1, 0, time.Time{}
	unknown.Classes = []report.Part{nodePart("go", 5e8, -1, math.NaN(), math.NaN(), math.NaN())}
	return &report.Nodes{
		Type: profile.ValueType{Type: "cpu", Unit: "nanoseconds"}, Level: 0.01, Effect: 0.02,
		Roles: []report.RoleShares{{
			Role: "querynode",
			Nodes: []report.NodeShares{
				nodeShares("querynode-3", 1.6, report.LoadHigh, nodePart("native libknowhere.so", 30e9, 3000, 0.71, 0.69, 0.73), nodePart("gc", 2e9, 200, 0.04, 0.03, 0.05)),
				nodeShares("querynode-4", 0.02, report.LoadIdle, nodePart("runtime", 3e8, 30, 0.5, 0.3, 0.7)),
				unknown,
			},
			Differences: []report.Difference{
				{Node: "querynode-3", Name: "search through OpenMP", Kind: "activity", Here: nodePart("", 30e9, 3000, 0.71, 0.69, 0.73), Others: nodePart("", 1e9, 100, 0.12, 0.1, 0.14), P: 1e-9, Verdict: report.More},
				{Node: rendertest.HostileName, Name: rendertest.HostileName, Kind: "function", Here: nodePart("", 0, 0, 0, 0, 0.03), Others: nodePart("", 1e9, 100, 0.12, 0.1, 0.14), P: 0.004, Verdict: report.Less},
			},
		}},
	}
}

func sampleTrend() *report.Trend {
	mover := func(name string, slope, change, p float64, v report.Verdict, shares ...float64) report.Mover {
		m := report.Mover{Function: name, Class: profile.GoCode, Slope: slope, Change: change, P: p, Verdict: v}
		for _, s := range shares {
			m.Parts = append(m.Parts, nodePart(name, int64(s*10e9), int64(s*1000), s, max(0, s-0.02), s+0.02))
		}
		return m
	}
	record := report.NodeTrend{Node: "querynode-3", Timed: true}
	for i := range 5 {
		h := cpuHeader()
		h.Time = h.Time.Add(time.Duration(i) * 10 * time.Minute)
		record.Points = append(record.Points, report.TrendPoint{Header: h, Cores: 0.3 + 0.1*float64(i)})
	}
	record.Movers = []report.Mover{
		mover("runtime.mapassign", 0.3, 0.2, 1e-7, report.More, 0.01, 0.05, 0.1, 0.16, 0.21),
		mover(rendertest.LongName, -0.1, -0.07, 0.002, report.Less, 0.2, 0.18, 0.17, 0.15, 0.13),
		mover("runtime.mallocgc", 0.001, 0.0007, 1, report.Noise, 0.1, 0.11, 0.09, 0.1, 0.1),
	}
	nan := math.NaN()
	record.Movers[2].Parts[1] = report.Part{Name: "runtime.mallocgc", Events: -1, Part: nan, Low: nan, High: nan}
	return &report.Trend{
		Type: record.Points[0].Type, Level: 0.01,
		Nodes: []report.NodeTrend{record, {
			Node: rendertest.HostileName, Points: []report.TrendPoint{{Header: heapTop().Header, Cores: nan}},
			Movers: []report.Mover{mover(rendertest.HostileName, nan, nan, nan, report.Undecided, 0.5)},
		}},
	}
}
