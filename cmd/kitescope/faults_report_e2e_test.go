//go:build e2efaults

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// clusterState is the state of a cluster as read by tools/e2e/state.py.
type clusterState struct {
	Sessions map[string]struct {
		ID       int64 `json:"id"`
		Stopping bool  `json:"stopping"`
	} `json:"sessions"`
	Collections []string            `json:"collections"`
	Checkpoints map[string]*float64 `json:"checkpoints"` // age in seconds
	Segments    map[string]struct {
		State string `json:"state"`
	} `json:"segments"`
	Indexes map[string]struct {
		State string `json:"state"`
	} `json:"indexes"`
	Nodes map[string]struct {
		Error   string   `json:"error"`
		Sealed  []string `json:"sealed"`
		Leaders map[string]struct {
			Growing     []string `json:"growing"`
			GrowingRows int64    `json:"growing_rows"`
		} `json:"leaders"`
	} `json:"nodes"`
	OldKeys int      `json:"old_keys"` // keys in the layout of 2.1
	Unrest  []string `json:"unrest"`
}

func (s *clusterState) growing() (segments int, rows int64) {
	for _, n := range s.Nodes {
		for _, l := range n.Leaders {
			segments, rows = segments+len(l.Growing), rows+l.GrowingRows
		}
	}
	return segments, rows
}

// oldest returns the age of the oldest checkpoint of an existing collection, in seconds.
func (s *clusterState) oldest() float64 {
	age := 0.0
	for channel, seconds := range s.Checkpoints {
		if s.exists(channel) && seconds != nil {
			age = max(age, *seconds)
		}
	}
	return age
}

var collectionOfChannel = regexp.MustCompile(`_(\d+)v\d+$`)

func (s *clusterState) exists(channel string) bool {
	m := collectionOfChannel.FindStringSubmatch(channel)
	for _, id := range s.Collections {
		if m != nil && id == m[1] {
			return true
		}
	}
	return false
}

func quiet(s *clusterState) (string, bool) {
	n, _ := s.growing()
	return fmt.Sprintf("%d query nodes, %d growing segments, %s", len(s.Nodes), n, unrestText(s)),
		n == 0 && len(s.Unrest) == 0
}

func unrestText(s *clusterState) string {
	if len(s.Unrest) == 0 {
		return "nothing going on"
	}
	return strings.Join(s.Unrest, ", ")
}

func receivesInserts(s *clusterState) (string, bool) {
	n, rows := s.growing()
	return fmt.Sprintf("%d growing segments with %d rows, %s", n, rows, unrestText(s)), n > 0
}

func orphanCheckpoint(s *clusterState) (string, bool) {
	left := len(s.orphanChannels())
	return fmt.Sprintf("%d checkpoints of collections that are gone", left), left > 0
}

func (s *clusterState) orphanChannels() []string {
	var left []string
	for channel := range s.Checkpoints {
		if !s.exists(channel) {
			left = append(left, channel)
		}
	}
	return left
}

func threeNodes(s *clusterState) (string, bool) {
	return fmt.Sprintf("%d query nodes, %s", len(s.Nodes), unrestText(s)), len(s.Nodes) == 3
}

func emptyNode(s *clusterState) (string, bool) {
	empty := len(s.emptyNodes())
	return fmt.Sprintf("%d of %d query nodes serves nothing", empty, len(s.Nodes)), empty == 1
}

func (s *clusterState) emptyNodes() []string {
	var empty []string
	for name, n := range s.Nodes {
		if n.Error == "" && len(n.Sealed) == 0 {
			empty = append(empty, name)
		}
	}
	return empty
}

func nodeStopping(s *clusterState) (string, bool) {
	for _, name := range s.stoppingNodes() {
		n := s.Nodes[name]
		return fmt.Sprintf("%s is stopping, with %d segments and %d leaders", name, len(n.Sealed), len(n.Leaders)), true
	}
	return "no session says that it stops", false
}

func (s *clusterState) stoppingNodes() []string {
	var leave []string
	for name, session := range s.Sessions {
		if session.Stopping {
			leave = append(leave, name)
		}
	}
	return leave
}

func twoNodes(s *clusterState) (string, bool) {
	return fmt.Sprintf("%d query nodes, %s", len(s.Nodes), unrestText(s)), len(s.Nodes) == 2 && len(s.Unrest) == 0
}

// roleGone returns a function that reports whether a role has no session, because its only process is gone.
func roleGone(role string) func(*clusterState) (string, bool) {
	return func(s *clusterState) (string, bool) {
		_, there := s.Sessions[role]
		return fmt.Sprintf("%d sessions, none of them of %s, %s", len(s.Sessions), role, unrestText(s)), !there
	}
}

