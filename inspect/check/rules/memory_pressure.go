package rules

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// memoryPressure finds processes and hosts with nearly full memory.
var memoryPressure = &check.Check{
	ID:       "memory-pressure",
	Title:    "Memory is nearly full",
	Severity: check.Error,
	Symptoms: []string{check.LoadsHang, check.WritesFail, check.MemoryFull},
	Starts: "collection_loading collection_loaded replica_created node_lost:querynode | partition_loaded " +
		"node_left:querynode index_built",
	Doc: `Milvus rejects writes because one node's memory is full. The check compares memory use with the limit, as
the process reports them (GetMetrics: memory_usage of memory; the container's limit, if there is one). A process with
several roles counts once.

For query, data and streaming nodes the levels are Milvus's own, from
` + "`quotaAndLimits.limitWriting.memProtection`" + `. Warning from the low water level (85%): writes to the whole
cluster are throttled. Error from the high one (95%): they are rejected. At 90% a query node loads nothing more
(` + "`queryNode.overloadedMemoryThresholdPercentage`" + `). Levels come from RootCoord's configuration if reported.
Other processes: warning at 90%, error at 95%.

Processes on one host that report the same total memory share it: their sum is judged too.`,
	Remedy: `Add query nodes or memory, or release unused collections. Use mmap (2.4 and later) or a DISKANN index to
keep data on disk. Run ` + "`kitescope balance --by memory`" + ` to see memory use and nodes with room.`,
	Parts:  model.PartSessions,
	Needs:  check.NeedSystem,
	Phases: []latency.Name{latency.WaitForWorkers, latency.WaitForNodes},
	Run:    runMemoryPressure,
}

const (
	lowWater, highWater = 0.85, 0.95 // for query, data and streaming nodes
	muchMemory          = 0.90       // for other processes
)

func runMemoryPressure(p *check.Pass) {
	hosts := make(map[string][]*model.LiveNode)
	noteUnseenMemory(p)
	for _, n := range measuredSessions(p) {
		judgeMemory(p, n)
		host, _, err := net.SplitHostPort(n.Address)
		if err != nil {
			host = n.Address
		}
		key := host + " " + strconv.FormatInt(n.System.Memory, 10)
		hosts[key] = append(hosts[key], n)
	}
	for _, key := range slices.Sorted(maps.Keys(hosts)) {
		judgeHost(p, hosts[key])
	}
}

// noteUnseenMemory notes the processes that did not report their memory. It skips query nodes, which are noted already.
func noteUnseenMemory(p *check.Pass) {
	told := make(map[string]bool)
	for _, n := range p.Runtime.Nodes {
		told[n.Address] = told[n.Address] || n.System != nil
	}
	for _, n := range p.Runtime.Nodes {
		if n.Role != "querynode" && !told[n.Address] && !p.IsGone(n) {
			p.NoteUnseen("memory of " + n.Name() + ": " + facts.WhySilent(n))
		}
	}
}

// measuredSessions returns one session of each process that reported its memory.
func measuredSessions(p *check.Pass) []*model.LiveNode {
	var list []*model.LiveNode
	seen := make(map[string]bool)
	for _, n := range p.Runtime.Nodes {
		if n.System == nil || n.System.Memory <= 0 || n.System.MemoryUse <= 0 {
			continue
		}
		key := n.Address
		if n.Process != nil {
			key = n.Process.Address
		}
		if !seen[key] {
			seen[key] = true
			list = append(list, n)
		}
	}
	return list
}

// waterLevels returns the low and high levels of a process as fractions of its memory, and their source.
func waterLevels(p *check.Pass, role string) (low, high float64, from string) {
	name, ok := map[string]string{
		"querynode": "queryNode", "datanode": "dataNode", "streamingnode": "dataNode", "standalone": "queryNode",
	}[role]
	if !ok {
		return muchMemory, highWater, "kitescope"
	}
	low, high, from = lowWater, highWater, "default"
	for _, level := range []struct {
		key string
		to  *float64
	}{{"MemoryLowWaterLevel", &low}, {"MemoryHighWaterLevel", &high}} {
		s, ok := p.Setting("quotaAndLimits.limitWriting.memProtection."+name+level.key, "rootcoord", "mixcoord")
		if v, err := strconv.ParseFloat(s.Value, 64); ok && err == nil && v > 0 && v <= 1 {
			*level.to, from = v, s.From
		}
	}
	return low, high, from
}

