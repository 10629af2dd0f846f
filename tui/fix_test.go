package tui

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"

	"kitescope/inspect/check"
	"kitescope/inspect/history"
	"kitescope/inspect/model"
	"kitescope/internal/hints"
	"kitescope/tui/draw"
	"kitescope/tui/tuitest"
)

const fixCommand = "etcdctl --endpoints=127.0.0.1:2379 put by-dev/config/queryCoord/autoBalance true"

// TestFixKey checks that y on the first screen copies the command that fixes the worst finding, at every
// size.
func TestFixKey(t *testing.T) {
	for _, size := range tuitest.Sizes {
		t.Run(fmt.Sprintf("%dx%d", size.W, size.H), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := driven(t, testConfig(), size.W, size.H)
				d.Cluster(tuitest.Fixture())
				d.Shows(fixMark + "$ etcdctl") // and as much of the command as fits
				d.Keys("y")
				if d.Clip != fixCommand {
					t.Errorf("copied %q", d.Clip)
				}
				d.Keys("enter y")
				d.Shows("› auto-balance-off")
				if d.Clip != fixCommand {
					t.Errorf("copied from the finding's page: %q", d.Clip)
				}
			})
		})
	}
}

// TestFixClusterFlags checks that a kitescope command is copied with the flags for the cluster, unless it
// names a process.
func TestFixClusterFlags(t *testing.T) {
	for command, want := range map[string]string{
		"kitescope balance docs --plan":           "kitescope --from etcd://127.0.0.1:2379/by-dev balance docs --plan",
		"kitescope profile top http://10.0.0.7:1": "kitescope profile top http://10.0.0.7:1",
		"etcdctl defrag\nkitescope diagnose": "etcdctl defrag\nkitescope --from etcd://127.0.0.1:2379/by-dev " +
			"diagnose",
	} {
		synctest.Test(t, func(t *testing.T) {
			cfg := testConfig()
			cfg.Checks = []*check.Check{
				tuitest.FixtureCheck("one", "One", check.Error, check.Finding{
					Severity: check.Error, Message: "it is so", Fix: []check.Step{{Command: check.Hint(command)}},
				}),
			}
			d := driven(t, cfg, 100, 30)
			d.Cluster(tuitest.Fixture())
			d.Keys("y")
			if d.Clip != want {
				t.Errorf("copied %q, want %q", d.Clip, want)
			}
		})
	}
}

// TestAllOfTheOverviewIsSelected checks that the cursor reaches every item, that the item is visible, and that
// enter opens a page from all items that support it.
func TestAllOfTheOverviewIsSelected(t *testing.T) {
	for _, size := range tuitest.Sizes {
		t.Run(fmt.Sprintf("%dx%d", size.W, size.H), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := driven(t, testConfig(), size.W, size.H)
				d.Cluster(tuitest.Fixture())
				p := d.m.Top().(*overviewPage)
				d.Plain()
				kinds := map[string]int{}
				d.Keys("home")
				for i := range p.items {
					d.Fits()
					x := p.selected()
					kind, _, _ := strings.Cut(x.Key, " ")
					kinds[kind]++
					if p.at != i || x.Line < p.Top || x.Line >= p.Top+p.Height {
						t.Fatalf("%d downs lead to %d, %q, on line %d of %d to %d", i, p.at, x.Key, x.Line, p.Top,
							p.Top+p.Height)
					}
					if x.Finding != nil || x.Page != "" || x.Object.Resource != "" {
						d.Keys("enter")
						if d.m.Top() == Page(p) {
							t.Errorf("enter opens nothing from %q: %s", x.Key, d.Plain())
							d.Keys("down")
							continue
						}
						d.Keys("esc")
					}
					d.Keys("down")
				}
				for _, kind := range []string{
					"finding", "lacking", "role", "data", "state", "node", "health", "checkpoint", "keys", "etcd",
					"collection",
				} {
					if kinds[kind] == 0 {
						t.Errorf("no item is of %s: %v", kind, kinds)
					}
				}
			})
		})
	}
}

