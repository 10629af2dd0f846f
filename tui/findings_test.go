package tui

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/history"
	"kitescope/inspect/model"
	"kitescope/tui/tuitest"
)

// TestFindingsScreens checks the screens without findings.
func TestFindingsScreens(t *testing.T) {
	for name, checks := range map[string][]*check.Check{
		"healthy": tuitest.HealthyChecks(), "blind": tuitest.BlindChecks(),
	} {
		for _, size := range tuitest.Sizes {
			t.Run(fmt.Sprintf("%s-%dx%d", name, size.W, size.H), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					cfg := testConfig()
					cfg.Checks = checks
					d := driven(t, cfg, size.W, size.H)
					d.Cluster(tuitest.Fixture())
					d.Fits()
					overview := strings.Split(d.Plain(), "\n")
					d.Keys("f")
					d.Fits()
					tuitest.Golden(t, fmt.Sprintf("findings-%s-%dx%d", name, size.W, size.H),
						strings.Join(overview[:6], "\n")+"\n\n"+d.Plain())
				})
			})
		}
	}
}

func TestFindingsPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 200, 50)
		d.Keys("f")
		d.Shows("findings", "…")
		d.Cluster(tuitest.Fixture())
		d.Shows("1 error, 2 warnings, 2 info", "2 could not run",
			"1 of 7 checks needs the nodes: open live, or a bundle saved with --live", "causes 1 error")
		// the first one is open
		d.Shows("nodes that join stay idle", "FIX", "$ etcdctl", "turns it on within 8 s",
			"EFFECTS   ✖ docs_hnsw_cos is served")
		d.Keys("down")
		d.Shows("$ kitescope balance docs_hnsw_cos --plan", "CAUSE     ▲ auto-balance is off",
			"EFFECTS   ▲ querynode-9 is idle", "29.3% of query work")
		d.Keys("down left") // from the effect of an effect to its cause
		d.Shows("1.77 times the work", "node querynode-7", "node querynode-9")
		d.Keys("o")
		d.Shows("findings › docs_hnsw_cos", "consistency", "FINDINGS  2")
		d.Keys("esc enter")
		d.Shows("findings › uneven", "CHECK  Nodes share the work of a replica unevenly", "ABOUT THE CHECK",
			"auto-balance-off", "$ kitescope balance docs_hnsw_cos --plan")
		d.Keys("/").Typed("max/mean").Keys("enter")
		d.Shows("/max/mean 1 of 1")
		d.Keys("esc*2 e")
		d.Shows("Nodes share the work of a replica unevenly", "ABOUT THE CHECK", "auto-balance-off")
		d.Keys("esc /").Typed("idle").Keys("enter")
		d.Shows("querynode-9 is idle", "/idle")
		d.Lacks("› docs_hnsw_cos is served unevenly")
		d.Keys("esc home down*3 o")
		d.Shows("the finding is about the whole cluster")
		d.Keys("end")
		d.Shows("querynode-8: timed out") // the part that a check did not see
		d.Keys("enter")
		d.Shows("no finding selected")
	})
}

// TestLongFinding checks that a finding longer than its place scrolls, and that the cursor moves on at once.
func TestLongFinding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := check.Finding{Severity: check.Error, Message: "a long story"}
		for i := range 40 {
			long.Evidence = append(long.Evidence, check.Evidence{Name: fmt.Sprintf("fact number %d", i), Value: "x"})
		}
		cfg := testConfig()
		cfg.Checks = []*check.Check{
			tuitest.FixtureCheck("long", "Long", check.Error, long),
			tuitest.FixtureCheck("short", "Short", check.Info, check.Finding{Message: "the next one"}),
		}
		for _, size := range tuitest.Sizes {
			d := driven(t, cfg, size.W, size.H)
			d.Cluster(tuitest.Fixture())
			d.Keys("f")
			d.Shows("a long story", "the next one")
			seen := map[int]bool{}
			for range 60 { // one line at a time on small screens
				d.Fits()
				for i := range 40 {
					if strings.Contains(strings.Join(strings.Fields(d.Plain()), " "),
						fmt.Sprintf("fact number %d:", i)) {
						seen[i] = true
					}
				}
				d.Keys("right")
			}
			if len(seen) != 40 {
				t.Errorf("%d x %d: %d facts were seen", size.W, size.H, len(seen))
			}
			d.Keys("left*60")
			d.Shows("none known")
			d.Keys("down")
			if p := d.m.Top().(*findingsPage); p.cursor != 1 || p.opened.Top != 0 {
				t.Errorf("the cursor is on %d, scrolled by %d", p.cursor, p.opened.Top)
			}
		}
	})
}

