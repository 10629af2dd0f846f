package tui

import (
	"strings"
	"testing"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/tui/draw"
)

// TestBarTitle checks that the legend of the bars of query nodes is complete at every width.
func TestBarTitle(t *testing.T) {
	for room := 6; room <= 40; room++ {
		if got := barTitle(room); strings.Contains(got, "…") || !strings.Contains(got, "█") ||
			!strings.Contains(got, "░") || draw.Width(got) != room {
			t.Errorf("%d cells: %q", room, got)
		}
	}
}

// TestWorstNodesFirst checks that a node with a finding comes first, among few nodes and among many.
func TestWorstNodesFirst(t *testing.T) {
	for _, n := range []int{4, 20} {
		s := overviewSheet{o: &view.Overview{Nodes: make([]view.NodeLine, n)}, report: &check.Report{}}
		for i := range s.o.Nodes {
			s.o.Nodes[i] = view.NodeLine{
				Ref:  view.Ref{Resource: "nodes", ID: model.NodeID(i).String()},
				Live: &view.NodeLive{Answer: "answered"},
			}
		}
		idle := s.o.Nodes[n-2].Ref
		s.report.Findings = []*check.Finding{
			{Severity: check.Warning, Object: idle}, {Severity: check.Info, Object: s.o.Nodes[0].Ref},
		}
		if first := s.topNodes()[0].Ref; first != idle {
			t.Errorf("%d nodes: the first is %s, not %s", n, first.ID, idle.ID)
		}
	}
}
