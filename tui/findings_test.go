package tui

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/inspect/news"
)

// TestFindingsScreens holds the pages with findings at a size that TestScreens leaves out, and the states
// in which there are none.
func TestFindingsScreens(t *testing.T) {
	for _, s := range screens {
		if !strings.HasPrefix(s.name, "findings") && s.name != "explain" && s.name != "overview" && s.name != "detail-collection" {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := driven(t, testConfig(), 120, 40)
				d.cluster(fixture())
				d.keys(s.keys)
				d.fits()
				golden(t, s.name+"-120x40", d.plain())
			})
		})
	}
	for name, checks := range map[string][]*check.Check{"healthy": healthyChecks(), "blind": blindChecks()} {
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%s-%dx%d", name, size.w, size.h), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					cfg := testConfig()
					cfg.Checks = checks
					d := driven(t, cfg, size.w, size.h)
					d.cluster(fixture())
					d.fits()
					overview := strings.Split(d.plain(), "\n")
					d.keys("f")
					d.fits()
					golden(t, fmt.Sprintf("findings-%s-%dx%d", name, size.w, size.h), strings.Join(overview[:6], "\n")+"\n\n"+d.plain())
				})
			})
		}
	}
}

func TestFindingsPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 120, 40)
		d.keys("f")
		d.shows("findings", "…")
		d.cluster(fixture())
		d.shows("1 error, 2 warnings, 2 info", "2 could not look", "growing-flushed", "the nodes were not asked")
		d.lacks("nodes that join stay idle")
		d.keys("right")
		d.shows("nodes that join stay idle", "set queryCoord.autoBalance to true")
		d.keys("space")
		d.lacks("nodes that join stay idle")
		d.keys("space left")
		d.lacks("nodes that join stay idle")

		d.keys("down*2 left") // from the effect of an effect to its cause
		d.keys("right")
		d.shows("1.77 times the work", "node querynode-7, node querynode-9")
		d.keys("enter")
		d.shows("findings › docs_hnsw_cos", "consistency level", "FINDINGS  2")
		d.keys("esc e")
		d.shows("Nodes share the work of a replica unevenly", "ABOUT THE CHECK", "auto-balance-off")
		d.keys("esc /").typed("idle").keys("enter")
		d.shows("querynode-9 is idle", "/idle")
		d.lacks("docs_hnsw_cos is served unevenly")
		d.keys("esc")
		d.shows("docs_hnsw_cos is served unevenly")
		d.keys("end")
		d.keys("enter")
		d.shows("there is no finding")
		d.keys("home down*3 enter")
		d.shows("the finding is about the whole cluster")
	})
}

// TestLongFinding: the evidence of a finding that is longer than the screen is scrolled through before the
// cursor goes on.
func TestLongFinding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := check.Finding{Severity: check.Error, Message: "a long story"}
		for i := range 40 {
			long.Evidence = append(long.Evidence, check.Evidence{Name: fmt.Sprintf("fact number %d", i), Value: "x"})
		}
		cfg := testConfig()
		cfg.Checks = []*check.Check{fixtureCheck("long", "Long", check.Error, long), fixtureCheck("short", "Short", check.Info, check.Finding{Message: "the next one"})}
		d := driven(t, cfg, 80, 24)
		d.cluster(fixture())
		d.keys("f right")
		d.shows("a long story", "fact number 5")
		seen := map[int]bool{}
		for presses := range 100 {
			d.fits()
			screen := d.plain()
			for i := range 40 {
				if strings.Contains(screen, fmt.Sprintf("fact number %d:", i)) {
					seen[i] = true
				}
			}
			if d.m.stack.top().(*findingsPage).cursor == 1 {
				if presses < 20 || len(seen) != 40 {
					t.Errorf("after %d presses the cursor went on, and %d facts were seen", presses, len(seen))
				}
				break
			}
			d.keys("down")
		}
		d.shows("the next one")
		d.keys("up pgup*4")
		d.shows("a long story", "fact number 5")
		d.keys("pgdown")
		d.lacks("a long story")
	})
}

// TestFindingsOfAnObject: an object leads to its findings, and back.
func TestFindingsOfAnObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 120, 40)
		d.cluster(fixture())
		d.keys("c f")
		d.shows("findings about docs_hnsw_cos", "2 of 5 findings", "auto-balance is off")
		d.lacks("querynode-9 is idle", "growing-flushed")
		d.keys("down right f") // all of them, the cursor where it was
		d.shows("querynode-9 is idle", "growing-flushed")
		if got := d.m.stack.top().(*findingsPage).branch().Check; got != "uneven" {
			t.Errorf("the cursor is on %s", got)
		}
		d.keys("f")
		d.shows("these are all findings")
		d.keys("enter esc esc r")
		d.shows("findings about it")
		d.keys("f")
		d.shows("findings about docs_hnsw_cos")
		d.keys("esc down f") // nothing about the second collection: all
		d.shows("querynode-9 is idle", "› findings ")
		d.keys("esc*2 n /").typed("10.0.0.9").keys("enter d")
		d.shows("FINDINGS  2", "querynode-9 is idle: 0 of 21 segments", "docs_hnsw_cos is served unevenly")
	})
}

