package tui

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

func everyKind() []PageKind { return pageKinds(slices.Concat(ProfilePages(nil), ReplayPages(nil))) }

func scopes() []scope {
	return []scope{inOverview, inGrid, inList, inDetail, inTree, inDiff, inFindings, inExplain, inBalance, inFlame, inTop, inProfiles, inJudge, inCompare, inMetric, inReplay, inReplayRow, inHelp, inPrompt, inMenu}
}

func TestNoKeyHasTwoMeaningsInOneScope(t *testing.T) {
	for _, in := range scopes() {
		seen := map[string]binding{}
		for _, b := range keyMap(everyKind()) {
			if b.in&in == 0 {
				continue
			}
			for _, key := range b.keys {
				if other, ok := seen[key]; ok {
					t.Errorf("%s: %q is bound to %q and to %q", in.names(everyKind()), key, other.doc, b.doc)
				}
				seen[key] = b
			}
		}
	}
}

func TestEveryBindingIsDocumented(t *testing.T) {
	for _, b := range keyMap(everyKind()) {
		if len(b.keys) == 0 || b.in == 0 || b.group == "" || !strings.HasSuffix(b.doc, ".") {
			t.Errorf("binding %+v lacks keys, scope, group or a sentence", b)
		}
		if (b.hint == "") != (b.weight == 0) {
			t.Errorf("binding %q: a hint needs a weight, and the reverse", b.doc)
		}
	}
}

func TestHelpHasEveryKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.Pages = slices.Concat(ProfilePages(nil), ReplayPages(nil))
		d := driven(t, cfg, 200, 50)
		d.keys("?")
		d.screen() // lays it out
		help := d.m.stack.top().(*helpPage).plain()
		for _, b := range keyMap(everyKind()) {
			if !strings.Contains(help, b.doc) {
				t.Errorf("help lacks %q", b.doc)
			}
		}
		for _, r := range d.m.cfg.Resources {
			if !strings.Contains(help, r.Name) {
				t.Errorf("help lacks the page %q", r.Name)
			}
		}
		d.keys("/").typed("pause").keys("enter")
		d.shows("/pause 1 of")
	})
}

func TestFooterHasAtMostEightKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 200, 50)
		d.cluster(fixture())
		for _, page := range []string{"", "s", "esc c x", "esc*2 c d", "? "} {
			d.keys(page)
			in := d.m.stack.top().scope()
			foot := strings.Fields(d.m.hints(in))
			if n := strings.Count(d.m.hints(in), d.m.st.Key.Open); n > maxHints {
				t.Errorf("page %q has %d hints: %q", page, n, foot)
			}
			if !slices.Contains(foot, "jump") {
				t.Errorf("page %q does not say how to jump: %q", page, foot)
			}
		}
	})
}

func TestKeysThatDoNothingSayWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, x := range []struct{ keys, want string }{
			{"x", "x works in tables"},
			{"esc", "first page"},
			{"s =", "mark two rows with v first"},
			{"c o*2", "belongs to nothing else"},
			{"n x", "belongs to no collection"},
			{"c d n", "search with / first"},
			{"]", "newest page"},
		} {
			d := driven(t, testConfig(), 100, 24)
			d.cluster(fixture())
			d.keys(x.keys)
			d.shows(x.want)
			d.keys("down")
			d.lacks(x.want)
		}
	})
}
