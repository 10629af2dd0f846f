package profiles

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	tea "charm.land/bubbletea/v2"

	"kitescope/profile/pgo"
	"kitescope/tui"
	"kitescope/tui/tuitest"
)

// TestReportScreens checks the screens of a judgement and a comparison, and all their lines on the smallest
// screen.
func TestReportScreens(t *testing.T) {
	j := judgementFixture(t)
	noColor := func(c *tui.Config) { c.NoColor, c.ASCII = true, true }
	for name, open := range map[string]func(t *testing.T, w, h int, change ...func(*tui.Config)) *ui{
		"judge": func(t *testing.T, w, h int, change ...func(*tui.Config)) *ui {
			t.Helper()
			return driveJudgement(t, j, w, h, change...)
		},
		"compare": func(t *testing.T, w, h int, change ...func(*tui.Config)) *ui {
			t.Helper()
			return driveComparison(t, pairedFixture(), w, h, change...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := open(t, 100, 60, noColor)
				d.Fits()
				screen := d.Screen()
				if strings.Contains(screen, "[3") || strings.Contains(screen, "[4") ||
					strings.Contains(screen, ";38;") {
					t.Errorf("a colour in spite of NO_COLOR: %q", screen)
				}
				tuitest.Golden(t, name, d.Plain())
				d.Send(tea.WindowSizeMsg{Width: tui.MinWidth, Height: tui.MinHeight})
				d.Fits()
				first := d.Plain()
				d.Keys("end")
				d.Fits()
				if d.Plain() == first {
					t.Error("the report does not scroll")
				}
			})
		})
	}
}

// TestReportsAreHarmless checks that text from a file cannot send escape sequences to the terminal.
func TestReportsAreHarmless(t *testing.T) {
	j := judgementFixture(t)
	bad := "\x1b[31mred\x1b]52;c;aGk=\a\r\nnext\u202e" + strings.Repeat("界", 40)
	for i := range j.Profiles {
		in := j.Profiles[i].Input
		in.Name, in.Node, in.GoVersion = bad, bad, bad
	}
	for i := range j.Hot {
		j.Hot[i].Edge = pgo.Edge{Caller: bad, Callee: bad, Offset: -i}
	}
	j.Reason, j.Refusals[0] = bad, pgo.Refusal{ID: bad, Message: bad, Hint: bad}
	j.Risks[0] = pgo.Risk{ID: bad, Message: bad, Source: bad, Function: bad, Block: bad}
	synctest.Test(t, func(t *testing.T) {
		for _, d := range []*ui{driveJudgement(t, j, 80, 24), driveComparison(t, hostileFixture(), 80, 24)} {
			for _, keys := range []string{"", "pgdown", "end", "y", "s"} {
				d.Keys(keys)
				d.Fits()
				screen := d.Screen()
				if strings.Contains(screen, "\x1b[31m") || strings.ContainsAny(screen, "\a\r\u202e") ||
					strings.Contains(screen, "\x1b]") {
					t.Errorf("after %q the screen has control characters: %q", keys, screen)
				}
			}
			if strings.ContainsAny(d.Clip, "\x1b\a\r") {
				t.Errorf("control characters were copied: %q", d.Clip)
			}
		}
	})
}

func TestReportCopyAndSave(t *testing.T) {
	j := judgementFixture(t)
	synctest.Test(t, func(t *testing.T) {
		d := driveComparison(t, pairedFixture(), 120, 40)
		d.Keys("y")
		if !strings.HasPrefix(d.Clip, "before → after\n") {
			t.Errorf("copied %q", d.Clip)
		}
		d.Keys("Y 1")
		if want := `kitescope compare before after --control 'it'\''s'`; d.Clip != want {
			t.Errorf("copied %q, want %q", d.Clip, want)
		}
		for _, keys := range []string{"s 1 enter", "s 2 enter"} {
			d.Keys(keys)
		}
		var endings []string
		for name := range maps.Keys(d.Saved) {
			endings = append(endings, filepath.Ext(name))
		}
		slices.Sort(endings)
		if got := strings.Join(endings, " "); got != ".csv .json" {
			t.Errorf("saved %q", got)
		}
		d = driveJudgement(t, j, 120, 40)
		d.Keys("Y 1")
		if want := "kitescope pgo judge before --dir '../my service'"; d.Clip != want {
			t.Errorf("copied %q, want %q", d.Clip, want)
		}
		d.Keys("9")
		d.Shows("milvus-cpu-hnsw.pb.gz", "unexpected EOF")
	})
}