// TestFindingsOfAnObject checks that an object leads to its findings, and back.
func TestFindingsOfAnObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 120, 40)
		d.Cluster(tuitest.Fixture())
		d.Keys("4 f")
		d.Shows("findings about docs_hnsw_cos", "2 of 5 findings", "auto-balance is off")
		d.Lacks("need the nodes", "needs the nodes")
		d.Keys("down f") // all findings; the cursor stays
		d.Shows("querynode-9 is idle", "needs the nodes")
		if got := d.m.Top().(*findingsPage).finding().Check; got != "uneven" {
			t.Errorf("the cursor is on %s", got)
		}
		d.Keys("f")
		d.Shows("all findings are shown already")
		d.Keys("o esc esc r")
		d.Shows("findings about it")
		d.Keys("f")
		d.Shows("findings about docs_hnsw_cos")
		d.Keys("esc down f") // the second collection has no findings, so all are shown
		d.Shows("querynode-9 is idle", "› findings ")
		d.Keys("esc*2 3 /").Typed("10.0.0.9").Keys("enter d")
		d.Shows("FINDINGS  2", "querynode-9 is idle: 0 of 21 segments", "docs_hnsw_cos is served unevenly")
	})
}

// TestFindingsFollowCluster checks that clusters are judged one at a time, the newest next, and that the cursor stays
// on its finding.
func TestFindingsFollowCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running, runs, most := 0, 0, 0
		slow := tuitest.FixtureCheck("slow", "Slow", check.Error)
		slow.Run = func(p *check.Pass) {
			running++
			runs++
			most = max(most, running)
			time.Sleep(10 * time.Second)
			running--
			p.Report(check.Finding{
				Severity: check.Warning, Message: "seen at revision " + strconv.FormatInt(p.Origin.Revision, 10),
			})
			if p.Origin.Revision >= 3 {
				p.Report(check.Finding{
					Severity: check.Error, Object: model.Ref{Resource: "collections", ID: "470590760626290000"},
					Message: "worse than that",
				})
			}
		}
		cfg := testConfig()
		cfg.Checks = []*check.Check{slow}
		d := driven(t, cfg, 100, 24)
		d.Keys("f")
		for revision := range 5 {
			p := tuitest.FixtureParts()
			p.Origin.Revision = int64(1 + revision)
			d.Cluster(model.Build(p))
		}
		d.Shows("…")
		d.Sleep(11 * time.Second)
		d.Shows("seen at revision 1")
		d.Sleep(10 * time.Second)
		d.Shows("seen at revision 5", "worse than that")
		if runs != 2 || most != 1 {
			t.Errorf("%d runs, %d at once: those of the clusters between are not wanted", runs, most)
		}
		if got := d.m.Top().(*findingsPage).finding().Message; !strings.HasPrefix(got, "seen at") {
			t.Errorf("the cursor is on %q", got)
		}
	})
}

// TestChecksPause checks that slow checks pause before they judge the next cluster.
func TestChecksPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		heavy := tuitest.FixtureCheck("heavy", "Heavy", check.Error)
		heavy.Run = func(*check.Pass) {
			runs++
			time.Sleep(20 * time.Millisecond)
		}
		cfg := testConfig()
		cfg.Checks, cfg.Now = []*check.Check{heavy}, time.Now
		d := driven(t, cfg, 100, 24)
		for revision := range 20 {
			p := tuitest.FixtureParts()
			p.Origin.Revision = int64(1 + revision)
			d.Cluster(model.Build(p))
			d.Sleep(time.Second)
		}
		if runs < 5 || runs > 11 {
			t.Errorf("%d runs in 20 s of which each takes 20 ms, want one every two or three seconds", runs)
		}
		d.Sleep(maxPause)
		before := runs
		d.Sleep(time.Minute)
		if runs > before+2 { // ages are updated every half minute
			t.Errorf("%d runs while nothing changes", runs-before)
		}
	})
}