// TestToastsFade checks that a message disappears from the footer after a while, and an error later.
func TestToastsFade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 100, 30)
		d.Cluster(tuitest.Fixture())
		d.Keys("y")
		d.Shows("copied by the terminal (OSC 52): fix: etcdctl")
		d.Sleep(2900 * time.Millisecond)
		d.Shows("copied by the terminal (OSC 52): fix: etcdctl")
		d.Sleep(200 * time.Millisecond)
		d.Lacks("sent to the terminal")
		d.Shows("y copy fix")
		d.m.Notify(ToneBad, "that went wrong")
		d.Send(nil)
		d.Sleep(toastDuration + time.Second)
		d.Shows("that went wrong")
		d.Sleep(badToastDuration)
		d.Lacks("that went wrong")
	})
}

// TestNeverAnyData checks that a page without any data shows the complete reason and the hint.
func TestNeverAnyData(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 60, 15)
		d.Send(history.Update{
			Err: hints.Errorf("name the root: --from etcd://127.0.0.1:2379/by-dev",
				"no Milvus metadata under root %q; found by-dev, and a second one whose name is long", "nosuch"),
		})
		d.Fits()
		d.Shows("whose name is long", "name the root")
		d.Lacks("FINDINGS  …")
		d.Keys("f")
		d.Shows("whose name is long")
		d.Cluster(tuitest.Fixture())
		d.Lacks("no Milvus metadata")
	})
}

// TestRegisteredRole checks that a key in etcd is a neutral status of a process. Only a response is good, and
// no response is bad.
func TestRegisteredRole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 200, 50)
		c := tuitest.Fixture()
		d.Cluster(c)
		d.Shows("rootcoord       1  ? registered")
		d.Lacks("✓ registered")
		d.Cluster(c.WithRuntime(model.BuildRuntime(model.RuntimeParts{Nodes: []*model.LiveNode{
			{Role: "rootcoord", Node: 1, Outcome: model.Answered},
			{Role: "datacoord", Node: 2, Outcome: model.Refused},
			{Role: "querynode", Node: 7, Outcome: model.Answered},
			{Role: "querynode", Node: 8, Outcome: model.TimedOut},
		}})))
		d.Shows("rootcoord       1  ✓ responds", "datacoord       1  ✖ no response", "proxy           1  ? registered")
	})
}

// TestSmallScreens checks that pages with findings fit into places smaller than the smallest terminal, and show the
// fix there.
func TestSmallScreens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 80, 24)
		d.Cluster(tuitest.Fixture())
		f := d.m.data.judged.report.Findings[0]
		for _, size := range []struct{ w, h int }{{40, 7}, {40, 5}, {50, 9}, {60, 3}, {200, 4}} {
			for name, p := range map[string]Page{
				"overview": &overviewPage{}, "findings": &findingsPage{judged: d.m.data.judged},
				"finding": newFindingPage(d.m.data.judged, f),
			} {
				d.m.stack.push(p)
				d.Run(d.m.Refresh())
				d.Settle()
				lines := p.Body(d.m, size.w, size.h)
				if len(lines) > size.h {
					t.Errorf("%s: %d lines in %d", name, len(lines), size.h)
				}
				for _, line := range lines {
					if n := draw.Width(ansi.Strip(line)); n > size.w {
						t.Errorf("%s: a line of %d in %d: %q", name, n, size.w, ansi.Strip(line))
					}
				}
				if text := ansi.Strip(strings.Join(lines, "\n")); size.h >= 5 && !strings.Contains(text, "FIX") &&
					!strings.Contains(text, "auto-balance is off") {
					t.Errorf("%s in %d x %d lacks the fix:\n%s", name, size.w, size.h, text)
				}
			}
		}
	})
}
