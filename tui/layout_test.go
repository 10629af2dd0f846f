package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"kitescope/internal/words"
	"kitescope/tui/draw"
)

func TestFuzzy(t *testing.T) {
	all := []Suggestion{
		{Text: "segments"},
		{Text: "segment-indexes"},
		{Text: "databases"},
		{Text: "resource-groups"},
		{Text: "collections"},
		{Text: "config"},
	}
	aliases := map[string][]string{"collections": {"coll", "co"}, "databases": {"db"}}
	for pattern, want := range map[string]string{
		"seg": "segments", "si": "segment-indexes", "db": "databases", "co": "collections", "rg": "resource-groups",
		"conf": "config", "SEGMENTS": "segments",
	} {
		list := rank(pattern, all, func(i int) []string { return aliases[all[i].Text] })
		if len(list) == 0 || list[0].Text != want {
			t.Errorf("%q finds %v, want %s first", pattern, list, want)
		}
	}
	if list := rank("xyz", all, func(int) []string { return nil }); len(list) != 0 {
		t.Errorf("xyz finds %v", list)
	}
}

func TestLineEditing(t *testing.T) {
	var l line
	l.insert("one two\tthree\x1b\n")
	for _, x := range []struct {
		action Action
		want   string
		at     int
	}{
		{ActBackspace, "one two three", 13},
		{ActDeleteWord, "one two ", 8},
		{ActLeft, "one two ", 7},
		{ActTop, "one two ", 0},
		{ActDelete, "ne two ", 0},
		{ActRight, "ne two ", 1},
		{ActDeleteAll, "e two ", 0},
		{ActBackspace, "e two ", 0},
		{ActBottom, "e two ", 6},
		{ActDeleteWord, "e ", 2},
	} {
		l.edit(x.action)
		if l.String() != x.want || l.at != x.at {
			t.Errorf("action %d gives %q with the cursor at %d, want %q at %d", x.action, l.String(), l.at, x.want,
				x.at)
		}
	}
	l.set(strings.Repeat("图", 40))
	text, cursor := l.window(20)
	if ansi.StringWidth(text) > 20 || cursor >= 20 {
		t.Errorf("a window of 20 cells has %q and its cursor at %d", text, cursor)
	}
}

func TestSplitWords(t *testing.T) {
	got, err := words.Split(`seg coll='two words' "a=b"  x`)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"seg", "coll=two words", "a=b", "x"}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := words.Split(`coll='open`); err == nil {
		t.Error("an open quote is no error")
	}
}

// TestAgeText checks that an age holds exactly until the time that it gives.
func TestAgeText(t *testing.T) {
	for age := time.Duration(0); age < 100*time.Hour; age += 7*time.Second + age/7 {
		text, next := draw.Age(age)
		if next <= 0 {
			t.Fatalf("the age %s changes after %s", age, next)
		}
		if same, _ := draw.Age(age + next - 1); same != text {
			t.Errorf("the age %s reads %s, and %s before its time", age, text, same)
		}
		if later, _ := draw.Age(age + next); later == text {
			t.Errorf("the age %s still reads %s after %s", age, text, next)
		}
	}
}
