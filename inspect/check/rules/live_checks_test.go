package rules_test

import (
	"slices"
	"testing"
	"time"

	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// tell lets processes say a setting.
func (w *world) tell(key, value string, nodes ...*model.LiveNode) {
	w.asked()
	for _, n := range nodes {
		n.Config.Values[model.FoldConfigKey(key)] = value
	}
}

func TestConfigDrift(t *testing.T) {
	three := func(w *world) (a, b, c *model.LiveNode) {
		w.asked()
		return w.live("querynode"), w.another("querynode", 14), w.another("querynode", 24)
	}
	dynamic := func(name, value string) func(*world) {
		return func(w *world) {
			w.Config = []*model.ConfigEntry{{Name: name, Value: value}}
			w.tell("queryCoord.autoBalance", "true", w.live("querycoord"))
		}
	}
	hold(t, named("config-drift"), []verdict{
		{"the same", func(w *world) {
			a, b, c := three(w)
			w.tell("queryNode.grouping.maxNQ", "1000", a, b, c)
		}, nil, ""},
		{"a standby MixCoord is not asked by name", func(w *world) {
			modern(w)
			w.asked()
			w.tell("dataCoord.enableCompaction", "true", w.live("mixcoord"))
		}, nil, ""},
		{"written differently", func(w *world) {
			a, b, c := three(w)
			w.tell("queryNode.cache.ratio", "1", a, b)
			w.tell("queryNode.cache.ratio", "1.0", c)
		}, nil, ""},
		{"one differs", func(w *world) {
			a, b, c := three(w)
			w.tell("queryNode.scheduler.maxReadConcurrentRatio", "1", a, b)
			w.tell("queryNode.scheduler.maxReadConcurrentRatio", "4", c)
		}, []string{"warning nodes/querynode-24 querynode-24 differs from querynode-4 and querynode-14 in queryNode.scheduler.maxReadConcurrentRatio"}, ""},
		{"the first differs", func(w *world) {
			a, b, c := three(w)
			w.tell("queryNode.x", "1", a)
			w.tell("queryNode.x", "4", b, c)
		}, []string{"warning nodes/querynode-4 querynode-4 differs from querynode-14 and querynode-24"}, ""},
		{"one of two differs", func(w *world) {
			w.asked()
			w.tell("queryNode.x", "1", w.live("querynode"))
			w.tell("queryNode.x", "2", w.another("querynode", 14))
		}, []string{"warning nodes/querynode-14 querynode-14 and querynode-4 differ in"}, ""},
		{"one does not have it", func(w *world) {
			a, b, _ := three(w)
			w.tell("queryNode.x", "1", a, b)
		}, []string{"warning nodes/querynode-24 querynode-24 differs"}, ""},
		{"one does not have it, of another version", func(w *world) {
			a, b, c := three(w)
			w.tell("queryNode.x", "1", a, b)
			c.System.Version = "2.4.6"
		}, nil, "processes of different versions"},
		{"another default in another version", func(w *world) {
			a, b, c := three(w)
			w.tell("queryNode.x", "1", a, b)
			w.tell("queryNode.x", "2", c)
			c.System.Version = "2.5.1"
		}, nil, "processes of different versions"},
		{"drift within one of two versions", func(w *world) {
			a, b, c := three(w)
			w.tell("queryNode.x", "1", a)
			w.tell("queryNode.x", "2", b)
			c.System.Version = "2.5.1"
		}, []string{"warning nodes/querynode-14 querynode-14 and querynode-4 differ in"}, ""},
		{"only in logging", func(w *world) {
			a, b, c := three(w)
			w.tell("log.level", "info", a, b)
			w.tell("log.level", "debug", c)
		}, []string{"info nodes/querynode-24 log.level"}, ""},
		{"its own port, address and directories", func(w *world) {
			a, b, c := three(w)
			for i, n := range []*model.LiveNode{a, b, c} {
				for _, key := range []string{"queryNode.port", "queryNode.ip", "common.metricsPort", "localStorage.path", "log.file.rootPath"} {
					w.tell(key, model.NodeID(i).String(), n)
				}
			}
		}, nil, ""},
		{"a shared key of another role", func(w *world) {
			w.asked()
			for _, n := range w.runtime.Nodes {
				w.tell("common.gracefulTime", "5000", n)
			}
			w.tell("common.gracefulTime", "0", w.live("datanode"))
		}, []string{"warning nodes/datanode-5 datanode-5 differs from datacoord-2, indexnode-6, proxy-7 and 3 more in common.gracefulTime"}, ""},
		{"dynamic key in force", dynamic("queryCoord/autoBalance", "true"), nil, ""},
		{"dynamic key not in force", dynamic("queryCoord/autoBalance", "false"), []string{"warning config/queryCoord/autoBalance queryCoord/autoBalance is false in etcd, but querycoord-3 has true"}, ""},
		{"dynamic key that nobody has", dynamic("queryCoord/autoBalanc", "false"), []string{"info config/queryCoord/autoBalanc but no process reports such a key"}, ""},
		{"dynamic key of a role that says nothing", dynamic("proxy/maxTaskNum", "7"), []string{"info config/proxy/maxTaskNum no process"}, ""},
		{"dynamic key of a part of MixCoord", func(w *world) {
			modern(w)
			w.asked()
			w.Config = []*model.ConfigEntry{{Name: "queryCoord/autoBalance", Value: "false"}}
		}, nil, "whether queryCoord/autoBalance in etcd is in effect"},
		{"secret", func(w *world) {
			dynamic("queryCoord/autoBalance", "<redacted>")(w)
			w.Config[0].Redacted = true
		}, nil, ""},
		{"one did not tell", func(w *world) {
			_, _, c := three(w)
			c.Config, c.Calls = nil, []model.Call{{Method: "ShowConfigurations", Outcome: model.TimedOut}}
		}, nil, "configuration of querynode-24: ShowConfigurations timed out"},
		{"a proxy that cannot tell", func(w *world) {
			w.asked()
			n := w.live("proxy")
			n.Config, n.Calls = nil, []model.Call{{Method: "ShowConfigurations", Outcome: model.Unimplemented}}
		}, nil, ""},
		{"nobody told", func(w *world) {
			for _, n := range w.asked().Nodes {
				n.Config = nil
			}
		}, nil, "no process reported its configuration"},
		{"not asked", nil, nil, "the nodes were not asked"},
	})
}

func TestBadSwitches(t *testing.T) {
	told := func(role, key, value string) func(*world) {
		return func(w *world) { w.asked(); w.tell(key, value, w.live(role)) }
	}
	object := func(severity, role, key string) string {
		return severity + " settings/" + model.FoldConfigKey(key) + "/" + role + " "
	}
	var cases []verdict
	for _, x := range []struct {
		role, key   string
		usual, bad  string
		severity    string
		alsoUnusual string
	}{
		{"querynode-4", "queryNode.scheduler.maxReadConcurrentRatio", "1", "0.1", "warning", "2"},
		{"querynode-4", "queryNode.grouping.enabled", "true", "false", "warning", ""},
		{"querynode-4", "queryNode.segcore.interimIndex.enableIndex", "true", "false", "info", ""},
		{"querynode-4", "queryNode.segcore.knowhereThreadPoolNumRatio", "4", "0.5", "warning", "8"},
		{"querynode-4", "queryNode.mmap.vectorIndex", "false", "true", "info", ""},
		{"querycoord-3", "queryCoord.autoHandoff", "true", "false", "info", ""},
		{"querycoord-3", "queryCoord.checkInterval", "1000", "60000", "warning", "2000"},
		{"querycoord-3", "queryCoord.balanceIntervalSeconds", "60", "3600", "info", "300"},
		{"datacoord-2", "dataCoord.enableCompaction", "true", "false", "warning", ""},
		{"datacoord-2", "dataCoord.compaction.enableAutoCompaction", "true", "false", "warning", ""},
		{"datacoord-2", "dataCoord.enableGarbageCollection", "true", "false", "warning", ""},
		{"datacoord-2", "dataCoord.segment.maxSize", "1024", "2", "info", "512"},
		{"datacoord-2", "dataCoord.segment.sealProportion", "0.12", "1.5", "warning", "0.75"},
		{"datanode-5", "dataNode.segment.syncPeriod", "600", "7200", "warning", "900"},
		{"rootcoord-1", "quotaAndLimits.limitWriting.forceDeny", "false", "true", "error", ""},
		{"rootcoord-1", "quotaAndLimits.limitReading.forceDeny", "false", "true", "error", ""},
		{"querynode-4", "common.simdType", "auto", "sse4_2", "warning", ""},
		{"querynode-4", "log.level", "info", "debug", "info", "warn"},
	} {
		role, _, _ := cutLast(x.role)
		cases = append(cases, verdict{x.key + " as usual", told(role, x.key, x.usual), nil, ""},
			verdict{x.key + "=" + x.bad, told(role, x.key, x.bad), []string{object(x.severity, x.role, x.key) + x.key + " is " + x.bad + " on " + x.role}, ""},
			verdict{x.key + " nonsense", told(role, x.key, "nonsense?"), nil, ""})
		if x.alsoUnusual != "" {
			cases = append(cases, verdict{x.key + "=" + x.alsoUnusual, told(role, x.key, x.alsoUnusual), nil, ""})
		}
		if x.key == "common.simdType" {
			cases = cases[:len(cases)-1] // any other word is an instruction set
		}
	}
	hold(t, named("bad-switches"), append(cases, []verdict{
		{"told by a role that does not read it", told("proxy", "queryNode.grouping.enabled", "false"), nil, ""},
		{"search threads without disk indexes", func(w *world) {
			told("querynode", "queryNode.segcore.knowhereThreadPoolNumRatio", "0.5")(w)
			w.tell("queryNode.enableDisk", "false", w.live("querynode"))
		}, nil, ""},
		{"disk indexes off, none defined", told("querynode", "queryNode.enableDisk", "false"), nil, ""},
		{"disk indexes off, one loaded", func(w *world) { told("querynode", "queryNode.enableDisk", "false")(w); w.Indexes[0].Type = "DISKANN" }, []string{object("warning", "querynode-4", "queryNode.enableDisk")}, ""},
		{"disk indexes off, one defined", func(w *world) {
			told("querynode", "queryNode.enableDisk", "false")(w)
			w.Indexes[0].Type, w.LoadStates = "DISKANN", nil
		}, nil, ""},
		{"index node without disk indexes", func(w *world) {
			told("indexnode", "indexNode.enableDisk", "false")(w)
			w.Indexes[0].Type, w.LoadStates = "DISKANN", nil
		}, []string{object("warning", "indexnode-6", "indexNode.enableDisk")}, ""},
		{"small segments, and very many", func(w *world) { told("datacoord", "dataCoord.segment.maxSize", "2")(w); w.small(1000, time.Hour) }, []string{object("warning", "datacoord-2", "dataCoord.segment.maxSize")}, ""},
		{"no handoff in 2.3", func(w *world) { told("querycoord", "queryCoord.autoHandoff", "false")(w); w.Version.Text = "2.3.5" }, []string{object("warning", "querycoord-3", "queryCoord.autoHandoff")}, ""},
		{"read tasks that fill all cores, in 2.2", func(w *world) {
			told("querynode", "queryNode.scheduler.cpuRatio", "100")(w)
			w.Version.Text = "2.2.8"
			n := w.live("querynode")
			n.Distribution = &model.Distribution{}
			for i := range 8 {
				n.Distribution.Sealed = append(n.Distribution.Sealed, model.ServedSegment{ID: model.SegmentID(i), Collection: wellColl})
			}
		}, []string{object("warning", "querynode-4", "queryNode.scheduler.cpuRatio")}, ""},
		{"the same in 2.3, which does not use it", told("querynode", "queryNode.scheduler.cpuRatio", "100"), nil, ""},
		{"two values are two findings", func(w *world) {
			told("querynode", "log.level", "debug")(w)
			w.tell("log.level", "trace", w.live("datanode"))
		}, []string{object("info", "datanode-5", "log.level"), object("info", "querynode-4", "log.level")}, ""},
		{"MixCoord tells RootCoord's only", func(w *world) { modern(w); w.asked() }, nil, "settings of DataCoord and QueryCoord: mixcoord-1 reports those of RootCoord only"},
		{"MixCoord refuses the rest", func(w *world) {
			modern(w)
			w.asked().Processes = append(w.asked().Processes, &model.Process{Calls: []model.Call{{
				Role: "proxy", Node: 1, Method: "GET /api/v1/_cluster/configs", Outcome: model.Denied, Reason: "401 (common.security.adminAuthEnabled is true)",
			}}})
		}, nil, "reports those of RootCoord only (proxy-1 GET /api/v1/_cluster/configs: denied: 401 (common.security.adminAuthEnabled is true))"},
		{"a proxy tells the rest", func(w *world) {
			modern(w)
			w.asked().Processes = append(w.asked().Processes, &model.Process{ConfigOf: "proxy-1", Config: &model.Config{
				Values: map[string]string{"datacoordenablecompaction": "false", "querycoordcheckinterval": "1000"},
			}})
		}, []string{"warning settings/datacoordenablecompaction/proxy-1 dataCoord.enableCompaction is false in the configuration of proxy-1, as MixCoord does not report its own"}, ""},
		{"a proxy tells the rest, and etcd another", func(w *world) {
			modern(w)
			w.asked().Processes = append(w.asked().Processes, &model.Process{ConfigOf: "proxy-1", Config: &model.Config{
				Values: map[string]string{"datacoordenablecompaction": "false"},
			}})
			w.Config = []*model.ConfigEntry{{Name: "dataCoord/enableCompaction", Value: "true"}}
		}, nil, ""},
		{"MixCoord tells all", func(w *world) {
			modern(w)
			w.asked()
			w.tell("dataCoord.enableCompaction", "true", w.live("mixcoord"))
		}, nil, ""},
		{"dynamic key, nobody asked", func(w *world) { w.Config = []*model.ConfigEntry{{Name: "dataCoord/enableCompaction", Value: "false"}} }, []string{"warning config/dataCoord/enableCompaction dataCoord.enableCompaction is false in etcd"}, ""},
		{"dynamic key that is not in force", func(w *world) {
			told("datacoord", "dataCoord.enableCompaction", "true")(w)
			w.Config = []*model.ConfigEntry{{Name: "dataCoord/enableCompaction", Value: "false"}}
		}, nil, ""},
		{"not asked", nil, nil, "not asked"},
	}...))
}

// cutLast cuts "querynode-4" into role and id.
func cutLast(name string) (role, id string, ok bool) {
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '-' {
			return name[:i], name[i+1:], true
		}
	}
	return name, "", false
}

