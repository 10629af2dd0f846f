package rules

import (
	"slices"

	"kitescope/inspect/check"
	"kitescope/inspect/metrics"
	"kitescope/inspect/model"
)

// process is a process that told its metrics, in a window, and its session in one of the roles asked for.
type process struct {
	node   *model.LiveNode
	window *metrics.Window
}

// processes are those of some roles, each once.
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

// mean is how long what a histogram counts takes at least on average in milliseconds, and how often it was done.
func (x *process) mean(name metrics.Name, match ...model.Pair) (ms, count float64) {
	h, ok := x.window.Histogram(name, match...)
	low, _, told := h.Mean()
	if !ok || !told {
		return 0, 0
	}
	return low, h.Count
}

func label(key, value string) model.Pair { return model.Pair{Key: key, Value: value} }

// meanOf is the mean of what query nodes count of each request, such as its limit.
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
