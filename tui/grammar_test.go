package tui_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/charmbracelet/x/ansi"

	"kitescope/render/rendertest"
	"kitescope/tui"
	"kitescope/tui/timeline"
	"kitescope/tui/tuitest"
)

func scopes() []tui.Scope {
	return []tui.Scope{tui.InOverview, tui.InGrid, tui.InList, tui.InDetail, tui.InTree, tui.InDiff, tui.InFindings, tui.InExplain, tui.InBalance, tui.InFlame, tui.InTop, tui.InProfiles, tui.InReport, tui.InReplay, timeline.InTimeline, tui.InHelp, tui.InPrompt, tui.InMenu}
}

// TestOneKeyOneMeaning: a key has one action wherever it works, in menus and while typing too, and the test sees where it has two.
func TestOneKeyOneMeaning(t *testing.T) {
	all := tui.KeyMap(everyPage())
	for _, text := range tui.Conflicts(all) {
		t.Error(text)
	}
	for _, x := range []struct {
		key  string
		want int
	}{{"s", 1}, {"5", 1}, {"g g", 1}, {"g z", 0}, {"x x", 1}, {"ctrl+o", 0}} {
		wrong := append(slices.Clone(all), tui.Binding{Action: tui.ActFlip, Keys: []string{x.key}, In: tui.InFlame})
		if got := tui.Conflicts(wrong); len(got) != x.want {
			t.Errorf("a binding of %q: %q, want %d conflicts", x.key, got, x.want)
		}
	}
}

// TestPagesAreReachedFromEverywhere: on every page the digits and what begins with g go to pages, and nothing else has those keys.
func TestPagesAreReachedFromEverywhere(t *testing.T) {
	all := tui.KeyMap(everyPage())
	for _, in := range scopes() {
		if in == tui.InPrompt || in == tui.InMenu {
			continue
		}
		for key := range strings.FieldsSeq("0 1 2 3 4 5 6 7 8 9 g : ? H p q , L") {
			if !slices.ContainsFunc(all, func(b tui.Binding) bool { return b.In&in != 0 && slices.Contains(b.Keys, key) }) {
				t.Errorf("%v: %s does nothing", tui.Places(in, everyPage()), key)
			}
		}
	}
}

func TestEveryActionHasAMeaning(t *testing.T) {
	names := map[string]bool{}
	for a := tui.ActNone + 1; a < tui.LastAction; a++ {
		name, brief, does := a.String(), a.Brief(), a.Does()
		switch {
		case name == "" || brief == "" || does == "":
			t.Errorf("action %d: name %q, brief %q, does %q", a, name, brief, does)
		case names[name]:
			t.Errorf("two actions are called %s", name)
		case ansi.StringWidth(brief) > 15:
			t.Errorf("%s: %q is too long for the columns of the help", name, brief)
		case strings.HasSuffix(does, ".") || !strings.HasSuffix(strings.TrimSuffix(strings.Fields(does)[0], ","), "s"):
			t.Errorf("%s: %q does not go on behind \"it\"", name, does)
		}
		names[name] = true
	}
	used := map[tui.Action]bool{}
	for _, b := range tui.KeyMap(everyPage()) {
		used[b.Action] = true
	}
	for a := tui.ActNone + 1; a < tui.LastAction; a++ {
		if !used[a] {
			t.Errorf("no key does what %s does", a)
		}
	}
}