// ticking lets the nodes that consume the queue say how far they are behind.
func ticking(lags map[string]time.Duration) func(*world) {
	return func(w *world) {
		w.asked()
		for role, lag := range lags {
			w.live(role).System.Quota = &model.QuotaMetrics{SlowestChannel: wellCh0, SlowestAt: model.TSOFromTime(modeltest.Now.Add(-lag))}
		}
	}
}

func TestTimetickLag(t *testing.T) {
	hold(t, named("timetick-lag"), []verdict{
		{"current", ticking(map[string]time.Duration{"datanode": time.Second, "querynode": 0}), nil, ""},
		{"a data node behind", ticking(map[string]time.Duration{"datanode": 40 * time.Second, "querynode": 0}), []string{"warning nodes/datanode-5 datanode-5 is 40 s behind on " + wellCh0}, ""},
		{"far behind", ticking(map[string]time.Duration{"datanode": 6 * time.Minute, "querynode": 0}), []string{"error nodes/datanode-5 6 min"}, ""},
		{"a data node that was just given the channel", func(w *world) {
			ticking(map[string]time.Duration{"datanode": 40 * time.Second, "querynode": 0})(w)
			v := w.VChannels[slices.IndexFunc(w.VChannels, func(v *model.VChannel) bool { return v.Name == wellCh0 })]
			v.Watcher, v.WatchedAt = w.live("datanode").Node, w.now.Add(-20*time.Second)
		}, []string{"info nodes/datanode-5 datanode-5 is 40 s behind on " + wellCh0 + ", which it was given 20 s ago"}, ""},
		{"a query node is another check's", ticking(map[string]time.Duration{"datanode": 0, "querynode": time.Minute}), nil, ""},
		{"all behind", ticking(map[string]time.Duration{"datanode": 40 * time.Second, "querynode": time.Minute}), []string{"warning / all 2 nodes that consume the queue are behind by up to 60 s"}, ""},
		{"a recording without a time", func(w *world) {
			ticking(map[string]time.Duration{"datanode": time.Hour, "querynode": time.Hour + time.Second})(w)
			w.runtime.To = time.Time{}
		}, nil, ""},
		{"a node without channels", func(w *world) {
			ticking(map[string]time.Duration{"querynode": 0})(w)
			w.live("datanode").System.Quota = &model.QuotaMetrics{SlowestAt: model.MaxTSO}
		}, nil, ""},
		{"this machine's clock is ahead", func(w *world) {
			ticking(map[string]time.Duration{"datanode": 3 * time.Minute, "querynode": 3 * time.Minute})(w)
			w.Origin.Kind, w.Allocators[0].At = "etcd", modeltest.Now.Add(-3*time.Minute+time.Second)
		}, nil, ""},
		{"nobody says", func(w *world) { w.asked() }, nil, "no node reported how far"},
		{"not asked", nil, nil, "the nodes were not asked"},
	})
}