func partlyServed(s *clusterState) (string, bool) {
	return fmt.Sprintf("%d query nodes, %s", len(s.Nodes), unrestText(s)), len(s.Unrest) > 0
}

func deadSession(s *clusterState) (string, bool) {
	dead := len(s.deadNodes())
	return fmt.Sprintf("%d of %d sessions of query nodes is of a dead process", dead, len(s.Nodes)), dead > 0
}

func (s *clusterState) deadNodes() []string {
	var dead []string
	for name, n := range s.Nodes {
		if n.Error != "" {
			dead = append(dead, name)
		}
	}
	return dead
}

func indexesUnbuilt(s *clusterState) (string, bool) {
	left := 0
	for _, i := range s.Indexes {
		if i.State != "Finished" {
			left++
		}
	}
	return fmt.Sprintf("%d indexes of segments are not built", left), left > 0
}

func checkpointsLag(s *clusterState) (string, bool) {
	return fmt.Sprintf("oldest checkpoint of a collection %.0f s", s.oldest()), s.oldest() > 60
}

func oldLayout(s *clusterState) (string, bool) {
	return fmt.Sprintf("%d keys of the layout of 2.1", s.OldKeys), s.OldKeys > 0
}

// birdwatcher returns summaries of birdwatcher's healthz-check and explain-balance, or "" if birdwatcher was not run.
func birdwatcher(folder, name string) (health, moves string) {
	const banner = "Using meta path"
	text, err := os.ReadFile(filepath.Join(folder, name+".healthz-check.txt"))
	if err != nil {
		return "", ""
	}
	var lines []string
	for l := range strings.Lines(string(text)) {
		if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, banner) {
			lines = append(lines, l)
		}
	}
	health = "nothing"
	if len(lines) > 0 {
		health = fmt.Sprintf("%d lines: %.80s", len(lines), lines[0])
	}
	text, err = os.ReadFile(filepath.Join(folder, name+".explain-balance.txt"))
	if err != nil {
		return health, ""
	}
	count := func(words string) int { return strings.Count(string(text), words) }
	moves = fmt.Sprintf("a move in %d of %d replicas",
		count("should move segment")+count("reverse unbalance but become less"), count("report_collectionID"))
	if n := count("failed to connect"); n > 0 {
		moves += fmt.Sprintf("; cannot connect to %d", n)
	}
	return health, moves
}

// faultReport returns the generated part of docs/evidence/diagnosis.md.
func faultReport(verdicts []*verdict) string {
	var b strings.Builder
	injected, detected, healthy, alarms, unrelated := 0, 0, 0, 0, 0
	rows := make([]string, 0, len(verdicts))
	for _, v := range verdicts {
		outcome := "silent"
		switch {
		case len(v.want) > 0:
			injected++
			unrelated += len(v.alarms)
			outcome = "**missed**"
			if v.place > 0 {
				outcome = fmt.Sprintf("%s, %s", place(v.place), v.found)
			}
			if v.place == 1 || v.place == 2 {
				detected++
			}
		default:
			healthy++
			alarms += len(v.alarms)
		}
		if len(v.want) == 0 && v.infos > 0 {
			outcome += fmt.Sprintf(" except %d of severity info", v.infos)
		}
		if len(v.alarms) > 0 {
			outcome += "; false: " + strings.Join(v.alarms, "; ")
		}
		rows = append(rows,
			fmt.Sprintf("| %s | %s | %s | %s | %s |", v.what, v.state, outcome, orDash(v.health), orDash(v.moves)))
	}
	fmt.Fprintf(&b,
		"Run on %s: %d of %d injected faults are ranked first or second; %d findings of severity warning or above\n"+
			"in %d runs on a healthy cluster, and %d in the other runs that the fault does not explain.\n\n",
		time.Now().UTC().Format(time.DateOnly), detected, injected, alarms, healthy, unrelated)
	b.WriteString("| fault | state of the cluster (etcd, nodes) | kitescope | birdwatcher healthz-check | " +
		"birdwatcher explain-balance |\n|---|---|---|---|---|\n")
	b.WriteString(strings.Join(rows, "\n") + "\n")
	return b.String()
}

func place(n int) string {
	switch n {
	case 1:
		return "first"
	case 2:
		return "second"
	default:
		return fmt.Sprintf("**only %dth**", n)
	}
}

func orDash(s string) string {
	if s == "" {
		return "not asked"
	}
	return strings.ReplaceAll(s, "|", "/")
}
