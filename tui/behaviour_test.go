package tui

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/history"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
	"kitescope/inspect/view"
	"kitescope/tui/tuitest"
)

// at starts a driver and presses keys.
func at(t *testing.T, keys string) *ui {
	t.Helper()
	d := driven(t, testConfig(), 120, 30)
	d.Cluster(tuitest.Fixture())
	d.Keys(keys)
	return d
}

func (d *ui) grid() *gridPage { return d.m.Top().(*gridPage) }

func (d *ui) cursorID() string {
	d.T.Helper()
	ref, ok := d.m.Top().(Pointer).Object(d.m)
	if !ok {
		d.T.Fatal("the cursor is on nothing")
	}
	return ref.ID
}

func TestCursorStaysOnItsObject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := at(t, "5 down*6")
		id := d.cursorID()
		line := d.grid().Cursor - d.grid().top
		d.Cluster(tuitest.FixtureLater()) // a row before it is new, another is gone
		if got := d.cursorID(); got != id {
			t.Errorf("after a refresh the cursor is on %s, was on %s", got, id)
		}
		if got := d.grid().Cursor - d.grid().top; got != line {
			t.Errorf("after a refresh the cursor is on line %d, was on %d", got, line)
		}
		d.Keys("/").Typed("docs").Keys("enter down")
		id = d.cursorID()
		d.Keys("esc")
		if got := d.cursorID(); got != id || d.grid().filtering() {
			t.Errorf("after the filter was cleared the cursor is on %s, was on %s", got, id)
		}
	})
}

func TestRefreshWhileMoving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := at(t, "5")
		_, c := d.m.Update(history.Update{Cluster: tuitest.FixtureLater(), Live: true})
		d.m.Update(tuitest.KeyPress("down")) // before the new rows are built
		d.m.Update(tuitest.KeyPress("down"))
		id := d.cursorID()
		d.Run(c)
		d.Settle()
		if got := d.cursorID(); got != id {
			t.Errorf("the cursor jumped to %s from %s", got, id)
		}
	})
}

// TestRefreshesFasterThanBuilds checks that no cluster is lost and no page starves when clusters arrive during a
// build.
func TestRefreshesFasterThanBuilds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, keys := range []string{"", "5", "4 t", "4 d", ": d i f f enter"} {
			d := at(t, keys)
			var pending []tea.Cmd
			for i := range 5 {
				c := tuitest.Fixture()
				if i%2 == 0 {
					c = tuitest.FixtureLater()
				}
				_, next := d.m.Update(history.Update{Cluster: c, Live: true})
				pending = append(pending, next)
			}
			for _, c := range pending {
				d.Run(c)
			}
			d.Settle()
			var env *view.Env
			switch p := d.m.Top().(type) {
			case *overviewPage:
				env = p.env
			case *gridPage:
				env = p.rows.Env
			case *treePage:
				env = p.env
			case *detailPage:
				env = p.env
			case *diffPage:
				if p.now != d.m.data.cluster || p.old != d.m.data.previous {
					t.Error("the diff is not of the newest clusters")
				}
				continue
			}
			if env.Cluster != d.m.data.cluster {
				t.Errorf("after %q the page shows an older cluster", keys)
			}
		}
	})
}

