package rules_test

import (
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/faulttest"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/check/rules/rulestest"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
)

// textsOf returns all texts of a finding that users see.
func textsOf(f *check.Finding) []string {
	all := []string{f.Message, f.Impact}
	for _, s := range f.Fix {
		all = append(all, string(s.Command), string(s.Text))
	}
	for _, e := range f.Evidence {
		all = append(all, e.Name, e.Value)
	}
	return all
}

// unnamed matches a node by number instead of by name.
var unnamed = regexp.MustCompile(`\bnodes? [0-9]`)

// misprinted returns the first text of a finding with a formatting error, a NaN or infinite number, or a node without a
// name. It returns "" if there is none.
func misprinted(f *check.Finding) string {
	for _, text := range textsOf(f) {
		if unnamed.MatchString(text) {
			return text
		}
		for _, mark := range []string{"%!", "NaN", "+Inf", "-Inf"} {
			if strings.Contains(text, mark) {
				return text
			}
		}
	}
	return ""
}

// textsWellFormed checks that no text of a finding is misprinted, e.g. has a formatting error of fmt.
func textsWellFormed() property {
	steps := 0
	return property{"texts are whole", func(t *testing.T, _ *faulttest.Case, r *check.Report) {
		t.Helper()
		for _, f := range r.Findings {
			steps += len(f.Fix)
			if text := misprinted(f); text != "" {
				t.Errorf("%s: %q", f.Check, text)
			}
		}
	}, func(t *testing.T) {
		t.Helper()
		if steps < 100 {
			t.Errorf("only %d steps", steps)
		}
	}}
}

// changesAreMarked checks that every step that changes the cluster has a text about interruptions, and that every step
// with a restart in its text is marked as a change.
func changesAreMarked() property {
	acts := regexp.MustCompile(`\b(re)?start (the )?(\w+coord|\w+node|proxy|process)|\bkill (it|the)`)
	return property{"changes are marked", func(t *testing.T, _ *faulttest.Case, r *check.Report) {
		t.Helper()
		for _, f := range r.Findings {
			for _, s := range f.Steps() {
				if s.Changes != (s.Interrupts != "") ||
					!s.Changes && (s.Within != 0 || acts.MatchString(string(s.Text))) {
					t.Errorf("%s: %q %q: changes %v, interrupts %q, within %s", f.Check, s.Command, s.Text, s.Changes,
						s.Interrupts, s.Within)
				}
			}
		}
	}, nil}
}

// TestDamagedStreaming checks that logs and metrics of streaming nodes with impossible numbers, and pchannels without a
// node, break no check and no text. Every check of logs finds something in some of the worlds.
func TestDamagedStreaming(t *testing.T) {
	found := map[string]bool{}
	for seed := range uint64(400) {
		w := damagedStreaming(rand.New(rand.NewPCG(seed, 19)))
		report := check.Run(w.Build(), w.Now, rules.All())
		for _, x := range report.Results {
			if x.Status == check.Broken {
				t.Fatalf("seed %d: %s broke: %s", seed, x.Check.ID, x.Reason)
			}
		}
		for _, f := range report.Findings {
			found[f.Check] = true
			if text := misprinted(f); text != "" {
				t.Errorf("seed %d: %s: %q", seed, f.Check, text)
			}
			for _, s := range f.Fix {
				if strings.Contains(string(s.Text), "streamingnode-0") {
					t.Errorf("seed %d: %s speaks of a node that is not: %q", seed, f.Check, s.Text)
				}
			}
		}
	}
	for _, id := range []string{
		"wal-backlog", "wal-damaged", "wal-flush-lag", "wal-not-open", "wal-not-truncated", "wal-open-twice",
		"wal-recovery-stuck", "wal-throttled", "growing-over-watermark", "ddl-stuck", "orphan-records",
	} {
		if !found[id] {
			t.Errorf("%s was found in no world", id)
		}
	}
}