func judgeMemory(p *check.Pass, n *model.LiveNode) {
	low, high, from := waterLevels(p, n.Role)
	part := float64(n.System.MemoryUse) / float64(n.System.Memory)
	if part < low {
		return
	}
	f := check.Finding{
		Severity: check.Warning, Object: n.Ref(),
		Message: fmt.Sprintf("%s uses %s of its memory, %s of %s", n.Name(), words.Share(part),
			words.Bytes(n.System.MemoryUse), words.Bytes(n.System.Memory)),
		Evidence: []check.Evidence{
			check.Size("memory in use", n.System.MemoryUse, n.Name()+" GetMetrics"),
			check.Size("memory limit", n.System.Memory, n.Name()+" GetMetrics"),
			check.Factf("levels", from, "%s and %s", check.Percent(low), check.Percent(high)),
		},
		Impact: "When memory is full the process is killed.",
		Fix: check.Fix(
			check.Do("give it more memory, or release unused collections").Restarting(p.Cluster, 5*time.Minute, n.Role),
			check.Shell(check.Kitescope("balance --by memory")).Does("shows what uses memory and which node has room"),
		),
	}
	switch n.Role {
	case "querynode", "datanode", "streamingnode", "standalone":
		f.Impact = "Writes are throttled from " + words.Share(low) + " and rejected from " + words.Share(high) +
			"; a query node at 90% loads nothing more, and at 100% it is killed."
	}
	if part >= high {
		f.Severity = check.Error
	}
	// The cost is the loss if the process is killed, weighted by how close its memory is to full.
	f.Cost = min(1, (part-low)/max(0.01, 1-low)/2)
	if n.Role != "standalone" {
		d := dutiesOf(p, n.Role, n.Node)
		f.Cost *= loss(p, &d)
	}
	p.Report(f)
}

// judgeHost sums the memory of the processes that share a host.
func judgeHost(p *check.Pass, list []*model.LiveNode) {
	if len(list) < 2 {
		return
	}
	var sum int64
	names := make([]string, len(list))
	refs := make([]model.Ref, len(list))
	slices.SortFunc(list, func(a, b *model.LiveNode) int {
		return cmp.Or(-cmp.Compare(a.System.MemoryUse, b.System.MemoryUse), cmp.Compare(a.Name(), b.Name()))
	})
	for i, n := range list {
		sum += n.System.MemoryUse
		names[i], refs[i] = n.Name(), n.Ref()
	}
	whole := list[0].System.Memory
	part := float64(sum) / float64(whole)
	if part < muchMemory || sum > whole*int64(len(list)) ||
		float64(list[0].System.MemoryUse) >= muchMemory*float64(whole) {
		return // judgeMemory reports a process that fills the host alone
	}
	p.Report(check.Finding{
		Severity: check.Warning, Object: list[0].Ref(), Objects: refs[1:], Cost: min(1, part-muchMemory),
		Message: fmt.Sprintf("%s share a host and together use %s of its memory, %s of %s", words.Summarize(names),
			words.Share(part), words.Bytes(sum), words.Bytes(whole)),
		Evidence: []check.Evidence{
			check.Size("memory in use, total", sum, "GetMetrics of each"),
			check.Size("memory of the host", whole, list[0].Name()+" GetMetrics"),
			check.Factf("largest", names[0]+" GetMetrics", "%s %s", names[0], check.Bytes(list[0].System.MemoryUse)),
		},
		Impact: "The host may kill one of them although each reports free memory.",
		Fix: check.Fix(check.Do("set a memory limit for each process, or move some to another host").
			Interrupting(5*time.Minute, "each process while it restarts")),
	})
}