func TestFilters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, x := range []struct {
			text string
			keep func(s *model.Segment, collection string) bool
		}{
			{"growing", func(s *model.Segment, _ string) bool { return s.State == model.SegmentGrowing }},
			{"!growing", func(s *model.Segment, _ string) bool { return s.State != model.SegmentGrowing }},
			{"re:^docs", func(_ *model.Segment, c string) bool { return strings.HasPrefix(c, "docs") }},
			{"!re:^docs", func(_ *model.Segment, c string) bool { return !strings.HasPrefix(c, "docs") }},
			{"state=growing", func(s *model.Segment, _ string) bool { return s.State == model.SegmentGrowing }},
			{"!state=growing", func(s *model.Segment, _ string) bool { return s.State != model.SegmentGrowing }},
			{
				"rows>5k docs",
				func(s *model.Segment, c string) bool { return s.Rows > 5000 && strings.HasPrefix(c, "docs") },
			},
			{"图像", func(_ *model.Segment, c string) bool { return strings.HasPrefix(c, "图像") }},
			{"nothing has this", func(*model.Segment, string) bool { return false }},
		} {
			d := at(t, "5 a /")
			d.Typed(x.text).Keys("enter")
			var want, got []string
			c := d.m.data.cluster
			for _, s := range c.Segments {
				if x.keep(s, c.CollectionName(s.Collection)) {
					want = append(want, s.ID.String())
				}
			}
			g := d.grid()
			for i := range g.rows.Count() {
				got = append(got, g.rows.Table.Ref(g.rows.Row(i)).ID)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("filter %q (-want +got):\n%s", x.text, diff)
			}
		}
	})
}

func TestFilterCompletesValues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := at(t, "5 /")
		d.Typed("!docs state=gr")
		d.Shows("!docs state=Growing", "no segments of 27 match")
		d.Keys("tab enter")
		d.Shows("3 of 27", "/!docs state=Growing")
	})
}

func TestFilterErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := at(t, "5 /")
		d.Typed("re:(")
		d.Shows("not a regular expression yet")
		d.Keys("esc")
		d.Keys("/").Typed("zzz").Keys("enter")
		d.Shows(`match "zzz"; esc clears the filter`)
	})
}

func TestSortByKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := at(t, "5")
		rows := func() []int64 {
			g := d.grid()
			var list []int64
			for i := range g.rows.Count() {
				list = append(list, g.rows.Table.Cell(g.rows.Row(i), g.resource.Column("rows")).Int)
			}
			return list
		}
		for i := 0; i < 20 && !strings.Contains(d.Plain(), "sort rows"); i++ {
			d.Keys(">")
		}
		d.Shows("sort rows ↓", "ROWS ↓")
		if list := rows(); list[0] < list[len(list)-1] {
			t.Error("numbers do not start with the highest")
		}
		d.Keys("S enter")
		d.Shows("sort rows ↑")
		if list := rows(); list[0] > list[len(list)-1] {
			t.Error("choosing the column again did not reverse the order")
		}
	})
}

// TestPageStackBounded checks that opening a page in the breadcrumb goes back to it, with its cursor, and that
// help is not in the breadcrumb.
func TestPageStackBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := at(t, "5 down*4 4 3 ? 6")
		d.Shows("overview › segments › collections › nodes › vchannels")
		d.Keys("5")
		d.Shows("overview › segments  ", "row 5 / 27")
		d.Keys("]")
		d.Shows("overview › segments › collections")
		d.Keys("1")
		d.Shows("DATA")
	})
}

func TestDrillDownAndBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := at(t, "4 enter")
		d.Shows("overview › collections › docs_hnsw_cos segments", "7")
		d.Keys("a down enter") // it has no index files
		d.Shows("› 470590760626295028  ", "no segment-indexes with segment_id=470590760626295028")
		d.Keys("esc o")
		d.Shows("collections")
		if d.cursorID() != strconv.Itoa(tuitest.FirstID) {
			t.Errorf("the owner of the segment is %s", d.cursorID())
		}
		d.Keys("esc*2")
		d.Shows("overview › collections")
		d.Keys("] [ esc")
		d.Shows("overview")
		d.Keys("5 r")
		d.Shows("related to 470590760626295000")
		d.Keys("1")
		d.Shows("index files")
		d.Keys("H")
		d.Shows("DATA")
	})
}

// TestOpenDescribes checks that enter describes a coordinator, which has no rows to open, and opens the segments of
// a query node.
func TestOpenDescribes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 120, 40)
		d.Cluster(modeltest.Served())
		d.Keys(": n o d e s space r o l e = r o o t c o o r d enter enter")
		d.Shows("› rootcoord-", "no vchannels with watcher=")
		d.Keys(": n o d e s space r o l e = q u e r y n o d e enter enter")
		d.Shows(" serves")
	})
}