// damagedStreaming returns a cluster of 2.6 with random logs, checkpoints and metrics.
func damagedStreaming(r *rand.Rand) *rulestest.World {
	number := func() int64 {
		return []int64{math.MinInt64, -1, 0, 1, 2, 30, 31, 9 << 30, math.MaxInt64}[r.IntN(9)]
	}
	gauge := func() float64 {
		return []float64{math.NaN(), math.Inf(1), -1, 0, 1, 1000, 1763999000, 1764000000, 1e300}[r.IntN(9)]
	}
	w := rulestest.Healthy()
	var now, before []rulestest.Series
	for _, list := range []*[]rulestest.Series{&now, &before} {
		for _, node := range []string{"30", "31", "0"} {
			add := func(name string, value float64, labels ...string) {
				s := rulestest.LogSeries(name, value, labels...)
				s.Labels[1].Value = node
				*list = append(*list, s)
			}
			if node == "0" && r.IntN(4) > 0 {
				continue
			}
			if r.IntN(3) > 0 {
				add("milvus_wal_info", 1, "term", strconv.Itoa(r.IntN(4)))
			}
			add("milvus_wal_growing_segment_hwm_bytes", gauge())
			add("milvus_wal_growing_segment_lwm_bytes", gauge())
			add("milvus_wal_growing_segment_bytes", gauge(), "lv", "L1")
			add("milvus_wal_last_confirmed_time_tick", gauge())
			add("milvus_wal_flusher_time_tick", gauge())
			add("milvus_wal_rate_limit_controller_state", gauge(), "source", "flusher", "state",
				[]string{"normal", "slowdown", "reject", "recovery"}[r.IntN(4)])
		}
	}
	w.RunStreaming(now...)
	w.StreamingProcess().Before = rulestest.ScrapeAt(-15*time.Second, before)
	w.Another("streamingnode", 31)
	for i, x := range w.PChannels {
		x.Streaming, x.State, x.Term, x.Node = true, "Assigned", number(),
			model.NodeID([]int64{0, 30, 31, -1}[r.IntN(4)])
		x.Checkpoint = model.Checkpoint{
			At: rulestest.TSOAgo(time.Duration(r.IntN(120)) * time.Minute), Queue: "woodpecker",
			Entry: &model.LogPosition{Segment: number(), Entry: number()},
		}
		if i == 0 && r.IntN(2) > 0 {
			x.Node, x.Term = 30, 2
		}
	}
	w.Woodpecker = &model.Woodpecker{}
	for _, name := range []string{w.PChannels[0].Name, w.PChannels[1].Name, "by-dev-rootcoord-dml_9"} {
		l := &model.Log{
			Name: name, ID: number(), Created: rulestest.TimeAgo(300 * time.Hour),
			Modified:  rulestest.TimeAgo(200 * time.Hour),
			Truncated: model.LogPosition{Segment: number(), Entry: number()},
		}
		for id := range int64(r.IntN(6)) {
			states := []string{
				model.LogActive, model.LogCompleted, model.LogSealed, model.LogTruncated, model.LogUndecoded,
				model.LogMissing, "Frozen",
			}
			l.Segments = append(l.Segments, model.LogSegment{
				ID: id, State: states[r.IntN(len(states))], Last: number(), Bytes: number(),
				Completed:      rulestest.TimeAgo(time.Duration(r.IntN(400)) * time.Hour),
				CleaningFailed: r.IntN(9) == 0, CleaningError: "%d",
			})
		}
		w.Woodpecker.Logs = append(w.Woodpecker.Logs, l)
	}
	w.Tasks = append(w.Tasks, &model.Task{
		ID: number(), Type: "broadcast", State: "WaitAck", Progress: "1/2 acknowledged",
		StartedAt: modeltest.Now.Add(-time.Duration(r.IntN(60)) * time.Minute),
	})
	return w
}
