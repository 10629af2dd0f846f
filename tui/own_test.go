package tui

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/inspect/news"
	"kitescope/internal/table"
	"kitescope/render"
	"kitescope/tui/tuitest"
)

// TestASCIIScreens: where a terminal has no other characters, no page has a byte that is none of ASCII.
func TestASCIIScreens(t *testing.T) {
	for _, s := range screens {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := testConfig()
				cfg.ASCII, cfg.Glyphs = true, render.ASCIIGlyphs
				d := driven(t, cfg, 100, 30)
				d.Cluster(tuitest.Fixture())
				d.Cluster(tuitest.FixtureLater())
				d.Keys(s.keys).Typed(s.typed)
				d.Fits()
				for i, r := range d.Screen() {
					if r >= 0x80 {
						t.Fatalf("%q at byte %d:\n%s", r, i, d.Plain())
					}
				}
			})
		})
	}
}

// TestAliases: a word of the person's own opens what it stands for, and more may follow.
func TestAliases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.Aliases = map[string]string{"pods": "nodes", "hot": "segments rows>1k"}
		cfg.StartPage = "pods"
		d := driven(t, cfg, 100, 30)
		d.Cluster(tuitest.Fixture())
		d.Shows("overview › nodes")
		d.Keys(":").Typed("hot state=growing").Keys("enter")
		d.Shows("segments rows>1k state=growing")
		d.Keys(":").Typed("po")
		d.Shows("pods", "Your alias: nodes")
	})
}

// TestViews: a table begins with the columns and the order that the person chose, whichever way leads to it.
func TestViews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		for _, r := range cfg.Resources {
			if r.Name == "segments" {
				cfg.Views = map[string]View{"segments": {Columns: []int{r.Column("rows"), r.Column("id")}, Order: []table.SortKey{{Column: r.Column("rows"), Descending: true}}}}
			}
		}
		d := driven(t, cfg, 100, 30)
		d.Cluster(tuitest.Fixture())
		for _, keys := range []string{": s e g m e n t s enter", ": c o l l e c t i o n s enter enter"} {
			d.Keys(keys)
			d.Shows("  ROWS ↓  ID")
			d.Lacks("STATE", "PARTITION")
			if resource, columns, order, ok := Arrangement(d.m); !ok || resource != "segments" || strings.Join(columns, ",") != "rows,id" || strings.Join(order, ",") != "-rows" {
				t.Errorf("%s: %s %v %v", keys, resource, columns, order)
			}
		}
	})
}

func TestCells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := at(t, "4 end")
		resource, cell, ok := Cells(d.m)
		if !ok || resource != "collections" {
			t.Fatal(resource, ok)
		}
		// A name is as it is, whatever it is made of: who puts it into a command has to know.
		if name, err := cell("name"); err != nil || name != "evil\x1b[31mred\x07" {
			t.Errorf("%q, %v", name, err)
		}
		if _, err := cell("nosuch"); err == nil {
			t.Error("a column that is not there has a value")
		}
		d.Keys("d")
		if _, cell, ok := Cells(d.m); !ok {
			t.Error("a description is about nothing")
		} else if id, err := cell("id"); err != nil || id != "470590760626290500" {
			t.Errorf("%q, %v", id, err)
		}
		// What checks said is known as in the table.
		d = at(t, "3 !")
		_, cell, _ = Cells(d.m)
		for column, want := range map[string]string{"findings": "error=1;warning=1", "worst": "error"} {
			if got, err := cell(column); err != nil || got != want {
				t.Errorf("%s: %q, %v, want %q", column, got, err, want)
			}
		}
		d.Keys("end")
		_, cell, _ = Cells(d.m)
		if got, err := cell("findings"); err == nil {
			t.Errorf("a node without findings has %q", got)
		}
		d = at(t, "")
		if _, _, ok := Cells(d.m); ok {
			t.Error("the overview is at an object")
		}
	})
}

// TestCopyingSaysWhere: what is said is what is known: a program took the text, or the terminal was asked to.
func TestCopyingSaysWhere(t *testing.T) {
	for _, x := range []struct {
		name, to, why string
		err           error
		says          string
		asked         bool // the terminal
	}{
		{name: "a program", to: "tmux's buffer", says: "✓ copied to tmux's buffer: segment 470590760626295000"},
		{name: "the terminal", says: "sent to the terminal (OSC 52): segment 470590760626295000", asked: true},
		{name: "after a failure", why: "tmux: no server", says: "sent to the terminal (OSC 52) (tmux: no server): segment", asked: true},
		{name: "an error", err: errors.New("switched off"), says: "✖ not copied: switched off"},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				given := ""
				cfg := testConfig()
				cfg.StartPage = "segments"
				cfg.Clipboard = func(_ context.Context, text string) (string, string, error) { given = text; return x.to, x.why, x.err }
				d := driven(t, cfg, 120, 30)
				d.Cluster(tuitest.Fixture())
				d.Keys("y")
				d.Shows(x.says)
				if !strings.HasPrefix(given, "470590760626295000\t") || x.asked != (d.Clip != "") {
					t.Errorf("given %q, the terminal %q", given, d.Clip)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) { // what no terminal takes, a program does
		given := 0
		cfg := testConfig()
		cfg.StartPage = "segments"
		cfg.Clipboard = func(_ context.Context, text string) (string, string, error) {
			given = len(text)
			return "tmux's buffer", "", nil
		}
		d := driven(t, cfg, 120, 30)
		d.Cluster(tuitest.ManySegments(5000))
		d.Keys("Y 2")
		d.Shows("copied to tmux's buffer: 5,000 rows")
		if given < 2*clipboardLimit {
			t.Errorf("%d bytes", given)
		}
	})
}

