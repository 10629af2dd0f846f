package main

import (
	"testing"
	"time"

	"kitescope/cmd/kitescope/cli"
	"kitescope/profile/pull"
)

// TestPullProgressNames checks that the progress names unfinished nodes and fits one line of the terminal.
func TestPullProgressNames(t *testing.T) {
	width := 100
	a := &cli.App{Streams: &cli.Streams{Size: func() (int, int) { return width, 24 }}}
	s := &pullProgress{
		app: a, nodes: map[string]pull.State{}, waiting: map[string]string{}, unfinished: map[string]string{},
	}
	s.begun = time.Now()
	for i, node := range []string{"querynode-3", "proxy-1", "querynode-7"} {
		s.handle(pull.Event{Node: node, Kind: pull.CPU, State: pull.Sampling, Done: 0, All: 3})
		s.handle(pull.Event{Node: node, Kind: pull.Heap, State: pull.Connecting, Done: i, All: 6})
	}
	s.handle(pull.Event{Node: "proxy-1", Kind: pull.CPU, State: pull.Done, Outcome: pull.OK, Done: 1, All: 6})
	s.handle(pull.Event{Node: "proxy-1", Kind: pull.Heap, State: pull.Done, Outcome: pull.OK, Done: 2, All: 6})
	for _, c := range []struct {
		width int
		want  string
	}{
		{100, "profiling 3 processes: 2 of 6 profiles; running: querynode-3, querynode-7"},
		{73, "profiling 3 processes: 2 of 6 profiles; running: querynode-3 and 1 more"},
		{60, "profiling 3 processes: 2 of 6 profiles"},
	} {
		width = c.width
		if got := s.line(); got != c.want {
			t.Errorf("at %d cells: %q, want %q", c.width, got, c.want)
		}
	}
}
