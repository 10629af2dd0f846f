package rules

import (
	"strconv"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
)

// judgement is the type of toggle.judge. It returns the severity of a value, and whether the value is bad.
type judgement = func(*check.Pass, *model.LiveNode, string) (check.Severity, bool)

// badIf returns a judgement for switches: a value is bad if it parses as a bool and equals bad.
func badIf(severity check.Severity, bad bool) judgement {
	return func(_ *check.Pass, _ *model.LiveNode, value string) (check.Severity, bool) {
		v, err := strconv.ParseBool(strings.TrimSpace(value))
		return severity, err == nil && v == bad
	}
}

// badOutside returns a judgement for numbers: a value is bad if it is less than low or greater than high.
func badOutside(severity check.Severity, low, high float64) judgement {
	return func(_ *check.Pass, _ *model.LiveNode, value string) (check.Severity, bool) {
		v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		return severity, err == nil && (v < low || v > high)
	}
}

// toggles returns the settings to check.
func toggles() []toggle {
	list := append(queryToggles(), dataToggles()...)
	return append(list, sharedToggles()...)
}

// queryToggles returns the settings of query nodes and QueryCoord.
func queryToggles() []toggle {
	nodes, coords := []string{"querynode", "streamingnode"}, []string{"querycoord", "mixcoord"}
	return []toggle{
		{
			// The number of concurrent searches is cores times the ratio. milvus issue 18910 measured 3,274, 3,408,
			// 3,284 and 2,577 queries per second with 1, 2, 3 times the cores and without a limit.
			"queryNode.scheduler.maxReadConcurrentRatio", nodes, "1",
			"below 0.5 or above 10 is a warning, above 4 info", judgeConcurrency,
			"searches run in fewer tasks than there are cores, or in so many that they slow each other down",
		},
		{
			"queryNode.scheduler.cpuRatio", nodes, "10",
			"in Milvus 2.1 and 2.2, a warning if one search over the segments of a node is estimated to need all " +
				"cores (newer versions do not use it)",
			judgeCPURatio, "searches run one at a time",
		},
		{
			"queryNode.grouping.enabled", nodes, "true", "off is a warning", badIf(check.Warning, false),
			"searches for few vectors are not merged into one task",
		},
		{
			"queryNode.segcore.interimIndex.enableIndex", nodes, "true", "off is info", badIf(check.Info, false),
			"growing segments, and sealed ones without an index, are searched by brute force",
		},
		{
			"queryNode.enableDisk", nodes, "false", "off is a warning if a collection is loaded with DISKANN",
			judgeDisk, "query nodes cannot load DISKANN indexes",
		},
		{
			// Milvus uses 1 without disk indexes, and caps the ratio at 32.
			"queryNode.segcore.knowhereThreadPoolNumRatio", nodes, "4",
			"below 1 is a warning if `queryNode.enableDisk` is on (no effect otherwise)", judgeThreadPool,
			"the search thread pool is smaller than the number of cores",
		},
		{
			"queryNode.mmap.mmapEnabled", nodes, "false", "on is info", badIf(check.Info, true),
			"vectors are read from disk through the page cache, slowly while it is cold",
		},
		{
			"queryNode.mmap.vectorIndex", nodes, "false", "on is info", badIf(check.Info, true),
			"indexes are read from disk through the page cache, slowly while it is cold",
		},
		{
			"queryCoord.autoHandoff", coords, "true",
			"off is a warning in Milvus 2.3 and older, info in newer versions", judgeHandoff,
			"flushed segments do not replace growing ones",
		},
		{
			"queryCoord.checkInterval", coords, "1000", "above 10,000 ms is a warning",
			badOutside(check.Warning, 0, 10_000), "QueryCoord is slow to notice what to load or move",
		},
		{
			"queryCoord.distPullInterval", coords, "500", "above 5,000 ms is a warning",
			badOutside(check.Warning, 0, 5_000), "QueryCoord is slow to learn what nodes serve",
		},
		{
			"queryCoord.balanceIntervalSeconds", coords, "60", "above 600 s is info", badOutside(check.Info, 0, 600),
			"new nodes stay idle for long",
		},
	}
}

// dataToggles returns the settings of data nodes, index nodes and DataCoord.
func dataToggles() []toggle {
	coords, nodes := facts.DataCoords(), []string{"datanode", "streamingnode"}
	return []toggle{
		{
			compactionSwitch, coords, "true", "off is a warning", badIf(check.Warning, false),
			"segments are never merged and deleted rows never removed",
		},
		{
			autoCompactionSwitch, coords, "true", "off is a warning", badIf(check.Warning, false),
			"segments are merged on request only",
		},
		{
			"dataCoord.enableGarbageCollection", coords, "true", "off is a warning", badIf(check.Warning, false),
			"dropped data stays in etcd and object storage",
		},
		{
			"dataCoord.segment.maxSize", coords, "1024",
			"below 64 MB is info, a warning from 1,000 flushed segments on", judgeSegmentSize,
			"many small segments: each adds its own index and search",
		},
		{
			"dataCoord.segment.sealProportion", coords, "0.12", "below 0.01 or above 1 is a warning",
			badOutside(check.Warning, 0.01, 1), "segments are sealed when still tiny, or by age only",
		},
		{
			"dataNode.segment.syncPeriod", nodes, "600", "above 1,800 s is a warning",
			badOutside(check.Warning, 0, 1800),
			"rows stay in memory that long, and checkpoints lag as much",
		},
		{
			"dataNode.channel.updateChannelCheckpointInterval", nodes, "60", "above 600 s is a warning",
			badOutside(check.Warning, 0, 600),
			"checkpoints lag that much, and every load reads the queue from there",
		},
		{
			"indexNode.enableDisk",
			[]string{"indexnode"},
			"true", "off is a warning if a DISKANN index is defined",
			judgeDisk, "index nodes cannot build DISKANN indexes",
		},
	}
}