func TestQueueUnreachable(t *testing.T) {
	queue := func(outcome model.Outcome) func(*world) {
		return func(w *world) {
			w.asked().Queue = &model.Queue{Kind: "kafka", Address: "10.0.0.9:9092", Outcome: outcome, Reason: "no broker"}
		}
	}
	hold(t, named("queue-unreachable"), []verdict{
		{"answers", queue(model.Answered), nil, ""},
		{"refused, nodes did not say", queue(model.Refused), []string{"info / the message queue (kafka) at 10.0.0.9:9092 does not answer: refused: no broker"}, ""},
		{"out of reach, nodes keep up", func(w *world) {
			queue(model.Unreachable)(w)
			ticking(map[string]time.Duration{"datanode": time.Second, "querynode": 20 * time.Second})(w)
		}, []string{"info / unreachable"}, ""},
		{"down", func(w *world) {
			queue(model.TimedOut)(w)
			ticking(map[string]time.Duration{"datanode": 15 * time.Second, "querynode": 20 * time.Second})(w)
		}, []string{"error / and all nodes are at least 15 s behind"}, ""},
		{"denied", queue(model.Denied), nil, "no usable answer: denied"},
		{"left out", func(w *world) {
			w.asked().Skipped = []model.Skipped{{What: "message queue", Reason: "RocksMQ is inside the process"}}
		}, nil, "RocksMQ is inside"},
		{"not asked", func(w *world) { w.asked() }, nil, "was not asked"},
		{"nobody asked", nil, nil, "not asked"},
	})
}

