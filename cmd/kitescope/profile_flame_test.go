package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kitescope/cmd/kitescope/cli"
	"kitescope/profile"
	"kitescope/profile/report"
)

// TestFlameItems checks that the UI reads profiles according to the flags, and that its copied commands contain
// these flags.
func TestFlameItems(t *testing.T) {
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"})
	work, preempt := b.Frame("main.work", profile.NoMapping), b.Frame("runtime.asyncPreempt", profile.NoMapping)
	for node, value := range map[string]int64{"querynode-1": 3, "querynode-2": 4} {
		if err := b.Sample([]uint32{preempt, work}, []int64{value},
			profile.Label{Key: profile.NodeLabel, Str: node}); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "all.pb")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(b.Profile().Encode(file), file.Close()); err != nil {
		t.Fatal(err)
	}
	f := flameFlags{input: profileInput{nodes: []string{"querynode-2"}}}
	f.input.pull.kinds = "cpu"
	f.query.foldPreempt = true
	choice, err := f.input.choose(t.Context(), &cli.App{Streams: &cli.Streams{}}, []string{path})
	if err != nil {
		t.Fatal(err)
	}
	item := f.items(choice)[0]
	p, err := item.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if p.Len() != 1 || p.Values[0] != 4 {
		t.Errorf("there are %d samples, want the one of querynode-2", p.Len())
	}
	top, err := report.NewTop(p, report.Options{})
	if err != nil || len(top.Entries) != 1 || top.Entries[0].Function != "main.work" || top.Entries[0].Flat != 4 {
		t.Errorf("the functions are %v (%v), want main.work with all: runtime.asyncPreempt was not folded", top, err)
	}
	if got, want := strings.Join(f.words([]string{"all.pb.gz"}), " "),
		"all.pb.gz --node querynode-2 --fold-preempt"; got != want {
		t.Errorf("the words are %q, want %q", got, want)
	}
	if got, want := strings.Join(item.Words, " "), path+" --node querynode-2 --fold-preempt"; got != want {
		t.Errorf("the item's words are %q, want %q", got, want)
	}
}