// TestKeysThatMeanNothingHereSayWhat: on every page every key of others is answered with a whole sentence, however narrow the terminal.
func TestKeysThatMeanNothingHereSayWhat(t *testing.T) {
	all := tui.KeyMap(everyPage())
	for _, in := range scopes() {
		if in == tui.InPrompt || in == tui.InMenu {
			continue
		}
		for _, b := range all {
			for _, key := range b.Keys {
				if b.In&tui.InPages == 0 || strings.Contains(key, " ") || slices.ContainsFunc(all, func(o tui.Binding) bool { return o.In&in != 0 && slices.Contains(o.Keys, key) }) {
					continue
				}
				for _, w := range []int{57, 77, 117, 500} {
					text := tui.Unbound(everyPage(), in, key, w)
					if text == "" || ansi.StringWidth(text) > w || strings.Contains(text, "…") || strings.HasSuffix(text, ",") {
						t.Errorf("%v, %s, %d cells: %q", tui.Places(in, everyPage()), key, w, text)
					}
				}
			}
		}
	}
	for want, got := range map[string]string{
		"b is not available here: it changes what is measured, grouped or compared by":        tui.Unbound(everyPage(), tui.InExplain, "b", 80),
		"J is not available here: it judges whether a build with PGO is worth it on profiles": tui.Unbound(everyPage(), tui.InGrid, "J", 100),
		"c is not available here: it shows callers and callees on flame graphs":               tui.Unbound(everyPage(), tui.InGrid, "c", 77),
		"": tui.Unbound(everyPage(), tui.InFlame, "ctrl+y", 77),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestOldKeysAreAnswered: where a key does nothing any more it says which one does that now, and that one works there.
func TestOldKeysAreAnswered(t *testing.T) {
	all := tui.KeyMap(everyPage())
	tui.OldKeys(func(in tui.Scope, key string, now tui.Action) {
		answered := false
		for _, s := range scopes() {
			if in&s == 0 || slices.ContainsFunc(all, func(b tui.Binding) bool { return b.In&s != 0 && slices.Contains(b.Keys, key) }) {
				continue
			}
			answered = true
			if !slices.ContainsFunc(all, func(b tui.Binding) bool { return b.Action == now && b.In&s != 0 }) {
				t.Errorf("%v: %s is %s now, which does nothing there", tui.Places(s, everyPage()), key, now)
			}
		}
		if !answered {
			t.Errorf("%v: %s does something else now, so that it is never answered", tui.Places(in, everyPage()), key)
		}
	})
}

// TestKeysOfMenus: items have numbers, or the key that does the same on pages, and never one that moves in the menu or closes it.
func TestKeysOfMenus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, m := drive(t, 120, 40, everyPage())
		d.Cluster(tuitest.Fixture())
		all := tui.KeyMap(everyPage())
		for _, keys := range []string{"5 r", "5 Y", "5 S", "5 C", "4 d r", "g d Y", "2 Y", "8 Y"} {
			d.Keys(keys)
			if m.Menu == nil {
				t.Fatalf("%s opens no menu", keys)
			}
			list, actions := tui.MenuKeys(m)
			for i, key := range list {
				bound := slices.ContainsFunc(all, func(b tui.Binding) bool { return b.Action == actions[i] && slices.Contains(b.Keys, key) })
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

// TestChangedKeys: a person can have other keys, by the names of actions, as long as every key has one meaning.
func TestChangedKeys(t *testing.T) {
	for _, x := range []struct{ name, keys, want string }{
		{"pause", "Z", ""},
		{"go-nodes", "N2 g_N", "N2"},
		{"pause", "s", "two meanings"},
		{"paus", "Z", "did you mean pause"},
		{"pause", "", "at least one key"},
		{"number", "Z", "digits stay"},
		{"go-nodes", "z_n", "does not begin"},
		{"go", "Z", "does not begin"},
	} {
		var keys []string
		for key := range strings.FieldsSeq(x.keys) {
			keys = append(keys, strings.ReplaceAll(key, "_", " "))
		}
		all, err := tui.Remap(tui.KeyMap(everyPage()), map[string][]string{x.name: keys})
		switch {
		case x.want == "N2": // two keys, of which one is behind g
			if err != nil {
				t.Errorf("%s: %v", x.name, err)
			}
		case x.want == "" && err != nil:
			t.Errorf("%s: %v", x.name, err)
		case x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)):
			t.Errorf("%s %q: %v, want %q", x.name, keys, err, x.want)
		}
		if err == nil && !slices.ContainsFunc(all, func(b tui.Binding) bool { return b.Action.String() == x.name && slices.Equal(b.Keys, keys) }) {
			t.Errorf("%s did not get %q", x.name, keys)
		}
	}
}

// TestReferenceOfKeys writes docs/reference/keys.md.
func TestReferenceOfKeys(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Keys of the terminal UI\n\nA key means the same on every page where it works, in menus too. `?` shows the keys of the page that is open.\n" +
		"This page is written by a test from the key map; the last column is the name of the action in the configuration.\n")
	all := tui.KeyMap(everyPage())
	group := ""
	for _, x := range all {
		if x.Group != group {
			group = x.Group
			fmt.Fprintf(&b, "\n## %s\n\n| keys | what | where | action |\n|---|---|---|---|\n", group)
		}
		keys := "`" + strings.Join(x.Keys, "` `") + "`"
		where := strings.Join(tui.Places(x.In, everyPage()), ", ")
		if (x.In|tui.InHelp)&tui.InPages == tui.InPages {
			where = "everywhere"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | `%s` |\n", keys, x.Doc, where, x.Action)
	}
	rendertest.Golden(t, filepath.Join("..", "..", "docs", "reference", "keys.md"), []byte(b.String()))
}