func TestQueueLag(t *testing.T) {
	topic := func(first, end int64) func(*world) { // the checkpoints are at 5000
		return func(w *world) {
			w.asked().Queue = &model.Queue{Kind: "kafka", Outcome: model.Answered, Topics: []model.Topic{{Name: "by-dev-rootcoord-dml_0", First: first, End: end}}}
		}
	}
	object := "vchannels/" + wellCh0 + " "
	hold(t, named("queue-lag"), []verdict{
		{"near its end", topic(0, 5100), nil, ""},
		{"at its end", topic(0, 5000), nil, ""},
		{"idle for ten minutes", topic(0, 8000), nil, ""},
		{"far behind", topic(0, 105_000), []string{"warning " + object + "100,000 messages behind the end of its topic"}, ""},
		{"messages are gone", topic(6000, 9000), []string{"error " + object + "the queue has deleted 1,000 messages after the checkpoint of " + wellCh0 + " of docs"}, ""},
		{"the next message is the oldest", topic(5001, 9000), nil, ""},
		{"beyond its end", topic(0, 100), []string{"error " + object + "4,900 messages past the end of its topic"}, ""},
		{"answers that are older than the checkpoint", func(w *world) {
			topic(0, 100)(w)
			w.runtime.From, w.runtime.To = backT(time.Hour), backT(time.Hour-time.Second)
		}, nil, ""},
		{"a checkpoint of an unknown time", func(w *world) { topic(0, 100)(w); w.VChannels[0].Checkpoint.At = 0 }, nil, ""},
		{"topic not among them", func(w *world) { topic(0, 100)(w); w.runtime.Queue.Topics[0].Name = "other" }, nil, "no checkpoint has an offset in a topic"},
		{"another kind of id", func(w *world) { topic(0, 100)(w); w.VChannels[0].Checkpoint.Message = []byte("ledger:12:4") }, nil, "no checkpoint has an offset in a topic"},
		{"dropped", func(w *world) { topic(0, 100)(w); w.Collections[0].State = "Dropping" }, nil, ""},
		{"did not answer", func(w *world) { w.asked().Queue = &model.Queue{Outcome: model.Refused} }, nil, "did not answer"},
	})
}

