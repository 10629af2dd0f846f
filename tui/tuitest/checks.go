package tuitest

import (
	"kitescope/inspect/check"
	"kitescope/inspect/model"
)

// FixtureCheck returns a check that reports the findings, but only for the cluster of FixtureParts.
func FixtureCheck(id, title string, worst check.Severity, findings ...check.Finding) *check.Check {
	return &check.Check{
		ID: id, Title: title, Severity: worst, Parts: model.PartSegments,
		Doc: "Looked at: what `" + id +
			"` reads of a cluster. A finding is what is not as it should be; no finding is what will be well in a " +
			"moment.",
		Remedy: "Do what the hint says:\n\n    etcdctl put by-dev/config/queryCoord/autoBalance true\n",
		Run: func(p *check.Pass) {
			if p.Collection(FirstID) == nil { // a captured cluster, which the findings are not about
				return
			}
			for _, f := range findings {
				p.Report(f)
			}
		},
	}
}

// FixtureChecks returns checks that find a tree of causes, hostile names and a problem of the whole cluster. One
// check is skipped, one fails, and one sees only part of the data.
func FixtureChecks() []*check.Check {
	docs := model.Ref{Resource: "collections", ID: "470590760626290000", Name: "docs_hnsw_cos"}
	off := FixtureCheck("auto-balance-off", "Auto-balance is off while replicas are uneven", check.Warning,
		check.Finding{
			Severity: check.Warning, Object: docs, Message: "auto-balance is off while docs_hnsw_cos is uneven",
			Impact: "nodes that join stay idle",
			Fix: []check.Step{
				{
					Command: "etcdctl --endpoints=127.0.0.1:2379 put by-dev/config/queryCoord/autoBalance true",
					Text:    "turns it on within 8 s",
				},
				{
					Command: "from pymilvus import utility\nutility.load_balance(7, [9], [470590760626290042], " +
						"'docs_hnsw_cos')",
					Python: true, Text: "moves a segment by hand",
				},
			},
			Evidence: []check.Evidence{
				{Name: "queryCoord.autoBalance", Value: "false", Source: "querycoord-3 ShowConfigurations"},
			},
		})
	uneven := FixtureCheck("uneven", "Nodes share the work of a replica unevenly", check.Error, check.Finding{
		Severity: check.Error, Object: docs, Cost: 0.293,
		Message: "docs_hnsw_cos is served unevenly: querynode-7 does 59% of the search work of 3 nodes, querynode-9 " +
			"nothing at all, and has not for 26 min",
		Impact: "searches wait for the busiest node: 1.77 times the work of an even spread",
		Fix:    []check.Step{{Command: "kitescope balance docs_hnsw_cos --plan", Text: "lists the moves"}},
		Evidence: []check.Evidence{
			{Name: "max/mean of search work", Value: "1.77"},
			{Name: "sealed segments", Value: "10, 11, 0", Source: "GetDataDistribution"},
		},
		Objects: []model.Ref{
			{Resource: "nodes", ID: "querynode-7", Name: "querynode-7"},
			{Resource: "nodes", ID: "querynode-9", Name: "querynode-9"},
		},
	})
	uneven.FollowsFrom = []check.Cause{{Check: "auto-balance-off"}}
	idle := FixtureCheck("idle-node", "Query node is idle while others are busy", check.Warning, check.Finding{
		Severity: check.Warning, Object: model.Ref{Resource: "nodes", ID: "querynode-9", Name: "querynode-9"},
		Message: "querynode-9 is idle: 0 of 21 segments", Cost: 0.1,
	})
	idle.FollowsFrom = []check.Cause{{Check: "uneven"}}
	evil := FixtureCheck("odd-name", "Collection has an odd name", check.Info, check.Finding{
		Severity: check.Info,
		Object:   model.Ref{Resource: "collections", ID: "470590760626290500", Name: "evil\x1b[31mred\x07"},
		Message:  "collection evil\x1b[31mred\x07 图像向量检索库 has an odd name",
		Fix:      []check.Step{{Text: "rename \u202eit"}},
	}, check.Finding{Severity: check.Info, Message: "the whole cluster is meant"})
	run := evil.Run
	evil.Run = func(p *check.Pass) {
		p.NoteUnseen("querynode-8: timed out")
		run(p)
	}
	growing := FixtureCheck("growing-flushed", "Flushed segment is still served as growing", check.Error)
	growing.Needs = check.NeedDistribution
	broken := FixtureCheck("broken", "Never found", check.Warning)
	broken.Run = func(*check.Pass) { panic("no such luck \x1b[2J") }
	return []*check.Check{off, uneven, idle, evil, growing, broken, FixtureCheck("quiet", "Nothing", check.Error)}
}

// HealthyChecks returns checks without findings.
func HealthyChecks() []*check.Check {
	return []*check.Check{
		FixtureCheck("quiet", "Nothing", check.Error), FixtureCheck("calm", "Nothing either", check.Error),
	}
}

// BlindChecks returns two checks without findings. One cannot run.
func BlindChecks() []*check.Check {
	x := FixtureCheck("growing-flushed", "Flushed segment is still served as growing", check.Error)
	x.Needs = check.NeedDistribution
	return []*check.Check{x, FixtureCheck("quiet", "Nothing", check.Error)}
}
