package tui

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kitescope/internal/table"
	"kitescope/tui/draw"
	"kitescope/tui/tuitest"
)

// TestRowFindings checks that rows with findings start with a sign.
func TestRowFindings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := at(t, "3")
		d.Shows("✖  querynode-7", "✖  querynode-9", "   querynode-8", "FINDINGS", "✖1 ▲1")
		d.Keys(":").Typed("nodes worst=error").Keys("enter")
		d.Shows("querynode", "row 1 / 2")
	})
}

// TestHiddenRows checks that dropped segments are hidden until a shows them, and that going to a dropped segment
// shows it.
func TestHiddenRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := at(t, "5")
		d.Shows("3 dropped hidden (a)", "/ 27")
		if strings.Contains(d.Plain(), "Dropped") {
			t.Errorf("a dropped segment is shown:\n%s", d.Plain())
		}
		d.Keys("a")
		d.Shows("/ 30")
		d.Keys("Y 1")
		if want := "get segments --all"; !strings.HasSuffix(d.Clip, want) {
			t.Errorf("command %q, want %q", d.Clip, want)
		}
		d.Keys("a")
		d.Shows("3 dropped hidden (a)")
		d.Keys(":").Typed("segments state=dropped").Keys("enter a")
		d.Shows("Dropped", "nothing is hidden")

		d = at(t, "")
		dropped := ""
		for _, s := range d.m.data.cluster.Segments {
			if s.State.String() == "Dropped" {
				dropped = s.ID.String()
			}
		}
		ref := d.m.resource("segments").Table(d.m.data.env).Ref(0)
		ref.ID = dropped
		d.Run(d.m.goTo(ref))
		d.Settle()
		d.Shows(dropped)
	})
}

// TestSameColumnsGoFirst checks that a column with the same value in every row is dropped first, and restored when
// a row differs.
func TestSameColumnsGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 80, 24)
		d.Cluster(tuitest.Fixture())
		d.Keys("3")
		d.Shows("STATE", "REPLICAS", "hidden: VERSION")
		if head := strings.Split(d.Plain(), "\n")[3]; strings.Contains(head, "VERSION") {
			t.Errorf("columns: %s", head)
		}
		d.Keys(":").Typed("nodes state=registered").Keys("enter")
		if head := strings.Split(d.Plain(), "\n")[3]; strings.Contains(head, "VERSION") ||
			strings.Contains(head, "STATE") || !strings.Contains(head, "FINDINGS") {
			t.Errorf("columns: %s", head)
		}
	})
}

// TestSameJudgementNoRebuild checks that tables and trees are not built again if the judgement is unchanged.
func TestSameJudgementNoRebuild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.Now = time.Now
		d := driven(t, cfg, 120, 30)
		d.Cluster(tuitest.Fixture())
		d.Keys("3")
		g := d.grid()
		if hasAges(g.resource) {
			t.Fatal("ages of nodes grow: they are built anew in any case")
		}
		built := g.serial.Load()
		env := d.m.data.judged.env
		d.Sleep(clockEvery + time.Second)
		if d.m.data.judged.env == env {
			t.Fatal("nothing was judged anew")
		}
		if n := g.serial.Load() - built; n != 0 {
			t.Errorf("the table was built %d times more", n)
		}
		d.Keys("4 t")
		tree := d.m.Top().(*treePage)
		root := tree.root
		d.Sleep(clockEvery + time.Second)
		if tree.root != root {
			t.Error("the tree was made anew")
		}
	})
}

// TestHiddenNote checks that the named columns can be reached with the key in the note.
func TestHiddenNote(t *testing.T) {
	cols := []table.Column{{Title: "ID"}, {Title: "ROWS"}, {Title: "SIZE"}, {Title: "STATE"}}
	placed := func(list ...int) (p []draw.Placed) {
		for _, j := range list {
			p = append(p, draw.Placed{Column: j})
		}
		return p
	}
	for _, x := range []struct {
		offset int
		placed []draw.Placed
		room   int
		want   string
	}{
		{0, placed(0, 2), 100, "hidden: ROWS, STATE (→)"},
		{0, placed(0, 2), 42, "hidden: ROWS +1 (→)"},
		{0, placed(0, 2), 30, "→ 2 more"},
		{0, placed(0, 1, 2, 3), 100, ""},
		{2, placed(0, 2), 100, "hidden: STATE (→)"},
		{2, placed(0, 2, 3), 100, ""},
	} {
		if got := hiddenNote(&tableView{offset: x.offset, Placed: x.placed}, cols, x.room); got != x.want {
			t.Errorf("offset %d, placed %v, room %d: %q, want %q", x.offset, x.placed, x.room, got, x.want)
		}
	}
}
