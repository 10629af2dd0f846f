package report

import (
	"fmt"
	"strings"
)

// mostRemarks is how many differences of a role are put into words.
const mostRemarks = 5

// Remarks are what there is to say of the nodes, in sentences without a period: who is idle, who inserts, what differs most.
// All of it is in the numbers too.
func (n *Nodes) Remarks() []string {
	var list []string
	for _, r := range n.Roles {
		for i := range r.Nodes {
			if text := r.Nodes[i].loadRemark(); text != "" {
				list = append(list, text)
			}
		}
	}
	for _, a := range []struct{ name, text string }{{"insert", "rows are being inserted"}, {"flush", "segments are being flushed"}, {"compaction", "segments are being compacted"}, {"index build", "indexes are being built"}} {
		if text := n.activityRemark(a.name, a.text); text != "" {
			list = append(list, text)
		}
	}
	for _, r := range n.Roles {
		for i, d := range r.Differences {
			if i == mostRemarks {
				list = append(list, fmt.Sprintf("%s: %d more differences between nodes", r.Role, len(r.Differences)-i))
				break
			}
			list = append(list, d.remark())
		}
	}
	return list
}

func (x *NodeShares) loadRemark() string {
	what := map[Load]string{LoadIdle: "is idle", LoadLow: "does little", LoadHigh: "does most of the work"}[x.Load]
	if what == "" {
		return ""
	}
	return fmt.Sprintf("%s %s: it uses %.2f cores, the others of its role %.2f on average", x.Node, what, x.Cores, x.Others)
}

// activityRemark names the processes that were met at something.
func (n *Nodes) activityRemark(name, text string) string {
	var at []string
	for _, r := range n.Roles {
		for i := range r.Nodes {
			for _, a := range r.Nodes[i].Activities {
				if a.Name == name && a.Events > 0 {
					at = append(at, fmt.Sprintf("%.1f%% of %s (%d of %d samples)", 100*a.Part, r.Nodes[i].Node, a.Events, r.Nodes[i].Samples))
				}
			}
		}
	}
	if len(at) == 0 {
		return ""
	}
	return text + ": " + strings.Join(at, ", ")
}

func (d *Difference) remark() string {
	return fmt.Sprintf("%s spends %.1f%% (%.1f to %.1f%%) in %s, the others %.1f%%", d.Node, 100*d.Here.Part, 100*d.Here.Low, 100*d.Here.High, d.Name, 100*d.Others.Part)
}
