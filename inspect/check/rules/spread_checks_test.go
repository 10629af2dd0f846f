package rules_test

import (
	"strings"
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestSpreadChecks(t *testing.T) {
	rulestest.RunScenes(t, []rulestest.SceneCase{
		{Name: "uneven rows", Check: rulestest.ByID("imbalance-rows"), Scene: func() *rulestest.Scene {
			s := rulestest.NewScene("true", 11, 12, 13)
			s.Load(7, "rg", map[model.NodeID]int{11: 14, 12: 5, 13: 5})
			return s
		}, Want: "findings\nwarning replicas/507 c7: querynode-11 has 14,000 of 24,000 rows, 1.75 times the mean"},
		{
			Name: "uneven rows while a node is being filled", Check: rulestest.ByID("imbalance-rows"),
			Scene: func() *rulestest.Scene {
				s := rulestest.NewScene("true", 11, 12, 13)
				s.Load(7, "rg", map[model.NodeID]int{11: 14, 12: 5, 13: 5})
				s.Live("querynode", 13).System.StartedAt = rulestest.SceneNow.Add(-time.Minute)
				return s
			}, Want: "findings\ninfo replicas/507",
		},
		{Name: "rows as memory is", Check: rulestest.ByID("imbalance-rows"), Scene: func() *rulestest.Scene {
			s := rulestest.NewScene("true", 11, 12, 13)
			s.Parts.Version.Text = "2.5.4"
			s.Load(7, "rg", map[model.NodeID]int{11: 14, 12: 5, 13: 5})
			s.Live("querynode", 11).System.Memory *= 3
			return s
		}, Want: "ok"},
		{
			Name: "rows as memory is, of a version that does not go by it", Check: rulestest.ByID("imbalance-rows"),
			Scene: func() *rulestest.Scene {
				s := rulestest.NewScene("true", 11, 12, 13)
				s.Load(7, "rg", map[model.NodeID]int{11: 14, 12: 5, 13: 5})
				s.Live("querynode", 11).System.Memory *= 3
				return s
			}, Want: "warning replicas/507",
		},
		{Name: "nodes divided among channels", Check: rulestest.ByID("imbalance-rows"), Scene: func() *rulestest.Scene {
			s := rulestest.NewScene("true", 11, 12, 13)
			s.Load(7, "rg", map[model.NodeID]int{11: 14, 12: 5, 13: 5})
			s.Parts.Replicas[0].ChannelNodes = map[string][]model.NodeID{"a": {11}, "b": {12, 13}}
			return s
		}, Want: "ok"},
		{
			Name: "nodes were divided among channels", Check: rulestest.ByID("imbalance-rows"),
			Scene: func() *rulestest.Scene {
				s := rulestest.NewScene("true", 11, 12, 13)
				s.Load(7, "rg", map[model.NodeID]int{11: 14, 12: 5, 13: 5})
				s.Parts.Replicas[0].ChannelNodes = map[string][]model.NodeID{"a": nil, "b": nil}
				return s
			}, Want: "warning replicas/507",
		},
		{
			Name: "uneven rows of a small collection", Check: rulestest.ByID("imbalance-rows"),
			Scene: func() *rulestest.Scene {
				s := rulestest.NewScene("true", 11, 12, 13)
				s.Load(7, "rg", map[model.NodeID]int{11: 100, 12: 100, 13: 100})
				s.Load(8, "rg", map[model.NodeID]int{11: 6, 12: 1, 13: 1})
				return s
			}, Want: "ok",
		},
		{
			Name: "uneven rows that nothing helps", Check: rulestest.ByID("imbalance-rows"),
			Scene: func() *rulestest.Scene {
				s := rulestest.NewScene("true", 11, 12, 13)
				s.Load(7, "rg", map[model.NodeID]int{11: 0, 12: 2, 13: 2})
				s.Live("querynode", 11).Distribution.Leaders = []model.LeaderView{
					{Channel: "c", Collection: 7, GrowingRows: 6000},
				}
				return s
			}, Want: "ok",
		},

		{
			Name: "memory apart", Check: rulestest.ByID("imbalance-memory"), Scene: func() *rulestest.Scene {
				s := rulestest.NewScene("true", 11, 12)
				s.Load(7, "rg", map[model.NodeID]int{11: 5, 12: 5})
				s.Live("querynode", 11).System.MemoryUse = 700 << 20
				return s
			},
			Want: "warning nodes/querynode-11 querynode-11 uses 70% of its memory, querynode-12 in the same resource " +
				"group 30%",
		},
		{
			Name: "memory apart while a node is being filled", Check: rulestest.ByID("imbalance-memory"),
			Scene: func() *rulestest.Scene {
				s := rulestest.NewScene("true", 11, 12, 13)
				s.Load(7, "rg", map[model.NodeID]int{11: 5, 12: 5, 13: 1})
				for _, id := range []model.NodeID{11, 12} {
					s.Live("querynode", id).System.MemoryUse = 800 << 20
				}
				s.Live("querynode", 13).System.StartedAt = rulestest.SceneNow.Add(-time.Minute)
				return s
			}, Want: "ok",
		},
		{
			Name: "memory apart as the cluster tolerates", Check: rulestest.ByID("imbalance-memory"),
			Scene: func() *rulestest.Scene {
				s := rulestest.NewScene("true", 11, 12)
				s.Load(7, "rg", map[model.NodeID]int{11: 5, 12: 5})
				s.Live("querynode", 11).System.MemoryUse = 700 << 20
				s.Live("querycoord", 1).Config.Values["querycoordmemoryusagemaxdifferencepercentage"] = "50"
				return s
			}, Want: "ok",
		},
		{Name: "memory of both unknown", Check: rulestest.ByID("imbalance-memory"), Scene: func() *rulestest.Scene {
			s := rulestest.NewScene("", 11, 12)
			s.Load(7, "rg", map[model.NodeID]int{11: 5, 12: 5})
			s.Live("querynode", 11).System, s.Live("querynode", 12).System = nil, nil
			return s
		}, Want: "skipped: no process reported its CPU and memory"},

		{Name: "nearly full", Check: rulestest.ByID("memory-pressure"), Scene: func() *rulestest.Scene {
			s := rulestest.NewScene("true", 11)
			s.Live("querynode", 11).System.MemoryUse = 880 << 20
			return s
		}, Want: "warning nodes/querynode-11 querynode-11 uses 88% of its memory"},
		{Name: "full", Check: rulestest.ByID("memory-pressure"), Scene: func() *rulestest.Scene {
			s := rulestest.NewScene("true", 11)
			s.Live("querynode", 11).System.MemoryUse = 970 << 20
			return s
		}, Want: "error nodes/querynode-11"},
		{Name: "own levels", Check: rulestest.ByID("memory-pressure"), Scene: func() *rulestest.Scene {
			s := rulestest.NewScene("true", 11)
			s.Live("querynode", 11).System.MemoryUse = 880 << 20
			s.Node("rootcoord", 2).Config = &model.Config{
				Values: map[string]string{"quotaandlimitslimitwritingmemprotectionquerynodememorylowwaterlevel": "0.9"},
			}
			return s
		}, Want: "ok"},
		{
			Name: "a coordinator is judged by other bounds", Check: rulestest.ByID("memory-pressure"),
			Scene: func() *rulestest.Scene {
				s := rulestest.NewScene("true", 11)
				s.Live("querycoord", 1).System.MemoryUse = 880 << 20
				s.Node("rootcoord", 2).Config = &model.Config{}
				return s
			}, Want: "ok",
		},
		{
			Name: "levels that nobody tells", Check: rulestest.ByID("memory-pressure"),
			Scene: func() *rulestest.Scene { return rulestest.NewScene("true", 11) },
			Want:  "MemoryHighWaterLevel): no rootcoord or mixcoord found",
		},
		{
			Name: "a host that is full", Check: rulestest.ByID("memory-pressure"), Scene: func() *rulestest.Scene {
				s := rulestest.NewScene("true", 11, 12, 13)
				for _, n := range s.Runtime.Nodes {
					n.Address = strings.Replace(n.Address, n.Address[:strings.IndexByte(n.Address, ':')], "10.0.0.1",
						1) +
						n.Node.String()
				}
				return s
			},
			Want: "warning nodes/querycoord-1 querycoord-1, querynode-11, querynode-12 and querynode-13 share a host " +
				"and together use 120% of its memory",
		},
		{
			Name: "one process of several roles counts once", Check: rulestest.ByID("memory-pressure"),
			Scene: func() *rulestest.Scene {
				s := rulestest.NewScene("true", 11)
				for _, role := range []string{"datanode", "proxy", "rootcoord"} {
					n := s.Node(role, 11)
					n.Process = s.Live("querynode", 11).Process
					n.Config = &model.Config{}
				}
				return s
			}, Want: "ok",
		},

		{
			Name: "leaders on one node", Check: rulestest.ByID("imbalance-leaders"), Scene: func() *rulestest.Scene {
				s := rulestest.NewScene("true", 11, 12, 13)
				s.Load(7, "rg", map[model.NodeID]int{11: 5, 12: 5, 13: 5})
				s.Lead(11, 7, 6)
				return s
			},
			Want: "warning nodes/querynode-11 querynode-11 leads 6 of 6 shards, the others of resource group rg lead " +
				"0.0 on average; it holds 600 growing rows",
		},
		{
			Name: "leaders of collections with one shard each", Check: rulestest.ByID("imbalance-leaders"),
			Scene: func() *rulestest.Scene {
				s := rulestest.NewScene("true", 11, 12, 13)
				for id := range model.CollectionID(9) {
					s.Load(100+id, "rg", map[model.NodeID]int{11: 5, 12: 5, 13: 5})
					s.Lead(11, 100+id, 1)
				}
				return s
			}, Want: "info nodes/querynode-11 querynode-11 leads 9 of 9 shards",
		},
		{
			Name: "leaders with much that grows", Check: rulestest.ByID("imbalance-leaders"),
			Scene: func() *rulestest.Scene {
				s := rulestest.NewScene("true", 11, 12, 13)
				for id := range model.CollectionID(9) {
					s.Load(100+id, "rg", map[model.NodeID]int{11: 1, 12: 1, 13: 1})
					s.Lead(11, 100+id, 1)
				}
				s.Live("querynode", 11).Distribution.Leaders[0].GrowingRows = 9000
				return s
			}, Want: "warning nodes/querynode-11",
		},
		{
			Name: "leaders as Milvus leaves them", Check: rulestest.ByID("imbalance-leaders"),
			Scene: func() *rulestest.Scene {
				s := rulestest.NewScene("true", 11, 12, 13)
				s.Load(7, "rg", map[model.NodeID]int{11: 5, 12: 5, 13: 5})
				s.Lead(11, 7, 5)
				s.Lead(12, 7, 4)
				return s
			}, Want: "ok",
		},
		{
			Name: "leaders of streaming nodes", Check: rulestest.ByID("imbalance-leaders"),
			Scene: func() *rulestest.Scene {
				s := rulestest.NewScene("true", 11, 12)
				s.Load(7, "rg", map[model.NodeID]int{11: 5, 12: 5})
				s.Parts.Streaming = &model.Streaming{}
				for _, id := range []model.NodeID{21, 22, 23} {
					s.Node("querynode", id)
					s.Parts.Sessions[len(s.Parts.Sessions)-1].Labels = []model.Pair{
						{Key: "QUERYNODE_STREAMING-EMBEDDED", Value: "1"},
					}
				}
				s.Lead(21, 7, 8)
				return s
			}, Want: "warning nodes/querynode-21 querynode-21 leads 8 of 8 shards",
		},

		{
			Name: "channels on one data node", Check: rulestest.ByID("imbalance-channels"),
			Scene: func() *rulestest.Scene {
				s := rulestest.NewScene("true", 11)
				s.Watch("datanode", map[model.NodeID]int{31: 6, 32: 0})
				return s
			}, Want: "warning nodes/datanode-31 datanode-31 consumes 6 of 6 channels, datanode-32 consumes 0",
		},
		{
			Name: "channels while a data node joins", Check: rulestest.ByID("imbalance-channels"),
			Scene: func() *rulestest.Scene {
				s := rulestest.NewScene("true", 11)
				s.Watch("datanode", map[model.NodeID]int{31: 6, 32: 0})
				s.Live("datanode", 32).System.StartedAt = rulestest.SceneNow.Add(-2 * time.Minute)
				return s
			}, Want: "info nodes/datanode-31",
		},
		{Name: "channels spread", Check: rulestest.ByID("imbalance-channels"), Scene: func() *rulestest.Scene {
			s := rulestest.NewScene("true", 11)
			s.Watch("datanode", map[model.NodeID]int{31: 4, 32: 3})
			return s
		}, Want: "ok"},
		{
			Name: "pchannels on one streaming node", Check: rulestest.ByID("imbalance-channels"),
			Scene: func() *rulestest.Scene {
				s := rulestest.NewScene("true", 11)
				s.Parts.Streaming = &model.Streaming{}
				s.Watch("streamingnode", map[model.NodeID]int{31: 16, 32: 0})
				return s
			}, Want: "warning nodes/streamingnode-31 streamingnode-31 consumes 16 of 16 channels",
		},

		{Name: "one busy node", Check: rulestest.ByID("cpu-skew"), Scene: func() *rulestest.Scene {
			s := rulestest.NewScene("true", 11, 12, 13)
			s.Busy(map[model.NodeID]float64{11: 3.6, 12: 0.2, 13: 0.3})
			return s
		}, Want: "warning nodes/querynode-11 querynode-11 uses 3.6 cores, the other 2 query nodes use 0.2 on average"},
		{Name: "a node with cores to spare", Check: rulestest.ByID("cpu-skew"), Scene: func() *rulestest.Scene {
			s := rulestest.NewScene("true", 11, 12, 13)
			s.Busy(map[model.NodeID]float64{11: 1.6, 12: 0.2, 13: 0.3})
			return s
		}, Want: "info nodes/querynode-11"},
		{Name: "all busy", Check: rulestest.ByID("cpu-skew"), Scene: func() *rulestest.Scene {
			s := rulestest.NewScene("true", 11, 12, 13)
			s.Busy(map[model.NodeID]float64{11: 3.6, 12: 3.2, 13: 2.3})
			return s
		}, Want: "ok"},
		{
			Name: "one scrape", Check: rulestest.ByID("cpu-skew"),
			Scene: func() *rulestest.Scene { return rulestest.NewScene("true", 11, 12) },
			Want:  "skipped: CPU rate unknown: needs two scrapes of each process",
		},
	})
}