// fakeFeed tells what it is told to, then waits to be left.
type fakeFeed struct {
	updates chan news.Update
	left    chan struct{}
}

func newFakeFeed(list ...news.Update) *fakeFeed {
	f := &fakeFeed{make(chan news.Update, 10), make(chan struct{})}
	for _, u := range list {
		f.updates <- u
	}
	return f
}

func (f *fakeFeed) Follow(ctx context.Context, emit func(news.Update)) {
	defer close(f.left)
	for {
		select {
		case u := <-f.updates:
			emit(u)
		case <-ctx.Done():
			return
		}
	}
}

// TestSwitch changes to another cluster, which keeps page, filter and order, and follows that one alone.
func TestSwitch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := at(t, "")
		d.Keys(": s e g m e n t s enter / ").Typed("docs").Keys("enter S 1")
		p := tuitest.FixtureParts()
		p.Origin.Location, p.Origin.Root, p.Origin.Revision = "etcd://other:2379/lab", "lab", 7
		other := newFakeFeed(news.Update{Progress: "opening"}, news.Update{Cluster: model.Build(p), Live: true})
		closed := make(chan struct{})
		open := func(context.Context) (*Source, error) {
			return &Source{Feed: other, Title: "other:2379", Command: "kitescope --context other", Close: func() { close(closed) }}, nil
		}
		d.Run(Switch(d.m, "other", open))
		d.Settle()
		d.Shows("lab @ other:2379", "overview › segments", "/docs", "this is other now", "sort id ↑")
		d.Cluster(tuitest.Fixture()) // the old one goes on telling
		d.Shows("lab @ other:2379")
		p.Origin.Revision = 8
		other.updates <- news.Update{Cluster: model.Build(p), Live: true}
		d.Settle()
		d.Shows("rev 8")
		d.Keys("Y 1")
		if !strings.HasPrefix(d.Clip, "kitescope --context other get segments") {
			t.Errorf("the command is of the old cluster: %q", d.Clip)
		}
		// One that does not open leaves all as it is, and so does one that tells of an error alone.
		failing := newFakeFeed(news.Update{Err: errors.New("etcd is gone")})
		for _, open := range []func(context.Context) (*Source, error){
			func(context.Context) (*Source, error) { return nil, errors.New("no password") },
			func(context.Context) (*Source, error) { return &Source{Feed: failing}, nil },
		} {
			d.Run(Switch(d.m, "bad\x1b[2J", open))
			d.Settle()
			d.Shows("lab @ other:2379", "did not open, this is still other:2379: ")
		}
		<-failing.left
		// And back: the feed that was followed is left, and closed.
		third := newFakeFeed(news.Update{Cluster: tuitest.Fixture(), Live: true})
		d.Run(Switch(d.m, "third", func(context.Context) (*Source, error) { return &Source{Feed: third, Title: "third"}, nil }))
		d.Settle()
		d.Shows("by-dev @ 127.0.0.1:2379")
		<-other.left
		<-closed
		d.m.following.leave()
		<-third.left
		d.m.feeds.Wait()
	})
}

// TestSwitchWhileAnotherOpens: the one that was asked for last is the one that is shown.
func TestSwitchWhileAnotherOpens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := at(t, "")
		p := tuitest.FixtureParts()
		p.Origin.Root = "slow"
		slow, fast := newFakeFeed(news.Update{Cluster: model.Build(p)}), newFakeFeed(news.Update{Cluster: tuitest.FixtureLater()})
		first := Switch(d.m, "slow", func(context.Context) (*Source, error) { return &Source{Feed: slow, Title: "slow"}, nil })
		d.Run(Switch(d.m, "fast", func(context.Context) (*Source, error) { return &Source{Feed: fast, Title: "fast"}, nil }))
		d.Settle()
		d.Run(first)
		d.Settle()
		d.Shows("rev 1650")
		d.Lacks("slow @")
		<-slow.left
		d.m.following.leave()
		d.m.feeds.Wait()
	})
}

// TestSwitchWhileChecksRun: what checks find out about the cluster that was left ends without a word, and the new one is judged.
func TestSwitchWhileChecksRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		goOn := make(chan struct{})
		slow := tuitest.FixtureCheck("slow", "Slow", check.Warning)
		slow.Run = func(p *check.Pass) error {
			if p.Cluster.Origin.Root == "by-dev" {
				<-goOn
			}
			p.Report(check.Finding{Severity: check.Warning, Message: "this is " + p.Cluster.Origin.Root})
			return nil
		}
		cfg := testConfig()
		cfg.Checks = []*check.Check{slow}
		d := driven(t, cfg, 100, 30)
		d.Cluster(tuitest.Fixture())
		p := tuitest.FixtureParts()
		p.Origin.Root = "lab"
		other := newFakeFeed(news.Update{Cluster: model.Build(p), Live: true})
		d.Run(Switch(d.m, "other", func(context.Context) (*Source, error) { return &Source{Feed: other, Title: "other"}, nil }))
		d.Settle()
		d.Shows("this is lab")
		close(goOn)
		d.Settle()
		d.Shows("this is lab")
		d.Lacks("this is by-dev")
		d.m.following.leave()
		<-other.left
		d.m.feeds.Wait()
	})
}
