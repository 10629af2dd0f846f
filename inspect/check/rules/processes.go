package rules

import (
	"slices"

	"kitescope/inspect/check"
	"kitescope/inspect/metrics"
	"kitescope/inspect/model"
)

// process is a process with metrics: its session in one of the wanted roles, and the window of its metrics.
type process struct {
	node   *model.LiveNode
	window *metrics.Window
}

// processes returns the processes with metrics, each once. If roles are given, it returns only processes of those
// roles.
func processes(p *check.Pass, roles ...string) []process {
	var list []process
	seen := make(map[*model.Process]bool)
	for _, n := range p.Runtime.Nodes {
		x := n.Process
		if x == nil || x.Metrics == nil || seen[x] || len(roles) > 0 && !slices.Contains(roles, n.Role) {
			continue
		}
		seen[x] = true
		list = append(list, process{n, metrics.NewWindow(x.Before, x.Metrics)})
	}
	return list
}

// mean returns the lower bound of a histogram's mean in milliseconds, and its count. It returns zeros if the mean is
// unknown.
func (x *process) mean(name metrics.Name, match ...model.Pair) (ms, count float64) {
	h, ok := x.window.Histogram(name, match...)
	low, _, told := h.Mean()
	if !ok || !told {
		return 0, 0
	}
	return low, h.Count
}

func label(key, value string) model.Pair { return model.Pair{Key: key, Value: value} }

// meanOf returns the mean of a per-request histogram over all query nodes, e.g. of the limit.
func meanOf(p *check.Pass, name metrics.Name) (mean float64, known bool) {
	sum, n := 0.0, 0.0
	for _, x := range processes(p, "querynode", "streamingnode", "standalone") {
		m, count := x.mean(name)
		sum, n = sum+m*count, n+count
	}
	if n <= 0 {
		return 0, false
	}
	return sum / n, true
}