// TestSortNextVisible checks that the first > sorts by the second column, because the rows are already in the order
// of the first.
func TestSortNextVisible(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := at(t, "5 >")
		d.Shows("sort collection ↑")
	})
}

// TestColumnsStay checks that columns keep their positions and widths while a filter is typed, and are restored
// without it.
func TestColumnsStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := at(t, "5")
		header := func() string { return strings.Split(d.Plain(), "\n")[3] }
		before := header()
		d.Keys("/")
		for key := range strings.SplitSeq("!growing", "") {
			d.Keys(key)
			if h := header(); h != before {
				t.Errorf("after %s: %q, before %q", key, h, before)
			}
		}
		d.Keys("enter esc")
		if h := header(); h != before {
			t.Errorf("without the filter: %q, before %q", h, before)
		}
	})
}

func TestPalette(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, x := range []struct{ line, want string }{
			{"seg coll=docs_hnsw_cos state=growing", "segments coll=docs_hnsw_cos state=growing"},
			{"segm", "› segments"},
			{"tree docs_hnsw_cos", "tree of docs_hnsw_cos"},
			{"diff", "no changes since you opened it"},
			{"help", "OVERVIEW: OPEN"},
			{"zzz", `no page or object "zzz"`},
			{"docs_hnsw_cos", "overview › docs_hnsw_cos"},
			{"DOCS_HN", `no page or object "DOCS_HN"`},
			{"docs_hn", "overview › docs_hnsw_cos"},
			{"querynode-7", "overview › querynode-7"},
			{"470590760626295000", "overview › 470590760626295000"},
			{"describe querynode-7", "overview › querynode-7"},
			{"describe segment 470590760626295000", "overview › 470590760626295000"},
			{"describe", "usage: :describe [RESOURCE] NAME"},
			{"describe nosuch", `no object "nosuch"`},
			{"overview nosuch", "usage: :overview"},
			{"tree a b", "usage: :tree COLLECTION"},
			{"explain node-idle x", "usage: :explain CHECK"},
			{"live x", "usage: :live"},
			{"segments nosuch=1", `unknown column of segments "nosuch"`},
			{"tree", "collection required"},
			{"theme light", "theme light"},
			{"theme pink", "no theme pink"},
		} {
			d := at(t, ":")
			d.Typed(x.line).Keys("enter")
			d.Shows(x.want)
			d.Fits()
		}
		if d := at(t, ":").Typed("q").Keys("enter"); !d.Quit {
			t.Error(":q does not quit")
		}
		d := at(t, ":")
		d.Typed("seg").Keys("tab").Typed("state=Gro").Keys("tab")
		d.Shows(":segments state=Growing")
		d.Keys("enter")
		d.Shows("segments state=Growing")
		d = at(t, ":")
		d.Typed("co").Keys("down*2 enter")
		if len(d.m.stack.pages) != 2 {
			t.Error("a suggestion that was walked to does not open")
		}
	})
}

// TestFilterWithoutTable checks that text typed after the filter key on a page without a table does nothing.
func TestFilterWithoutTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := at(t, "H")
		d.Keys("/ s i z e > 1 M i B")
		d.Shows("DATA", "no table to filter on this page")
		d.Keys("enter 5")
		d.Shows("overview › segments")
		d.Keys("H /")
		d.Sleep(filterPause)
		d.Keys("6")
		d.Shows("overview › vchannels")
	})
}

// TestPaletteRanks checks that names of pages come before those of objects, and those before pages that only
// contain the word.
func TestPaletteRanks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := at(t, "5")
		for _, x := range []struct{ word, first string }{
			{"docs", "docs_hnsw_cos"},
			{"query", "querynode-7"},
			{"dat", "databases"},
			{"node", "nodes"},
			{"segment-i", "segment-indexes"},
		} {
			if list := suggestJump(d.m, x.word); len(list) == 0 || list[0].Text != x.first {
				t.Errorf("%s suggests %+v first, want %s", x.word, list, x.first)
			}
		}
	})
}

