package rules_test

import (
	"strconv"
	"testing"
	"time"

	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
)

func TestBadSwitches(t *testing.T) {
	told := func(role, key, value string) func(*rulestest.World) {
		return func(w *rulestest.World) { w.AddResponses(); w.SetConfig(key, value, w.Live(role)) }
	}
	object := func(severity, role, key string) string {
		return severity + " settings/" + model.FoldConfigKey(key) + "/" + role + " "
	}
	var cases []rulestest.Case
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
		cases = append(cases, rulestest.Case{Name: x.key + " as usual", Change: told(role, x.key, x.usual)},
			rulestest.Case{
				Name: x.key + "=" + x.bad, Change: told(role, x.key, x.bad),
				Want: []string{object(x.severity, x.role, x.key) + x.key + " is " + x.bad + " on " + x.role},
			},
			rulestest.Case{Name: x.key + " nonsense", Change: told(role, x.key, "nonsense?")})
		if x.alsoUnusual != "" {
			cases = append(cases, rulestest.Case{
				Name: x.key + "=" + x.alsoUnusual, Change: told(role, x.key, x.alsoUnusual),
			})
		}
		if x.key == "common.simdType" {
			cases = cases[:len(cases)-1] // any other word is an instruction set
		}
	}
	rulestest.RunCases(t, rulestest.ByID("bad-switches"), append(cases, []rulestest.Case{
		{Name: "told by a role that does not read it", Change: told("proxy", "queryNode.grouping.enabled", "false")},
		{Name: "search threads without disk indexes", Change: func(w *rulestest.World) {
			told("querynode", "queryNode.segcore.knowhereThreadPoolNumRatio", "0.5")(w)
			w.SetConfig("queryNode.enableDisk", "false", w.Live("querynode"))
		}},
		{Name: "disk indexes off, none defined", Change: told("querynode", "queryNode.enableDisk", "false")},
		{Name: "disk indexes off, one loaded", Change: func(w *rulestest.World) {
			told("querynode", "queryNode.enableDisk", "false")(w)
			w.Indexes[0].Type = "DISKANN"
		}, Want: []string{object("warning", "querynode-4", "queryNode.enableDisk")}},
		{Name: "disk indexes off, one defined", Change: func(w *rulestest.World) {
			told("querynode", "queryNode.enableDisk", "false")(w)
			w.Indexes[0].Type, w.LoadStates = "DISKANN", nil
		}},
		{Name: "index node without disk indexes", Change: func(w *rulestest.World) {
			told("indexnode", "indexNode.enableDisk", "false")(w)
			w.Indexes[0].Type, w.LoadStates = "DISKANN", nil
		}, Want: []string{object("warning", "indexnode-6", "indexNode.enableDisk")}},
		{Name: "small segments, and very many", Change: func(w *rulestest.World) {
			told("datacoord", "dataCoord.segment.maxSize", "2")(w)
			w.AddSmallSegments(1000, time.Hour)
		}, Want: []string{object("warning", "datacoord-2", "dataCoord.segment.maxSize")}},
		{Name: "no handoff in 2.3", Change: func(w *rulestest.World) {
			told("querycoord", "queryCoord.autoHandoff", "false")(w)
			w.Version.Text = "2.3.5"
		}, Want: []string{object("warning", "querycoord-3", "queryCoord.autoHandoff")}},
		{Name: "read tasks that fill all cores, in 2.2", Change: func(w *rulestest.World) {
			told("querynode", "queryNode.scheduler.cpuRatio", "100")(w)
			w.Version.Text = "2.2.8"
			n := w.Live("querynode")
			n.Distribution = &model.Distribution{}
			for i := range 8 {
				n.Distribution.Sealed = append(n.Distribution.Sealed, model.ServedSegment{
					ID: model.SegmentID(i), Collection: rulestest.CollID,
				})
			}
		}, Want: []string{object("warning", "querynode-4", "queryNode.scheduler.cpuRatio")}},
		{
			Name:   "the same in 2.3, which does not use it",
			Change: told("querynode", "queryNode.scheduler.cpuRatio", "100"),
		},
		{Name: "two values are two findings", Change: func(w *rulestest.World) {
			told("querynode", "log.level", "debug")(w)
			w.SetConfig("log.level", "trace", w.Live("datanode"))
		}, Want: []string{object("info", "datanode-5", "log.level"), object("info", "querynode-4", "log.level")}},
		{
			Name:    "MixCoord tells RootCoord's only",
			Change:  func(w *rulestest.World) { rulestest.Modern(w); w.AddResponses() },
			Skipped: "settings of DataCoord and QueryCoord: mixcoord-1 reports only RootCoord's",
		},
		{
			Name: "MixCoord refuses the rest", Change: func(w *rulestest.World) {
				rulestest.Modern(w)
				w.AddResponses().Processes = append(w.AddResponses().Processes, &model.Process{Calls: []model.Call{{
					Role: "proxy", Node: 1, Method: "GET /api/v1/_cluster/configs", Outcome: model.Denied,
					Reason: "401 (common.security.adminAuthEnabled is true)",
				}}})
			},
			Skipped: "reports only RootCoord's (proxy-1 GET /api/v1/_cluster/configs: denied: 401 " +
				"(common.security.adminAuthEnabled is true))",
		},
		{
			Name: "a proxy tells the rest", Change: func(w *rulestest.World) {
				rulestest.Modern(w)
				w.AddResponses().Processes = append(w.AddResponses().Processes, &model.Process{
					ConfigOf: "proxy-1",
					Config: &model.Config{
						Values: map[string]string{
							"datacoordenablecompaction": "false", "querycoordcheckinterval": "1000",
						},
					},
				})
			},
			Want: []string{
				"warning settings/datacoordenablecompaction/proxy-1 dataCoord.enableCompaction is false in the " +
					"configuration of proxy-1, as MixCoord does not report its own",
			},
		},
		{Name: "a proxy tells the rest, and etcd another", Change: func(w *rulestest.World) {
			rulestest.Modern(w)
			w.AddResponses().Processes = append(w.AddResponses().Processes, &model.Process{
				ConfigOf: "proxy-1",
				Config: &model.Config{
					Values: map[string]string{"datacoordenablecompaction": "false"},
				},
			})
			w.Config = []*model.ConfigEntry{{Name: "dataCoord/enableCompaction", Value: "true"}}
		}},
		{Name: "MixCoord tells all", Change: func(w *rulestest.World) {
			rulestest.Modern(w)
			w.AddResponses()
			w.SetConfig("dataCoord.enableCompaction", "true", w.Live("mixcoord"))
		}},
		{Name: "dynamic key, nobody asked", Change: func(w *rulestest.World) {
			w.Config = []*model.ConfigEntry{{Name: "dataCoord/enableCompaction", Value: "false"}}
		}, Want: []string{"warning config/dataCoord/enableCompaction dataCoord.enableCompaction is false in etcd"}},
		{Name: "dynamic key that is not in force", Change: func(w *rulestest.World) {
			told("datacoord", "dataCoord.enableCompaction", "true")(w)
			w.Config = []*model.ConfigEntry{{Name: "dataCoord/enableCompaction", Value: "false"}}
		}},
	}...))
}

// cutLast splits a name such as "querynode-4" into role and id.
func cutLast(name string) (role, id string, ok bool) {
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '-' {
			return name[:i], name[i+1:], true
		}
	}
	return name, "", false
}

// TestSwitchReadAtStart checks that for a key that processes read only at start the fix is the restart, because the
// key in etcd alone does not help. For other keys it does.
func TestSwitchReadAtStart(t *testing.T) {
	for key, alone := range map[string]bool{
		"dataCoord/enableCompaction": false, "quotaAndLimits/limitWriting/forceDeny": true,
	} {
		value := strconv.FormatBool(alone) // the unusual value
		fix := rulestest.RunCheck(t, rulestest.ByID("bad-switches"), func(w *rulestest.World) {
			w.Config = []*model.ConfigEntry{{Name: key, Value: value}}
		}).Findings[0].Fix
		if helps := fix[0].Within > 0; helps != alone || fix[len(fix)-1].Within == 0 {
			t.Errorf("%s: %+v", key, fix)
		}
	}
}
