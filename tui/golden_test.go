package tui

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"kitescope/inspect/model/modeltest"
	"kitescope/inspect/view"
)

// screens are the pages and how to get there.
var screens = []struct{ name, keys, typed string }{
	{"overview", "", ""},
	{"collections", "c", ""},
	{"segments", "s", ""},
	{"segments-wide-scrolled", "s w right*2", ""},
	{"nodes", "n", ""},
	{"vchannels", "v", ""},
	{"keys", "r", ""},
	{"detail-collection", "c d", ""},
	{"detail-segment", "s d", ""},
	{"detail-key", "r d", ""},
	{"tree", "c x", ""},
	{"diff", "d", ""},
	{"findings", "f", ""},
	{"findings-open", "f E down", ""},
	{"findings-about", "c d f right", ""},
	{"explain", "f down e", ""},
	{"palette", ":", "seg"},
	{"filter", "s /", "docs state!=growing"},
	{"related", "c r", ""},
	{"columns", "s C", ""},
	{"compare", "s v*2 =", ""},
	{"copy", "s Y", ""},
}

var sizes = []struct{ w, h int }{{80, 24}, {200, 50}, {60, 15}}

func TestScreens(t *testing.T) {
	for _, size := range sizes {
		for _, s := range screens {
			name := fmt.Sprintf("%s-%dx%d", s.name, size.w, size.h)
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := driven(t, testConfig(), size.w, size.h)
					d.cluster(fixture())
					d.cluster(fixtureLater())
					d.keys(s.keys).typed(s.typed)
					d.fits()
					golden(t, name, d.plain())
				})
			})
		}
	}
}

// TestHelpScreens is the help of the UI with all its pages.
func TestHelpScreens(t *testing.T) {
	for _, size := range sizes {
		name := fmt.Sprintf("help-%dx%d", size.w, size.h)
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := testConfig()
				cfg.Pages = append(ProfilePages(ProfileFiles(ProfileSet{})), ReplayPages(nil)...)
				d := driven(t, cfg, size.w, size.h)
				d.keys("?")
				d.fits()
				d.keys("esc")
				d.cluster(fixture())
				d.cluster(fixtureLater())
				d.keys("?")
				d.fits()
				golden(t, name, d.plain())
			})
		})
	}
}

// TestStyles holds the escape sequences of some screens, and that NO_COLOR has no colour.
func TestStyles(t *testing.T) {
	for _, s := range screens {
		switch s.name {
		case "overview", "segments", "detail-segment", "tree", "findings-open":
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
					d.cluster(fixture())
					d.keys(s.keys)
					d.cluster(fixtureLater())
					if screen := d.screen(); noColor && (strings.Contains(screen, "[3") || strings.Contains(screen, "[4") || strings.Contains(screen, ";38;")) {
						t.Errorf("a colour in spite of NO_COLOR: %q", screen)
					}
					golden(t, name, strings.ReplaceAll(d.screen(), "\x1b[", "«")+"\n")
				})
			})
		}
	}
}

// TestBeforeData holds the frames that are drawn before the feed has said anything.
func TestBeforeData(t *testing.T) {
	for _, s := range screens {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := driven(t, testConfig(), 80, 24)
				d.fits()
				if strings.TrimSpace(d.plain()) == "" {
					t.Error("the first frame is empty")
				}
				d.keys(s.keys).typed(s.typed)
				d.fits()
				if s.name == "overview" || s.name == "segments" {
					golden(t, "waiting-"+s.name, d.plain())
				}
			})
		})
	}
}

// TestEveryResource draws every table, describes its first row and follows its links.
func TestEveryResource(t *testing.T) {
	for _, r := range view.Resources {
		t.Run(r.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, size := range sizes {
					cfg := testConfig()
					cfg.StartPage = r.Name
					d := driven(t, cfg, size.w, size.h)
					d.cluster(fixture())
					for key := range strings.FieldsSeq("w right left >*2 < S d down / esc*2 r esc o esc enter esc C enter esc Y esc v V = esc end home") {
						d.keys(key)
						d.fits()
					}
					if d.m.stack.top() == nil {
						t.Error("no page is left")
					}
				}
			})
		})
	}
}

// TestServedScreens are the pages of a cluster whose processes were asked; one is silent.
func TestServedScreens(t *testing.T) {
	for _, size := range sizes {
		for _, s := range []struct{ name, keys string }{{"overview", ""}, {"nodes", "n"}, {"segments", "s"}, {"vchannels", "v"}, {"detail-node", "n down*4 d"}} {
			name := fmt.Sprintf("served-%s-%dx%d", s.name, size.w, size.h)
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := driven(t, testConfig(), size.w, size.h)
					d.cluster(modeltest.Served())
					d.keys(s.keys)
					d.fits()
					golden(t, name, d.plain())
				})
			})
		}
	}
}
