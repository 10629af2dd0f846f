package rules_test

import (
	"testing"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestConfigDrift(t *testing.T) {
	three := func(w *rulestest.World) (a, b, c *model.LiveNode) {
		w.AddResponses()
		return w.Live("querynode"), w.Another("querynode", 14), w.Another("querynode", 24)
	}
	dynamic := func(name, value string) func(*rulestest.World) {
		return func(w *rulestest.World) {
			w.Config = []*model.ConfigEntry{{Name: name, Value: value}}
			w.SetConfig("queryCoord.autoBalance", "true", w.Live("querycoord"))
		}
	}
	rulestest.RunCases(t, rulestest.ByID("config-drift"), []rulestest.Case{
		{Name: "the same", Change: func(w *rulestest.World) {
			a, b, c := three(w)
			w.SetConfig("queryNode.grouping.maxNQ", "1000", a, b, c)
		}},
		{Name: "a standby MixCoord is not asked by name", Change: func(w *rulestest.World) {
			rulestest.Modern(w)
			w.AddResponses()
			w.SetConfig("dataCoord.enableCompaction", "true", w.Live("mixcoord"))
		}},
		{Name: "written differently", Change: func(w *rulestest.World) {
			a, b, c := three(w)
			w.SetConfig("queryNode.cache.ratio", "1", a, b)
			w.SetConfig("queryNode.cache.ratio", "1.0", c)
		}},
		{
			Name: "one differs", Change: func(w *rulestest.World) {
				a, b, c := three(w)
				w.SetConfig("queryNode.scheduler.maxReadConcurrentRatio", "1", a, b)
				w.SetConfig("queryNode.scheduler.maxReadConcurrentRatio", "4", c)
			},
			Want: []string{
				"warning nodes/querynode-24 querynode-24 differs from querynode-4 and querynode-14 in " +
					"queryNode.scheduler.maxReadConcurrentRatio",
			},
		},
		{Name: "the first differs", Change: func(w *rulestest.World) {
			a, b, c := three(w)
			w.SetConfig("queryNode.x", "1", a)
			w.SetConfig("queryNode.x", "4", b, c)
		}, Want: []string{"warning nodes/querynode-4 querynode-4 differs from querynode-14 and querynode-24"}},
		{Name: "one of two differs", Change: func(w *rulestest.World) {
			w.AddResponses()
			w.SetConfig("queryNode.x", "1", w.Live("querynode"))
			w.SetConfig("queryNode.x", "2", w.Another("querynode", 14))
		}, Want: []string{"warning nodes/querynode-14 querynode-14 and querynode-4 differ in"}},
		{Name: "one does not have it", Change: func(w *rulestest.World) {
			a, b, _ := three(w)
			w.SetConfig("queryNode.x", "1", a, b)
		}, Want: []string{"warning nodes/querynode-24 querynode-24 differs"}},
		{Name: "one does not have it, of another version", Change: func(w *rulestest.World) {
			a, b, c := three(w)
			w.SetConfig("queryNode.x", "1", a, b)
			c.System.Version = "2.4.6"
		}, Skipped: "processes of different versions"},
		{Name: "another default in another version", Change: func(w *rulestest.World) {
			a, b, c := three(w)
			w.SetConfig("queryNode.x", "1", a, b)
			w.SetConfig("queryNode.x", "2", c)
			c.System.Version = "2.5.1"
		}, Skipped: "processes of different versions"},
		{Name: "drift within one of two versions", Change: func(w *rulestest.World) {
			a, b, c := three(w)
			w.SetConfig("queryNode.x", "1", a)
			w.SetConfig("queryNode.x", "2", b)
			c.System.Version = "2.5.1"
		}, Want: []string{"warning nodes/querynode-14 querynode-14 and querynode-4 differ in"}},
		{Name: "only in logging", Change: func(w *rulestest.World) {
			a, b, c := three(w)
			w.SetConfig("log.level", "info", a, b)
			w.SetConfig("log.level", "debug", c)
		}, Want: []string{"info nodes/querynode-24 log.level"}},
		{Name: "its own port, address and directories", Change: func(w *rulestest.World) {
			a, b, c := three(w)
			for i, n := range []*model.LiveNode{a, b, c} {
				for _, key := range []string{
					"queryNode.port", "queryNode.ip", "common.metricsPort", "localStorage.path", "log.file.rootPath",
				} {
					w.SetConfig(key, model.NodeID(i).String(), n)
				}
			}
		}},
		{
			Name: "a shared key of another role", Change: func(w *rulestest.World) {
				w.AddResponses()
				for _, n := range w.Runtime.Nodes {
					w.SetConfig("common.gracefulTime", "5000", n)
				}
				w.SetConfig("common.gracefulTime", "0", w.Live("datanode"))
			},
			Want: []string{
				"warning nodes/datanode-5 datanode-5 differs from datacoord-2, indexnode-6, proxy-7 and 3 more in " +
					"common.gracefulTime",
			},
		},
		{Name: "dynamic key in force", Change: dynamic("queryCoord/autoBalance", "true")},
		{
			Name: "dynamic key not in force", Change: dynamic("queryCoord/autoBalance", "false"),
			Want: []string{
				"warning config/queryCoord/autoBalance queryCoord/autoBalance is false in etcd, but querycoord-3 has " +
					"true",
			},
		},
		{
			Name: "dynamic key that nobody has", Change: dynamic("queryCoord/autoBalanc", "false"),
			Want: []string{"info config/queryCoord/autoBalanc but no process reports such a key"},
		},
		{
			Name: "dynamic key of a role that says nothing", Change: dynamic("proxy/maxTaskNum", "7"),
			Want: []string{"info config/proxy/maxTaskNum no process"},
		},
		{Name: "dynamic key of a part of MixCoord", Change: func(w *rulestest.World) {
			rulestest.Modern(w)
			w.AddResponses()
			w.Config = []*model.ConfigEntry{{Name: "queryCoord/autoBalance", Value: "false"}}
		}, Skipped: "whether queryCoord/autoBalance in etcd is in effect"},
		{Name: "secret", Change: func(w *rulestest.World) {
			dynamic("queryCoord/autoBalance", "<redacted>")(w)
			w.Config[0].Redacted = true
		}},
		{Name: "one did not tell", Change: func(w *rulestest.World) {
			_, _, c := three(w)
			c.Config, c.Calls = nil, []model.Call{{Method: "ShowConfigurations", Outcome: model.TimedOut}}
		}, Skipped: "configuration of querynode-24: ShowConfigurations timed out"},
		{Name: "a proxy that cannot tell", Change: func(w *rulestest.World) {
			w.AddResponses()
			n := w.Live("proxy")
			n.Config, n.Calls = nil, []model.Call{{Method: "ShowConfigurations", Outcome: model.Unimplemented}}
		}},
		{Name: "nobody told", Change: func(w *rulestest.World) {
			for _, n := range w.AddResponses().Nodes {
				n.Config = nil
			}
		}, Skipped: "no process reported its configuration"},
	})
}
