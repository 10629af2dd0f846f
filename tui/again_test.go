package tui

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/inspect/news"
	"kitescope/tui/tuitest"
)

// mendedCluster is the fixture without the second database, at a revision.
func mendedCluster(revision int64) *model.Cluster {
	parts := tuitest.FixtureParts()
	parts.Origin.Revision += revision
	parts.Databases = parts.Databases[:1]
	return model.Build(parts)
}

// TestCheckAgainWhileClustersCome: of clusters that come while checks run only the newest is judged, which answers as well.
func TestCheckAgainWhileClustersCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := mendable()
		run := x.Run
		x.Run = func(p *check.Pass) error {
			time.Sleep(900 * time.Millisecond)
			return run(p)
		}
		cfg := testConfig()
		cfg.Checks, cfg.Now = []*check.Check{x}, time.Now
		cfg.Feed = &asker{func(context.Context) error { return nil }}
		d := driven(t, cfg, 120, 40)
		d.Cluster(tuitest.Fixture())
		for range 10 {
			d.Sleep(time.Second)
		}
		d.Cluster(tuitest.FixtureLater()) // is judged for a while
		d.Sleep(100 * time.Millisecond)
		d.Cluster(mendedCluster(8))
		d.Keys("f x")
		d.Sleep(100 * time.Millisecond)
		d.Cluster(mendedCluster(9))
		for range 30 {
			d.Sleep(time.Second)
		}
		if got := d.m.data.again.result; got == "" || d.m.data.again.busy {
			t.Errorf("nothing came of it: %q", got)
		}
		d.Lacks("there are two databases")
	})
}

// TestCheckAgainIsGivenUp: where the screen holds another state by the time that the answers come, nobody can tell.
func TestCheckAgainIsGivenUp(t *testing.T) {
	for name, leave := range map[string]func(d *ui){
		"paused": func(d *ui) { d.Keys("p") },
		"past":   func(d *ui) { d.m.data.past.away = true },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := testConfig()
				cfg.Checks = []*check.Check{mendable()}
				var d *ui
				cfg.Feed = &asker{func(context.Context) error {
					time.Sleep(2 * time.Second)
					d.Messages <- news.Update{Cluster: mendedCluster(1), Live: true}
					return nil
				}}
				d = driven(t, cfg, 120, 40)
				d.Cluster(tuitest.Fixture())
				d.Keys("f x")
				leave(d)
				d.Sleep(3 * time.Second)
				d.Shows("not checked again: ")
				d.Lacks("still there")
				if d.m.data.again.busy {
					t.Error("it is still being checked")
				}
			})
		})
	}
}

// TestCheckAgainGoesBackInTime: what was judged of the past says nothing of now.
func TestCheckAgainGoesBackInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := mendable()
		run := x.Run
		x.Run = func(p *check.Pass) error {
			time.Sleep(900 * time.Millisecond)
			return run(p)
		}
		cfg := testConfig()
		cfg.Checks = []*check.Check{x}
		d := driven(t, cfg, 120, 40)
		d.Send(news.Update{Cluster: tuitest.Fixture()})
		d.Sleep(time.Second)
		d.Keys("f x")
		d.m.data.past.away = true
		d.Sleep(time.Second)
		d.Shows("not checked again: this is the past: L goes to now")
	})
}

// TestCheckAgainByChecksOfAPage: a finding of a page's own checks is looked for by those, also once the page is left.
func TestCheckAgainByChecksOfAPage(t *testing.T) {
	for _, left := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			x := mendable()
			run := x.Run
			x.Run = func(p *check.Pass) error {
				time.Sleep(2 * time.Second) // and rests
				return run(p)
			}
			cfg := testConfig()
			var d *ui
			cfg.Now = time.Now
			cfg.Feed = &asker{func(context.Context) error {
				d.Messages <- news.Update{Cluster: mendedCluster(1), Live: true}
				return nil
			}}
			d = driven(t, cfg, 120, 40)
			d.Cluster(tuitest.Fixture())
			own := &Findings{
				Name: "wanted 3.0", Prints: "wanted --to 3.0", About: func() string { return "to 3.0" },
				Checks: func(*model.Cluster) ([]*check.Check, error) { return []*check.Check{x}, nil },
			}
			d.Run(d.m.Push(NewFindingsPage(own)))
			for range 10 {
				d.Sleep(time.Second)
			}
			d.Shows("wanted 3.0", "to 3.0", "there are two databases")
			d.Keys("x")
			if left {
				d.Keys("esc")
			}
			for range 20 {
				d.Sleep(time.Second)
			}
			if got := d.m.data.again.result; !strings.Contains(got, "fixed: ") || d.m.data.again.busy {
				t.Errorf("left %v: it is said %q", left, got)
			}
			d.Lacks("there are two databases")
		})
	}
}

// TestSaidOfItsOwnJudgement: two pages of checks of their own may find the same; what came of checking one of them again is said there alone.
func TestSaidOfItsOwnJudgement(t *testing.T) {
	t.Parallel()
	f, one, other := &check.Finding{Check: "upgrade-path"}, &judgement{}, &judgement{}
	a := again{of: f, judged: one, result: "gone"}
	if a.said(one, f) != "gone" || a.said(other, f) != "" {
		t.Errorf("%q and %q", a.said(one, f), a.said(other, f))
	}
}