// TestRuntimeChecks checks that new responses of the nodes are judged although the revision of the metadata is
// the same.
func TestRuntimeChecks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.Checks = tuitest.BlindChecks()
		d := driven(t, cfg, 120, 50)
		c := tuitest.Fixture()
		d.Cluster(c)
		d.Shows("no problems found so far", "1 of 2 checks needs the nodes: open live")
		asked := model.BuildRuntime(model.RuntimeParts{Nodes: []*model.LiveNode{{
			Role: "querynode", Node: 7, Outcome: model.Answered, Distribution: &model.Distribution{},
		}}})
		d.Cluster(c.WithRuntime(asked))
		d.Shows("no problems found by 2 checks", "HEALTH  ✓ healthy")
		d.Lacks("needs the nodes")
	})
}

// TestKeysBeforeChecksAreDone checks that a cluster that was not judged yet is not reported as free of findings.
func TestKeysBeforeChecksAreDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 100, 30)
		d.Keys("y")
		d.Shows("connecting since 09:30:00")
		d.Keys("2 x")
		d.Shows("connecting since 09:30:00")
	})
}

// TestNoData checks that every page shows the reason and the start of missing data, and whether the source is
// retried.
func TestNoData(t *testing.T) {
	for _, keys := range []string{"", "2", "5", "4 t", "7", "8", ": c h e c k s enter", ": d i f f enter"} {
		synctest.Test(t, func(t *testing.T) {
			d := driven(t, testConfig(), 80, 24)
			d.Send(history.Update{Err: errors.New("dial etcd: connection refused"), Live: true})
			d.Send(history.Update{Progress: "opening"})
			d.Keys(keys)
			d.Shows("no data since 09:30:00; trying again every few seconds", "connection refused")
			d.Lacks("lines 1")
			d.Send(history.Update{Err: errors.New("open x.db: no such file")})
			d.Shows("no such file")
			d.Lacks("trying again")
		})
	}
}

// TestNoProcessResponds checks that a cluster whose processes do not respond is not shown as good.
func TestNoProcessResponds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 100, 30)
		silent := model.RuntimeParts{
			Nodes: []*model.LiveNode{
				{Role: "querynode", Node: 7, Outcome: model.Refused}, {Role: "proxy", Node: 8, Outcome: model.NotAsked},
			},
		}
		d.Cluster(tuitest.Fixture().WithRuntime(model.BuildRuntime(silent)))
		d.Shows("▲ no process responding")
		d.Lacks("● live")
	})
}

func TestCopyFindings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 100, 30)
		d.Cluster(tuitest.Fixture())
		d.Keys("f down y")
		if d.Clip != "kitescope --from etcd://127.0.0.1:2379/by-dev balance docs_hnsw_cos --plan" {
			t.Errorf("copied %q", d.Clip)
		}
		d.Keys("Y 2")
		if !strings.HasPrefix(d.Clip, "error: docs_hnsw_cos is served unevenly") ||
			!strings.Contains(d.Clip, "- max/mean of search work: 1.77") ||
			!strings.Contains(d.Clip, "\n$ kitescope balance") {
			t.Errorf("copied %q", d.Clip)
		}
		d.Keys("s enter")
		for name, text := range d.Saved {
			if !strings.HasSuffix(name, ".md") || !strings.Contains(text, "error docs_hnsw_cos is served unevenly") ||
				strings.Contains(text, "\x1b") {
				t.Errorf("saved %s: %.200q", name, text)
			}
		}
		if len(d.Saved) != 1 {
			t.Errorf("%d files are saved", len(d.Saved))
		}
		d.Keys("Y 3")
		if !strings.HasSuffix(d.Clip, " diagnose") {
			t.Errorf("the command is %q", d.Clip)
		}
		d.Keys("e Y 1")
		if !strings.HasSuffix(d.Clip, " explain uneven") {
			t.Errorf("the command is %q", d.Clip)
		}
	})
}