func TestQuotaDenied(t *testing.T) {
	states := func(samples ...model.Series) func(*world) {
		return func(w *world) {
			w.asked().Processes = []*model.Process{{
				Address: "10.0.0.1:9091", Nodes: []model.Ref{facts.RefNode("rootcoord", 1)}, Outcome: model.Answered,
				Metrics: modeltest.Scrape(time.Time{}, map[string][]model.Series{"milvus_rootcoord_quota_states": samples}),
			}}
		}
	}
	state := func(name string, value float64) model.Series {
		return model.Series{Labels: []model.Pair{{Key: "quota_states", Value: name}}, Value: value}
	}
	of := func(name, scope string) model.Series {
		return model.Series{Labels: []model.Pair{{Key: "name", Value: scope}, {Key: "quota_states", Value: name}}, Value: 1}
	}
	silent := func(w *world) {
		states(state("MemoryQuotaExhausted", 1))(w)
		w.runtime.Processes[0].Metrics, w.runtime.Processes[0].Outcome = nil, model.Refused
	}
	hold(t, named("quota-denied"), []verdict{
		{"none in force", states(state("MemoryQuotaExhausted", 0), state("DiskQuotaExhausted", 0)), nil, ""},
		{"one in force", states(state("MemoryQuotaExhausted", 1), state("DiskQuotaExhausted", 0)), []string{"warning / Milvus refuses requests: MemoryQuotaExhausted"}, ""},
		{"two", states(state("MemoryQuotaExhausted", 1), state("DenyToWrite", 2)), []string{"warning / DenyToWrite and MemoryQuotaExhausted"}, ""},
		{"of one collection", states(of("DiskQuotaExhausted", "collection_docs")), []string{"warning / DiskQuotaExhausted for collection_docs"}, ""},
		{"of all", states(of("DiskQuotaExhausted", "cluster")), []string{"warning / Milvus refuses requests: DiskQuotaExhausted"}, ""},
		{"2.4 and later tell only what is in force", states(), nil, ""},
		{"RootCoord is silent", silent, nil, "RootCoord reported no metrics: refused"},
		{"only another process tells", func(w *world) {
			silent(w)
			w.runtime.Processes = append(w.runtime.Processes, &model.Process{Address: "10.0.0.5:9091", Nodes: []model.Ref{facts.RefNode("datanode", 5)}, Outcome: model.Answered, Metrics: &model.Metrics{}})
		}, nil, "RootCoord reported no metrics: refused"},
		{"another process is silent", func(w *world) {
			states()(w)
			w.runtime.Processes = append(w.runtime.Processes, &model.Process{Address: "10.0.0.5:9091", Nodes: []model.Ref{facts.RefNode("datanode", 5)}, Outcome: model.Refused})
		}, nil, ""},
		{"only a standby tells", func(w *world) {
			states()(w)
			w.Sessions[0].Standby = true
		}, nil, "RootCoord's process is unknown"},
		{"no metrics", func(w *world) { w.asked() }, nil, "RootCoord's process is unknown"},
		{"not asked", nil, nil, "the nodes were not asked"},
	})
}

