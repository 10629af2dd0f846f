package tui

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"kitescope/inspect/model/modeltest"
	"kitescope/inspect/view"
	"kitescope/tui/tuitest"
)

// screens are the pages and the keys that open them. A menu looks the same in a wide terminal.
var screens = []struct {
	name, keys, typed string
	menu              bool
}{
	{"overview", "", "", false},
	{"collections", "4", "", false},
	{"segments", "5", "", false},
	{"segments-wide-scrolled", "5 w right*2", "", false},
	{"nodes", "3", "", false},
	{"vchannels", "6", "", false},
	{"keys", ": k e y s enter", "", false},
	{"detail-collection", "4 d", "", false},
	{"detail-segment", "5 d", "", false},
	{"detail-key", ": k e y s enter d", "", false},
	{"tree", "4 t", "", false},
	{"diff", ": d i f f enter", "", false},
	{"findings", "f", "", false},
	{"findings-open", "f down", "", false},
	{"findings-about", "4 d f", "", false},
	{"finding", "f enter", "", false},
	{"overview-node", "down*12", "", false},
	{"explain", "f down e", "", false},
	{"palette", ":", "seg", true},
	{"filter", "5 /", "docs state!=growing", true},
	{"related", "4 r", "", true},
	{"copy", "5 Y", "", true},
	{"save", "5 s 1", "", true},
	{"sort", "5 S", "", true},
}

func TestScreens(t *testing.T) {
	for _, size := range tuitest.Sizes {
		for _, s := range screens {
			name := fmt.Sprintf("%s-%dx%d", s.name, size.W, size.H)
			if s.menu && size.W > 80 {
				continue
			}
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := driven(t, testConfig(), size.W, size.H)
					d.Cluster(tuitest.Fixture())
					d.Cluster(tuitest.FixtureLater())
					d.Keys(s.keys).Typed(s.typed)
					d.Fits()
					tuitest.Golden(t, name, d.Plain())
				})
			})
		}
	}
}

// TestStyles checks the escape sequences of some screens, and that NO_COLOR has no colour.
func TestStyles(t *testing.T) {
	for _, s := range screens {
		switch s.name {
		case "overview", "segments":
		default:
			continue
		}
		for _, noColor := range []bool{false, true} {
			name := s.name + "-styled"
			if noColor {
				name = s.name + "-nocolor"
			}
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					cfg := testConfig()
					cfg.NoColor = noColor
					d := driven(t, cfg, 80, 24)
					d.Cluster(tuitest.Fixture())
					d.Keys(s.keys)
					d.Cluster(tuitest.FixtureLater())
					if screen := d.Screen(); noColor &&
						(strings.Contains(screen, "\x1b[3") || strings.Contains(screen, "\x1b[4") ||
							strings.Contains(screen, ";38;")) {
						t.Errorf("a colour in spite of NO_COLOR: %q", screen)
					}
					tuitest.Golden(t, name, strings.ReplaceAll(d.Screen(), "\x1b[", "«")+"\n")
				})
			})
		}
	}
}

// TestBeforeData checks the frames before the first update of the feed.
func TestBeforeData(t *testing.T) {
	for _, s := range []struct{ name, keys string }{{"overview", ""}, {"segments", "5"}, {"findings", "f"}} {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := driven(t, testConfig(), 80, 24)
				d.Fits()
				d.Keys(s.keys)
				tuitest.Golden(t, "waiting-"+s.name, d.Plain())
			})
		})
	}
}

// TestEveryResource draws every table, describes its first row and follows its links.
func TestEveryResource(t *testing.T) {
	for _, r := range view.Resources {
		t.Run(r.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := testConfig()
				cfg.StartPage = r.Name
				d := driven(t, cfg, 80, 24)
				d.Cluster(tuitest.Fixture())
				for key := range strings.FieldsSeq("w right > d esc r esc o esc enter esc Y esc end home") {
					d.Keys(key)
					d.Fits()
				}
				if d.m.Top() == nil {
					t.Error("no page is left")
				}
			})
		})
	}
}

// TestServedScreens checks the pages of a cluster whose processes were queried, where one process did not
// respond.
func TestServedScreens(t *testing.T) {
	for _, size := range tuitest.Sizes {
		for _, s := range []struct{ name, keys string }{{"overview", ""}, {"nodes", "3"}} {
			name := fmt.Sprintf("served-%s-%dx%d", s.name, size.W, size.H)
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := driven(t, testConfig(), size.W, size.H)
					d.Cluster(modeltest.Served())
					d.Keys(s.keys)
					d.Fits()
					tuitest.Golden(t, name, d.Plain())
				})
			})
		}
	}
}
