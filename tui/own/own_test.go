package own

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	tea "charm.land/bubbletea/v2"

	"kitescope/inspect/news"
	"kitescope/inspect/view"
	"kitescope/internal/shellquote"
	"kitescope/render"
	"kitescope/tui"
	"kitescope/tui/tuitest"
)

// fakeShell is a shell that notes what it was to run.
type fakeShell struct{ ran *[]string }

func (f fakeShell) command(text string) tea.ExecCommand { return &fakeCommand{text, f.ran} }

type fakeCommand struct {
	text string
	ran  *[]string
}

func (c *fakeCommand) Run() error          { *c.ran = append(*c.ran, c.text); return nil }
func (c *fakeCommand) SetStdin(io.Reader)  {}
func (c *fakeCommand) SetStdout(io.Writer) {}
func (c *fakeCommand) SetStderr(io.Writer) {}

func action(t *testing.T, name, key, run string, asks bool, on ...string) Action {
	t.Helper()
	template, err := shellquote.ParseTemplate(run)
	if err != nil {
		t.Fatal(err)
	}
	return Action{Name: name, Key: key, On: on, Template: template, Text: run, Asks: asks}
}

type ui struct {
	*tuitest.Driver
	m   *tui.Model
	ran []string
}

func driven(t *testing.T, o Options, w, h int, change func(*tui.Config)) *ui {
	t.Helper()
	u := &ui{}
	o.Shell = fakeShell{&u.ran}.command
	u.Driver = tuitest.Drive(t, w, h, func(save tuitest.SaveFunc) tea.Model {
		cfg := tui.Config{Resources: view.Resources, Title: "x", Theme: "dark", Now: tuitest.Epoch, SaveFile: save, Checks: tuitest.FixtureChecks(), Own: Make(o)}
		if change != nil {
			change(&cfg)
		}
		u.m = tui.New(cfg)
		return u.m
	})
	u.Cluster(tuitest.Fixture())
	return u
}

// TestActions: a command is shown in full before it runs, with names out of the cluster as words of it.
func TestActions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := Options{Actions: []Action{
			action(t, "logs", "ctrl+g", "kubectl logs {role}-{id}", true, "nodes"),
			action(t, "quick", "ctrl+q", "echo {name} {rows}", false, "collections"),
			action(t, "date", "", "date", true),
		}}
		d := driven(t, o, 100, 30, nil)
		d.Keys(": n o d e s enter ctrl+g")
		d.Shows("overview › nodes › run logs", "kubectl logs datacoord-2", "enter run it")
		d.Fits()
		d.Keys("y")
		if d.Clip != "kubectl logs datacoord-2" {
			t.Errorf("copied %q", d.Clip)
		}
		if d.Keys("esc"); len(d.ran) > 0 {
			t.Errorf("it ran: %q", d.ran)
		}
		d.Lacks("run logs")
		// By its name, and of what is described.
		d.Keys("d :").Typed("logs").Keys("enter")
		d.Shows("kubectl logs datacoord-2")
		d.Keys("esc H :").Typed("logs").Keys("enter")
		d.Shows("logs needs a row of nodes")
		d.Keys(":").Typed("date").Keys("enter")
		d.Shows("run date")
		d.Keys("esc :").Typed("run nosuch").Keys("enter")
		d.Shows("there is no action nosuch in config.yaml")
		// A key is for what it is for.
		d.Keys(": s e g m e n t s enter ctrl+g")
		d.Lacks("run logs")
		d.Keys("?")
		d.Shows("help")
	})
}

// TestHostileNames: a value that has to be quoted is shown whatever the person wants to leave out, and one with what is not seen is no
// part of any command.
func TestHostileNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := Options{Actions: []Action{action(t, "quick", "ctrl+q", "echo {name}", false, "collections")}}
		d := driven(t, o, 60, 15, nil)
		d.Keys(": c o l l e c t i o n s enter ctrl+q")
		d.Lacks("run quick")
		seen := 0
		for range 6 {
			d.Keys("ctrl+q")
			if strings.Contains(d.Plain(), "run quick") {
				seen++
				d.Shows("echo '图像向量检索库'")
				d.Keys("esc")
			}
			d.Keys("down")
		}
		d.Keys("end ctrl+q")
		d.Shows("characters that are not seen")
		if seen != 1 {
			t.Errorf("%d commands were shown, want that with the quoted name", seen)
		}
	})
}

// TestLongCommands: nothing of a command is cut, on any size.
func TestLongCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := "echo " + strings.Repeat("0123456789 ", 40) + "END"
		d := driven(t, Options{Actions: []Action{action(t, "long", "ctrl+g", long, true)}}, 40, 10, nil)
		d.Keys("ctrl+g")
		var seen strings.Builder
		for range 20 {
			d.Fits()
			seen.WriteString(d.Plain())
			d.Keys("down")
		}
		if !strings.Contains(seen.String(), "END") {
			t.Errorf("the end is not to be seen:\n%s", d.Plain())
		}
	})
}