func TestSubscriptions(t *testing.T) {
	told := func(list ...model.Subscription) func(*world) {
		return func(w *world) {
			stats := &model.TopicStats{Subscriptions: list}
			w.asked().Queue = &model.Queue{Kind: "pulsar", Outcome: model.Answered, Topics: []model.Topic{{Name: "by-dev-rootcoord-dml_0", Stats: stats}}}
		}
	}
	sub := func(backlog, bytes int64, consumers int, read time.Duration) model.Subscription {
		s := model.Subscription{Name: "node-9", Backlog: backlog, Bytes: bytes, Consumers: consumers}
		if read > 0 {
			s.Consumed = backT(read)
		}
		return s
	}
	object := "queue-topics/by-dev-rootcoord-dml_0 "
	hold(t, named("subscription-unread"), []verdict{
		{"read", told(sub(5, 50, 1, time.Second)), nil, ""},
		{"unread", told(sub(5, 50, 0, time.Hour)), []string{"info " + object + "1 subscription of topic by-dev-rootcoord-dml_0 keeps up to 50 B and has no consumer"}, ""},
		{"no delivery is known", told(model.Subscription{Name: "reader", Backlog: 5, Bytes: 50}), nil, "when subscription reader of topic by-dev-rootcoord-dml_0 was read last"},
		{"of a dispatcher: its number is no node", told(model.Subscription{Name: "by-dev-rootcoord-dml_0-9977-1764000000000000000", Backlog: 5, Bytes: 50}), nil, "was read last"},
		{"the cluster's prefix has a number", told(model.Subscription{Name: "milvus-9999-dataNode-5-docs", Backlog: 5, Bytes: 50}), nil, ""},
		{"a query node is behind its collection", told(model.Subscription{Name: "by-dev-queryNode-9977-4", Backlog: 5, Bytes: 50}), nil, ""},
		{"a query node that is gone", told(model.Subscription{Name: "by-dev-queryNode-1000-9977", Backlog: 5, Bytes: 50}), []string{"info " + object + "no consumer"}, ""},
		{"a role's name, of a node that is gone", told(model.Subscription{Name: "querynode-9977-by-dev-rootcoord-dml_0_1000v0-true", Backlog: 5, Bytes: 50}), []string{"info " + object + "no consumer"}, ""},
		{"a cluster that is called so", told(model.Subscription{Name: "querynode-9977-rootcoord-dml_0-5-1764000000000000000", Backlog: 5, Bytes: 50}), nil, "was read last"},
		{"sessions were not read", func(w *world) {
			told(model.Subscription{Name: "by-dev-dataNode-9977-docs", Backlog: 5, Bytes: 50})(w)
			w.Loaded &^= model.PartSessions
		}, nil, "whether the node of subscription by-dev-dataNode-9977-docs is registered: sessions were not read"},
		{"no delivery is known, and its node is gone", told(model.Subscription{Name: "by-dev-dataNode-9977-docs", Backlog: 5, Bytes: 50}), []string{"info " + object + "no consumer"}, ""},
		{"a cursor of a streaming node", told(model.Subscription{Name: "truncate-cursor", Backlog: 5, Bytes: 50, Consumed: backT(time.Hour)}), nil, ""},
		{"unread and large", told(sub(5, 1<<30, 0, time.Hour), sub(5, 50, 0, time.Hour)), []string{"warning " + object + "2 subscriptions of topic by-dev-rootcoord-dml_0 keep up to 1.0 GiB and have no consumer"}, ""},
		{"read a moment ago", told(sub(5, 1<<30, 0, 5*time.Minute)), nil, ""},
		{"nothing to read", told(sub(0, 0, 0, time.Hour)), nil, ""},
		{"Kafka", func(w *world) {
			w.asked().Queue = &model.Queue{Kind: "kafka", Outcome: model.Answered, Topics: []model.Topic{{Name: "by-dev-rootcoord-dml_0"}}}
		}, nil, ""},
		{"did not answer", func(w *world) { w.asked().Queue = &model.Queue{Outcome: model.Refused} }, nil, "did not answer"},
	})
	hold(t, named("queue-backlog"), []verdict{
		{"near its end", told(sub(1000, 1<<20, 1, time.Second)), nil, ""},
		{"many messages", told(sub(100_000, 1<<20, 1, time.Second)), []string{"warning " + object + "1 reader of topic by-dev-rootcoord-dml_0 is up to 100,000 messages (1.0 MiB) behind"}, ""},
		{"many bytes", told(sub(99, 4<<30, 1, time.Second)), []string{"warning " + object + "99 messages (4.0 GiB) behind"}, ""},
		{"no consumer", told(sub(100_000, 4<<30, 0, time.Hour)), nil, ""},
		{"a cursor of a streaming node", told(model.Subscription{Name: "backlog-clear", Backlog: 400_000, Bytes: 5 << 30, Consumers: 1, Consumed: backT(time.Second)}), nil, ""},
		{"did not answer", func(w *world) { w.asked().Queue = &model.Queue{Outcome: model.Refused} }, nil, "did not answer"},
	})
}