// TestFindingsKeepUp: each cluster is judged, one at a time and the newest next; the cursor stays on
// its finding.
func TestFindingsKeepUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running, runs, most := 0, 0, 0
		slow := fixtureCheck("slow", "Slow", check.Error)
		slow.Run = func(p *check.Pass) error {
			running++
			runs++
			most = max(most, running)
			time.Sleep(10 * time.Second)
			running--
			p.Report(check.Finding{Severity: check.Warning, Message: "seen at revision " + strconv.FormatInt(p.Origin.Revision, 10)})
			if p.Origin.Revision >= 3 {
				p.Report(check.Finding{Severity: check.Error, Object: model.Ref{Resource: "collections", ID: "470590760626290000"}, Message: "worse than that"})
			}
			return nil
		}
		cfg := testConfig()
		cfg.Checks = []*check.Check{slow}
		d := driven(t, cfg, 100, 24)
		d.keys("f")
		for revision := range 5 {
			p := fixtureParts()
			p.Origin.Revision = int64(1 + revision)
			d.cluster(model.Build(p))
		}
		d.shows("…")
		d.sleep(11 * time.Second)
		d.shows("seen at revision 1")
		d.sleep(10 * time.Second)
		d.shows("seen at revision 5", "worse than that")
		if runs != 2 || most != 1 {
			t.Errorf("%d runs, %d at once: those of the clusters between are not wanted", runs, most)
		}
		if got := d.m.stack.top().(*findingsPage).branch().Message; !strings.HasPrefix(got, "seen at") {
			t.Errorf("the cursor is on %q", got)
		}
	})
}

// TestChecksRest: checks that take long rest before they look at what has come meanwhile.
func TestChecksRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		heavy := fixtureCheck("heavy", "Heavy", check.Error)
		heavy.Run = func(*check.Pass) error {
			runs++
			time.Sleep(20 * time.Millisecond)
			return nil
		}
		cfg := testConfig()
		cfg.Checks, cfg.Now = []*check.Check{heavy}, time.Now
		d := driven(t, cfg, 100, 24)
		for revision := range 20 {
			p := fixtureParts()
			p.Origin.Revision = int64(1 + revision)
			d.cluster(model.Build(p))
			d.sleep(time.Second)
		}
		if runs < 5 || runs > 11 {
			t.Errorf("%d runs in 20 s of which each takes 20 ms, want one every two or three seconds", runs)
		}
		d.sleep(restMost)
		before := runs
		d.sleep(time.Minute)
		if runs > before+2 { // ages are worked out anew every half minute
			t.Errorf("%d runs while nothing changes", runs-before)
		}
	})
}

// TestRuntimeIsJudged: what the nodes say comes with the same revision of the metadata, and is judged all
// the same; while paused it is not.
func TestRuntimeIsJudged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.Checks = blindChecks()
		d := driven(t, cfg, 120, 30)
		c := fixture()
		d.cluster(c)
		d.shows("nothing found so far", "1 of 2 checks could not look: the nodes were not asked")
		asked := model.BuildRuntime(model.RuntimeParts{Nodes: []*model.LiveNode{{
			Role: "querynode", Node: 7, Outcome: model.Answered, Distribution: &model.Distribution{},
		}}})
		d.keys("space")
		d.cluster(c.WithRuntime(asked))
		d.shows("could not look")
		d.keys("space")
		d.shows("nothing found by 2 checks")
		d.lacks("could not look")
	})
}

func TestTakeFindings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 100, 30)
		d.cluster(fixture())
		d.keys("f down y")
		if !strings.HasPrefix(d.clip, "error: docs_hnsw_cos is served unevenly") || !strings.Contains(d.clip, "- max/mean of search work: 1.77") {
			t.Errorf("copied %q", d.clip)
		}
		d.keys("s")
		for name, text := range d.saved {
			if !strings.HasSuffix(name, ".md") || !strings.Contains(text, "### error: docs\\_hnsw\\_cos is served unevenly") || strings.Contains(text, "\x1b") {
				t.Errorf("saved %s: %.200q", name, text)
			}
		}
		if len(d.saved) != 1 {
			t.Errorf("%d files are saved", len(d.saved))
		}
		d.keys("Y c")
		if !strings.HasSuffix(d.clip, " diagnose") {
			t.Errorf("the command is %q", d.clip)
		}
		d.keys("e Y c")
		if !strings.HasSuffix(d.clip, " explain uneven") {
			t.Errorf("the command is %q", d.clip)
		}
	})
}

func TestExplainFromThePalette(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 100, 30)
		d.cluster(fixture())
		d.keys(":").typed("explain idle-node").keys("enter")
		d.shows("Query node is idle while others are busy")
		d.keys("/").typed("may follow").keys("enter")
		d.shows("/may follow 1 of 1")
		d.keys("esc f")
		d.shows("querynode-9 is idle")
		d.keys(":").typed("explain idle-nod").keys("enter")
		d.shows("did you mean idle-node")
		d.keys(":").typed("explain").keys("enter")
		d.shows("say which check")
	})
}

// TestRealFindings judges captured clusters by the real checks, opens everything and goes to each
// object, at every size.
func TestRealFindings(t *testing.T) {
	for _, name := range []string{"cluster-2.3.5-t7", "standalone-2.1.0", "rollback-2.1.0"} {
		c := capture(t, name)
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%s-%dx%d", name, size.w, size.h), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					cfg := testConfig()
					cfg.Checks = nil
					d := driven(t, cfg, size.w, size.h)
					d.send(news.Update{Cluster: c})
					d.fits()
					d.keys("f E")
					p := d.m.stack.top().(*findingsPage)
					for range min(len(p.rows), 40) {
						d.fits()
						if b := p.branch(); b != nil && b.Object.Resource != "" {
							d.keys("enter")
							d.fits()
							if _, ok := d.m.stack.top().(*detailPage); !ok {
								t.Fatalf("enter leads from %s nowhere", b.Key())
							}
							d.keys("esc e")
							d.fits()
							d.keys("esc")
						}
						d.keys("down")
					}
				})
			})
		}
	}
}