// TestKeep writes what the screen shows, and forgets it again.
func TestKeep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type write struct {
			value any
			path  string
		}
		var wrote []write
		fails := false
		d := driven(t, Options{}, 100, 30, func(c *tui.Config) {
			c.Keep = func(value any, path ...string) (string, error) {
				if fails {
					return "", errors.New("no room")
				}
				wrote = append(wrote, write{value, strings.Join(path, ".")})
				return "/home/me/config.yaml", nil
			}
		})
		last := func() write { return wrote[len(wrote)-1] }
		d.Keys(": s e g m e n t s enter S 1 S 1 :").Typed("keep").Keys("enter")
		d.Shows("✓ kept columns and order of segments (/home/me/config.yaml)")
		if v := last(); v.path != "views.segments" || strings.Join(v.value.(map[string][]string)["sort"], ",") != "-id" || v.value.(map[string][]string)["columns"] != nil {
			t.Errorf("%+v", v)
		}
		d.Keys("esc : s e g m e n t s enter")
		d.Shows("sort id ↓")   // it holds at once
		d.Keys("C down space") // a switch
		d.Shows("[x] collection_id", "Id of")
		d.Keys("esc :").Typed("keep").Keys("enter")
		if v := last().value.(map[string][]string); len(v["columns"]) < 3 || v["columns"][1] != "collection_id" {
			t.Errorf("%+v", v)
		}
		kept := len(wrote)
		if d.Keys("C s"); len(wrote) != kept+1 || last().path != "views.segments" {
			t.Errorf("the menu of columns keeps %+v", wrote[kept:])
		}
		d.Keys(":").Typed("theme light").Keys("enter :").Typed("keep theme").Keys("enter")
		if v := last(); v.path != "theme" || v.value != "light" {
			t.Errorf("%+v", v)
		}
		d.Keys(":").Typed("segments state=growing").Keys("enter :").Typed("keep start").Keys("enter")
		if v := last(); v.path != "start" || v.value != "segments state=growing" {
			t.Errorf("%+v", v)
		}
		d.Keys(":").Typed("forget theme").Keys("enter")
		if v := last(); v.path != "theme" || v.value != nil {
			t.Errorf("%+v", v)
		}
		d.Keys("H :").Typed("keep columns").Keys("enter")
		d.Shows("this page has no columns")
		d.Keys(":").Typed("keep frob").Keys("enter")
		d.Shows("available: columns, theme, start")
		fails = true
		d.Keys(":").Typed("keep theme").Keys("enter")
		d.Shows("✖ not kept: no room")
	})
}

// TestClusters lists what there is to change to, and changes.
func TestClusters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		list, failed := []Cluster{}, error(nil)
		d := driven(t, Options{Clusters: func() ([]Cluster, error) { return list, failed }}, 100, 30, nil)
		d.Keys(":").Typed("ctx").Keys("enter")
		d.Shows("there are no contexts")
		list = []Cluster{{Name: "lab", About: "etcd://lab:2379", Open: func(context.Context) (*tui.Source, error) { return nil, errors.New("no route") }}, {Name: "file", About: "x.kite", Open: open}}
		d.Keys(":").Typed("ctx").Keys("enter")
		d.Shows("change to", "lab", "etcd://lab:2379", "file")
		d.Keys("enter")
		d.Shows("lab did not open, this is still x: no route")
		d.Keys(":").Typed("ctx nosuch").Keys("enter")
		d.Shows("no context nosuch; available: lab, file")
		d.Keys(":").Typed("ctx f")
		d.Shows("ctx file")
		d.Keys("tab enter")
		d.Shows("this is file now", "rev 1650")
		failed = errors.New("line 3: not YAML")
		d.Keys(":").Typed("ctx").Keys("enter")
		d.Shows("line 3: not YAML")
	})
}

// once is a feed of a file.
type once struct{}

func (once) Follow(_ context.Context, emit func(news.Update)) {
	emit(news.Update{Cluster: tuitest.FixtureLater()})
}

func open(context.Context) (*tui.Source, error) {
	return &tui.Source{Feed: once{}, Title: "x.kite"}, nil
}

// TestInASCII: the page of a command has no other bytes either.
func TestInASCII(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, Options{Actions: []Action{action(t, "logs", "ctrl+g", "echo → {name}", true)}}, 80, 24, func(c *tui.Config) { c.Glyphs = render.ASCIIGlyphs })
		d.Keys(": c o l l e c t i o n s enter ctrl+g")
		d.Shows("run logs", "echo > docs_hnsw_cos")
		if strings.ContainsFunc(d.Screen(), func(r rune) bool { return r >= 0x80 }) {
			t.Error(d.Screen())
		}
	})
}