func TestDependencyUnhealthy(t *testing.T) {
	found := func(list ...model.Dependency) func(*world) {
		return func(w *world) {
			for _, s := range w.Sessions {
				if s.Role == "proxy" {
					s.Version = "2.6.22"
				}
			}
			r := w.asked()
			r.Processes = append(r.Processes, &model.Process{Dependencies: list})
		}
	}
	etcd := func(member string, healthy model.Known, reason string) model.Dependency {
		return model.Dependency{Proxy: 4, Kind: "metadata store", Type: "etcd", Member: member, Healthy: healthy, Reason: reason}
	}
	object := "dependencies/metadata store/etcd "
	hold(t, named("dependency-unhealthy"), []verdict{
		{"healthy", found(etcd("", model.Yes, ""), etcd("etcd-0", model.Yes, "")), nil, ""},
		{
			"one of three", found(etcd("", model.No, "not all"), etcd("etcd-0", model.Yes, ""), etcd("etcd-1", model.No, "timeout"), etcd("etcd-2", model.Yes, "")),
			[]string{"warning " + object + "proxy-4 finds 1 of 3 members of the metadata store (etcd) unhealthy"},
			"",
		},
		{"one of two", found(etcd("", model.No, "not all"), etcd("etcd-0", model.Yes, ""), etcd("etcd-1", model.No, "timeout")), []string{"error " + object + "proxy-4 finds 1 of 2 members of the metadata store (etcd) unhealthy"}, ""},
		{"no members", found(etcd("", model.No, "cannot connect")), []string{"error " + object + "proxy-4 finds the metadata store (etcd) unhealthy: cannot connect"}, ""},
		{"not checked by Milvus", found(model.Dependency{Proxy: 4, Kind: "message queue", Type: "woodpecker"}), nil, ""},
		{"not asked", found(), nil, "no proxy reported what it depends on"},
		{"would write", func(w *world) {
			found()(w)
			w.runtime.Skipped = []model.Skipped{{What: "dependencies as proxy-4 finds them", Reason: "the message queue is Pulsar"}}
		}, nil, ""},
		{"an older release", func(w *world) { w.asked() }, nil, ""},
	})
}