// sharedToggles returns the settings that several roles read.
func sharedToggles() []toggle {
	every := []string{
		"rootcoord", "datacoord", "querycoord", "mixcoord", "querynode", "datanode", "indexnode", "streamingnode",
		"proxy",
	}
	builders := []string{"querynode", "indexnode", "datanode", "streamingnode"}
	return []toggle{
		{
			"quotaAndLimits.limitWriting.forceDeny", every, "false", "on is an error", badIf(check.Error, true),
			"every insert and delete is rejected",
		},
		{
			"quotaAndLimits.limitReading.forceDeny", every, "false", "on is an error", badIf(check.Error, true),
			"every search and query is rejected",
		},
		{
			"quotaAndLimits.limitWriting.memProtection.enabled", every, "true", "off is info", badIf(check.Info, false),
			"inserts continue until a node runs out of memory",
		},
		{
			"common.ttMsgEnabled", every, "true", "off is a warning", badIf(check.Warning, false),
			"no time ticks are sent, and consistent searches wait for them",
		},
		{
			"common.gracefulTime",
			[]string{"proxy", "querynode", "querycoord", "rootcoord", "mixcoord"},
			"5000", "below 200 ms (the time tick interval) or above 60,000 ms is info",
			badOutside(check.Info, 200, 60_000),
			"searches with Bounded consistency wait for the next time tick, or miss the last minute",
		},
		{
			"common.simdType", builders, "auto", "sse4_2 and avx are a warning, other values than auto info", judgeSIMD,
			"vectors are compared with older instructions than the CPU may support",
		},
		{"log.level", every, "info", "debug is info", judgeLogLevel, "every request writes to the log"},
	}
}

func judgeConcurrency(_ *check.Pass, _ *model.LiveNode, value string) (check.Severity, bool) {
	v, err := strconv.ParseFloat(value, 64)
	switch {
	case err != nil:
		return 0, false
	case v < 0.5 || v > 10:
		return check.Warning, true
	}
	return check.Info, v > 4
}

// judgeCPURatio reports a ratio as bad if one search is estimated to need all cores. It uses the estimate of the
// scheduler of 2.1 and 2.2: a search takes segments x nq x ratio percent, with 100 percent per core. Searches that do
// not fit wait (milvus pull request 25772). Here nq is 1.
func judgeCPURatio(p *check.Pass, n *model.LiveNode, value string) (check.Severity, bool) {
	v, err := strconv.ParseFloat(value, 64)
	if err != nil || n == nil || n.System == nil || n.System.CPUs <= 0 ||
		!facts.ReleaseOf(p.Cluster).Before(facts.Release{Major: 2, Minor: 3}) {
		return 0, false
	}
	if n.Distribution == nil {
		return 0, false
	}
	segments, largest := make(map[model.CollectionID]int), 0
	for i := range n.Distribution.Sealed {
		id := n.Distribution.Sealed[i].Collection
		segments[id]++
		largest = max(largest, segments[id])
	}
	return check.Warning, largest > 1 && float64(largest)*v >= 100*float64(n.System.CPUs)
}

func judgeThreadPool(_ *check.Pass, n *model.LiveNode, value string) (check.Severity, bool) {
	v, err := strconv.ParseFloat(value, 64)
	if err != nil || v <= 0 || v >= 1 {
		return 0, false
	}
	if n != nil {
		if disk, told := n.Config.Get("queryNode.enableDisk"); told && strings.EqualFold(disk, "false") {
			return 0, false
		}
	}
	return check.Warning, true
}

// judgeDisk reports disk indexes that are off as bad if a DISKANN index is defined. On query nodes, its collection must
// also be loaded.
func judgeDisk(p *check.Pass, n *model.LiveNode, value string) (check.Severity, bool) {
	on, err := strconv.ParseBool(value)
	if err != nil || on {
		return 0, false
	}
	for _, i := range p.Indexes {
		if i.Deleted || i.Type != "DISKANN" {
			continue
		}
		if n == nil || n.Role == "indexnode" || p.LoadState(i.Collection) != nil {
			return check.Warning, true
		}
	}
	return 0, false
}

func judgeHandoff(p *check.Pass, n *model.LiveNode, value string) (check.Severity, bool) {
	severity, bad := badIf(check.Info, false)(p, n, value)
	if r := facts.ReleaseOf(p.Cluster); r.Before(facts.Release{Major: 2, Minor: 4}) {
		severity = check.Warning
	}
	return severity, bad
}

func judgeSegmentSize(p *check.Pass, _ *model.LiveNode, value string) (check.Severity, bool) {
	v, err := strconv.ParseFloat(value, 64)
	switch {
	case err != nil || v >= 64:
		return 0, false
	case p.Totals().ByState[model.SegmentFlushed] >= 1000:
		return check.Warning, true
	}
	return check.Info, true
}

func judgeSIMD(_ *check.Pass, _ *model.LiveNode, value string) (check.Severity, bool) {
	switch strings.ToLower(value) {
	case "auto", "":
		return 0, false
	case "sse4_2", "avx":
		return check.Warning, true
	}
	return check.Info, true
}

func judgeLogLevel(_ *check.Pass, _ *model.LiveNode, value string) (check.Severity, bool) {
	return check.Info, strings.EqualFold(value, "debug") || strings.EqualFold(value, "trace")
}
