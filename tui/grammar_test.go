package tui_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"kitescope/render/rendertest"
	"kitescope/tui"
	"kitescope/tui/timeline"
	"kitescope/tui/tuitest"
)

func scopes() []tui.Scope {
	return []tui.Scope{
		tui.InOverview, tui.InGrid, tui.InList, tui.InDetail, tui.InTree, tui.InDiff, tui.InFindings, tui.InExplain,
		tui.InBalance, tui.InFlame, tui.InTop, tui.InProfiles, tui.InReport, tui.InReplay, timeline.InTimeline,
		tui.InHelp, tui.InPrompt, tui.InMenu,
	}
}

// TestKeysUnique checks that a key has one action in all scopes, including menus and prompts.
func TestKeysUnique(t *testing.T) {
	of := map[string]tui.Action{}
	for _, b := range tui.KeyMap(everyPage()) {
		for _, key := range b.Keys {
			if other, ok := of[key]; ok && other != b.Action {
				t.Errorf("%s has two meanings, one of them: %s", key, b.Doc)
			}
			of[key] = b.Action
		}
	}
}

// TestPagesAreReachedFromEverywhere checks that the digits open pages on every page, and that their keys have no
// other action.
func TestPagesAreReachedFromEverywhere(t *testing.T) {
	all := tui.KeyMap(everyPage())
	for _, in := range scopes() {
		if in == tui.InPrompt || in == tui.InMenu {
			continue
		}
		for key := range strings.FieldsSeq("0 1 2 3 4 5 6 7 8 9 : ? H q , L") {
			if !slices.ContainsFunc(all, func(b tui.Binding) bool {
				return b.In&in != 0 && slices.Contains(b.Keys, key)
			}) {
				t.Errorf("%v: %s does nothing", tui.Places(in, everyPage()), key)
			}
		}
	}
}

// TestKeysOfMenus checks that a menu item has a number, or the key of the same action on pages, but not a key that
// moves in the menu or closes it.
func TestKeysOfMenus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, m := drive(t, 120, 40, everyPage())
		d.Cluster(tuitest.Fixture())
		all := tui.KeyMap(everyPage())
		for _, keys := range []string{"5 r", "5 Y", "5 S", "4 d r", "2 Y", "8 Y"} {
			d.Keys(keys)
			if m.Menu == nil {
				t.Fatalf("%s opens no menu", keys)
			}
			list, actions := tui.MenuKeys(m)
			for i, key := range list {
				bound := slices.ContainsFunc(all, func(b tui.Binding) bool {
					return b.Action == actions[i] && slices.Contains(b.Keys, key)
				})
				if !bound && key != "" && key != strconv.Itoa(i+1) {
					t.Errorf("%s: the key of item %d is %q", keys, i+1, key)
				}
			}
			before := len(list)
			d.Keys("j k down up pgdown pgup home end")
			if m.Menu == nil || len(m.Menu.Items) != before {
				t.Errorf("%s: moving chose something", keys)
			}
			d.Keys("esc")
			if m.Menu != nil {
				t.Errorf("%s: esc does not close the menu", keys)
			}
		}
	})
}

// TestReferenceOfKeys writes docs/reference/keys.md.
func TestReferenceOfKeys(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Keys of the terminal UI\n\nA key has the same meaning on every page where it works, and in " +
		"menus. " +
		"`?` lists the keys of the current page.\n" +
		"This page is generated from the key map by a test.\n")
	all := tui.KeyMap(everyPage())
	group := ""
	for _, x := range all {
		if x.Group != group {
			group = x.Group
			fmt.Fprintf(&b, "\n## %s\n\n| keys | action | where |\n|---|---|---|\n", group)
		}
		keys := "`" + strings.Join(x.Keys, "` `") + "`"
		where := strings.Join(tui.Places(x.In, everyPage()), ", ")
		if (x.In|tui.InHelp)&tui.InPages == tui.InPages {
			where = "everywhere"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", keys, x.Doc, where)
	}
	rendertest.Golden(t, filepath.Join("..", "..", "docs", "reference", "keys.md"), []byte(b.String()))
}