func TestAgesUpdate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		begin := time.Now()
		cfg.Now = func() time.Time { return tuitest.Epoch().Add(time.Since(begin)) }
		d := driven(t, cfg, 120, 30)
		d.Cluster(tuitest.Fixture())
		d.Keys("6")
		d.Shows(" 3s ")
		d.Sleep(clockEvery + time.Second)
		d.Shows(" 34s ")
	})
}

func TestResize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := at(t, "5")
		for _, size := range [][2]int{{39, 10}, {40, 9}, {20, 5}, {3, 1}} {
			d.Send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			d.Fits()
		}
		d.Send(tea.WindowSizeMsg{Width: 39, Height: 10})
		d.Shows("terminal too small", "needs 40 x 10")
		d.Send(tea.WindowSizeMsg{Width: 40, Height: 10})
		d.Shows("470590760626295000")
		for w := 40; w < 220; w += 7 {
			d.Send(tea.WindowSizeMsg{Width: w, Height: 10 + w/5})
			d.Fits()
		}
	})
}

// TestOutputEscaped checks that no frame contains control characters from the cluster.
func TestOutputEscaped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, keys := range []string{
			"", "4", "4 down*5 d", "4 down*5 t", "4 down*5 enter", "g k", "g k end d", "g u", "g u d", "4 down*5 r",
			"g d",
		} {
			d := at(t, keys)
			d.Cluster(tuitest.FixtureLater())
			rest := d.Screen()
			for {
				at := strings.IndexFunc(rest, func(r rune) bool {
					return r < 0x20 && r != '\n' || r >= 0x7f && r < 0xa0
				})
				if at < 0 {
					break
				}
				end := strings.IndexByte(rest[at:], 'm')
				if !strings.HasPrefix(rest[at:], "\x1b[") || end < 0 ||
					strings.Trim(rest[at+2:at+end], "0123456789;:") != "" {
					t.Errorf("after %q the frame has %q", keys, rest[at:min(len(rest), at+12)])
					break
				}
				rest = rest[at+end:]
			}
		}
	})
}

// TestHeaderShowsTheWorstSource checks that responses of processes do not hide the loss of etcd, and that the
// header does not show "live" while a process is silent.
func TestHeaderShowsTheWorstSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { headerShowsTheWorst(driven(t, testConfig(), 120, 30)) })
}

func headerShowsTheWorst(d *ui) {
	t := d.T
	now := d.m.Config.Now()
	gone := errors.New("etcd is not responding")
	for _, step := range []struct {
		update history.Update
		want   string
	}{
		{history.Update{Cluster: tuitest.Fixture(), Live: true}, "● live"},
		{history.Update{Live: true, Err: gone, Since: now.Add(-7 * time.Second)}, "stale for 7s · ✖ source lost"},
		{
			history.Update{Cluster: tuitest.FixtureLater(), Live: true, Err: gone, Since: now.Add(-9 * time.Second)},
			"stale for 9s · ✖ source lost",
		},
		{history.Update{Progress: "reading: 7 keys, 0 MiB"}, "✖ source lost"},
		{
			history.Update{Live: true, Lost: []history.Lost{{Name: "querynode-7", Since: now.Add(-3 * time.Minute)}}},
			"▲ querynode-7 silent for 3m",
		},
		{
			history.Update{
				Live: true,
				Lost: []history.Lost{
					{Name: "querynode-7", Since: now.Add(-3 * time.Minute)}, {Name: "proxy-1", Since: now},
				},
			},
			"▲ 2 processes silent for 3m",
		},
		{history.Update{Cluster: tuitest.Fixture(), Live: true}, "● live"},
	} {
		d.Send(step.update)
		if head, _, _ := strings.Cut(ansi.Strip(d.m.View().Content), "\n"); !strings.Contains(head, step.want) {
			t.Errorf("%+v: the header is %q, want %q in it", step.update, head, step.want)
		}
	}
}