func TestExplainFromThePalette(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 100, 30)
		d.Cluster(tuitest.Fixture())
		d.Keys(":").Typed("explain idle-node").Keys("enter")
		d.Shows("Query node is idle while others are busy")
		d.Keys("/").Typed("may follow").Keys("enter")
		d.Shows("/may follow 1 of 1")
		d.Keys("esc f")
		d.Shows("querynode-9 is idle")
		d.Keys(":").Typed("explain idle-nod").Keys("enter")
		d.Shows("did you mean idle-node")
		d.Keys(":").Typed("explain").Keys("enter")
		d.Shows("check required")
	})
}

// TestRealFindings judges captured clusters with the real checks, opens every finding and goes to each object, at
// every size.
func TestRealFindings(t *testing.T) {
	for _, name := range []string{"cluster-2.3.5-t7", "standalone-2.1.0", "rollback-2.1.0"} {
		c := capture(t, name)
		for _, size := range tuitest.Sizes {
			t.Run(fmt.Sprintf("%s-%dx%d", name, size.W, size.H), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					cfg := testConfig()
					cfg.Checks = nil
					d := driven(t, cfg, size.W, size.H)
					d.Send(history.Update{Cluster: c})
					d.Fits()
					d.Keys("f")
					p := d.m.Top().(*findingsPage)
					for range min(len(p.rows), 40) {
						d.Fits()
						if b := p.finding(); b != nil && b.Object.Resource != "" {
							d.Keys("enter")
							d.Fits()
							if _, ok := d.m.Top().(*findingPage); !ok {
								t.Fatalf("enter does not open %s", b.Key())
							}
							d.Keys("esc o")
							d.Fits()
							if _, ok := d.m.Top().(*detailPage); !ok {
								t.Fatalf("o leads from %s nowhere", b.Key())
							}
							d.Keys("esc e")
							d.Fits()
							d.Keys("esc")
						}
						d.Keys("down")
					}
				})
			})
		}
	}
}

// TestFindingsAreSorted checks the sort orders of findings. By severity, no warning is before an error.
func TestFindingsAreSorted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := at(t, "f")
		p := d.m.Top().(*findingsPage)
		tree := len(p.tree)
		d.Keys("S")
		d.Shows("sort by", "cause", "severity", "cost", "check", "object")
		d.Keys("esc")
		for i, o := range findingOrders()[1:] {
			d.Keys("S home").Keys(strings.TrimSpace(strings.Repeat("down ", i+1)) + " enter")
			d.Shows("sort " + o.name)
			if !slices.IsSortedFunc(p.tree, func(a, b check.Branch) int { return o.compare(a.Finding, b.Finding) }) ||
				len(p.tree) != tree {
				t.Errorf("not sorted by %s: %+v", o.name, p.tree)
			}
		}
	})
}

// TestFindingsAreHeld checks that a flapping finding of a live cluster stays on the screen, and goes after it was
// absent for a while.
func TestFindingsAreHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now, there := tuitest.Epoch(), true
		cfg := testConfig()
		cfg.Now = func() time.Time { return now }
		cfg.Checks = []*check.Check{{ID: "flaps", Run: func(p *check.Pass) {
			if there {
				p.Report(check.Finding{Severity: check.Warning, Message: "docs is slow"})
			}
		}}}
		d := driven(t, cfg, 100, 30)
		d.Keys("f")
		for i := range 10 {
			there = i%3 == 0
			d.Cluster(tuitest.Fixture())
			d.Shows("docs is slow", "1 warning")
			if there {
				d.Lacks("last seen")
			} else {
				d.Shows("last seen 09:30")
			}
			now = now.Add(5 * time.Second)
		}
		there = false
		for range 2 {
			now = now.Add(30 * time.Second)
			d.Cluster(tuitest.Fixture())
		}
		d.Lacks("docs is slow")
	})
}
