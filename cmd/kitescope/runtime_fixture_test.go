package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kitescope/cmd/kitescope/cli"
	"kitescope/inspect/check"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/session/demo"
)

// captureFlags returns the flags that read a capture, including its recording and metrics if there are any.
func captureFlags(t *testing.T, name string) []string {
	t.Helper()
	flags := []string{"--from", capture(name, "etcd_snapshot.db.gz")}
	for _, part := range []string{"runtime.jsonl.gz", "metrics"} {
		if _, err := os.Stat(capture(name, part)); err == nil {
			flags = append(flags, "--runtime", capture(name, part))
		}
	}
	return flags
}

// shares returns the nodes in the output of balance -o json, each as "sealed sealed_rows growing growing_rows
// leaders". An unknown value is "?".
func shares(t *testing.T, args ...string) map[string]string {
	t.Helper()
	var b struct{ Nodes []map[string]any }
	decodeJSON(t, kitescope(t, cli.ExitOK, append([]string{"balance", "-o", "json"}, args...)...).stdout, &b)
	got := map[string]string{}
	for _, n := range b.Nodes {
		var columns []string
		unknown, _ := n["unknown"].([]any)
		for _, c := range []string{
			"sealed_segments", "sealed_rows", "growing_segments", "growing_rows", "shard_leaders",
		} {
			if value, ok := n[c]; ok {
				columns = append(columns, str(value))
			} else if slices.Contains(unknown, any(c)) {
				columns = append(columns, "?")
			} else {
				t.Errorf("%s of node %s is neither known nor unknown: %v", c, n["node"], n)
			}
		}
		got[str(n["node"])] = strings.Join(columns, " ")
	}
	return got
}

// TestUnderloadedNode checks that the files of the capture t7 give the results described in its README.
func TestUnderloadedNode(t *testing.T) {
	for name, flags := range map[string][]string{
		"recording": {
			"--from", capture("cluster-2.3.5-t7", "etcd_snapshot.db.gz"), "--runtime",
			capture("cluster-2.3.5-t7", "runtime.jsonl.gz"),
		},
		"recording and metrics": captureFlags(t, "cluster-2.3.5-t7"),
		"backup": {
			"--from",
			copyWithTime(t, capture("cluster-2.3.5-t7", "birdwatcher_backup.bak.gz"),
				time.Date(2026, 11, 20, 16, 0, 0, 0, time.UTC)),
			"--runtime", capture("cluster-2.3.5-t7", "runtime.jsonl.gz"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			same(t, "balance", shares(t, flags...), map[string]string{
				"10": "10 39700 1 1697 4", "13": "10 33335 3 6974 4", "14": "10 35987 2 3329 4", "19": "3 8985 0 0 0",
			})
			got := map[string]string{}
			for node, n := range listItems(t, "id", append([]string{"nodes", "role=querynode"}, flags...)...) {
				got[node] = fmt.Sprint(n["sealed_segments"], " ", n["growing_segments"], " ", n["growing_rows"], " ",
					n["leads"])
			}
			same(t, "get nodes", got, map[string]string{
				"10": "10 1 1697 4", "13": "10 3 6974 4", "14": "10 2 3329 4", "19": "3 0 0 0",
			})
			growing := map[string]string{}
			for _, v := range listItems(t, "name",
				append([]string{"vchannels", "served_growing_rows>0"}, flags...)...) {
				growing[str(v["served_growing_rows"])] = fmt.Sprint(v["leaders"])
			}
			same(t, "growing rows by leader", growing, map[string]string{
				"1697": "[10]", "3500": "[13]", "1672": "[13]", "1802": "[13]", "1631": "[14]", "1698": "[14]",
			})
			d := diagnose(t, flags...)
			if name != "backup" {
				checkUnderloaded(t, d)
				return
			}
			// birdwatcher wrote the backup later, after the load had ended. The backup has no dynamic keys, so
			// the state of auto-balance comes from QueryCoord.
			for i, want := range []string{"warning auto-balance-off ", "warning node-idle querynode-19"} {
				if got := messages(d); len(got) <= i || !strings.HasPrefix(got[i], want) {
					t.Errorf("finding %d is not %q:\n%s", i, want, strings.Join(got, "\n"))
				}
			}
		})
	}
}

// copyWithTime copies a file and sets its modification time, because a checkout sets that to the day of the test.
func copyWithTime(t *testing.T, file string, at time.Time) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dated := filepath.Join(t.TempDir(), filepath.Base(file))
	if err := errors.Join(os.WriteFile(dated, data, 0o600), os.Chtimes(dated, at, at)); err != nil {
		t.Fatal(err)
	}
	return dated
}

// checkUnderloaded checks that the first two findings are the cause, i.e. disabled auto-balance, and the idle node.
func checkUnderloaded(t *testing.T, d *diagnosis1) {
	t.Helper()
	if len(d.Items) < 2 {
		t.Fatalf("%d findings", len(d.Items))
	}
	first, second := d.Items[0], d.Items[1]
	if first.Check != "auto-balance-off" || first.Severity != "warning" ||
		!strings.Contains(first.Message, "queryCoord.autoBalance=false") {
		t.Errorf("the first finding is %+v", first)
	}
	if second.Check != "node-idle" || second.Object.ID != "querynode-19" ||
		!strings.Contains(second.Message, "3 of 32 segments") || second.Cause == nil ||
		second.Cause.Check != "auto-balance-off" {
		t.Errorf("the second finding is %+v", second)
	}
	for _, f := range d.Items[2:] {
		if f.Severity != "info" {
			t.Errorf("a further %s: %s", f.Severity, f.Message)
		}
	}
	for _, c := range d.Checks {
		if c.Status == "skipped" && strings.Contains(c.Reason, "query node") {
			t.Errorf("%s: %s", c.Check, c.Reason)
		}
	}
}

// TestUnderloadedNodeLive checks that the recording, served over loopback like a real cluster, gives the same
// results as the files.
func TestUnderloadedNodeLive(t *testing.T) {
	f := capturedT7(t, nil)
	files := captureFlags(t, "cluster-2.3.5-t7")
	asked := []string{"--live", "--window", "0", "--metrics-port", f.proxyPort, "--from", f.from}
	same(t, "balance", shares(t, asked...), shares(t, files...))
	e := f.run(t, append([]string{"diagnose", "-o", "json", "--fail-on", "never"}, asked...)...)
	live := &diagnosis1{}
	decodeJSON(t, e.stdout, live)
	checkUnderloaded(t, live)
	same(t, "findings", objects(live), objects(diagnose(t, files...)))
}

// TestDemoFindings checks that the demo has exactly the findings of its capture, in memory and served by a real etcd.
func TestDemoFindings(t *testing.T) {
	served, err := startDemo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(served.stop)
	want := objects(diagnose(t, captureFlags(t, "cluster-2.3.5-t7")...))
	for _, flags := range [][]string{
		{"--from", demo.From},
		{"--from", served.from(), "--metrics-port", served.ProxyPort(), "--now", demo.Now().Format(time.RFC3339)},
	} {
		d := diagnose(t, append([]string{"--window", "0"}, flags...)...)
		checkUnderloaded(t, d)
		same(t, "findings", objects(d), want)
	}
}

// objects returns the findings without their messages, which contain ages.
func objects(d *diagnosis1) []string {
	var list []string
	for _, f := range d.Items {
		list = append(list, f.Severity+" "+f.Check+" "+f.Object.Resource+"/"+f.Object.ID)
	}
	return list
}

// messages returns the findings as text.
func messages(d *diagnosis1) []string {
	var list []string
	for _, f := range d.Items {
		list = append(list, f.Severity+" "+f.Check+" "+f.Object.ID+": "+f.Message)
	}
	return list
}

// TestCapturesOfMetrics checks the captures t1, t3, t5 and t6, which have only metadata and /metrics. Values from
// these must be right, and all others must be unknown.
func TestCapturesOfMetrics(t *testing.T) {
	for name, want := range map[string]struct {
		nodes map[string]string
		found []string // expected prefixes of the first findings
	}{
		"t1": {map[string]string{"3": "10 39001 1 462 ?", "5": "11 38304 1 520 ?", "6": "11 38685 1 518 ?"}, nil},
		"t3": {
			map[string]string{
				"3": "6 26027 2 4202 ?", "5": "9 27837 2 6543 ?", "6": "7 28717 2 4255 ?", "10": "10 33409 0 0 ?",
			},
			nil,
		},
		"t5": {
			map[string]string{
				"3": "11 44367 2 6326 ?", "6": "11 43426 2 6244 ?", "10": "13 42943 2 4784 ?", "12": "0 0 0 0 ?",
			},
			[]string{"warning auto-balance-off queryCoord/autoBalance", "error node-idle querynode-12"},
		},
		"t6": {
			map[string]string{
				"3": "8 35712 2 6326 ?", "6": "7 29463 2 6244 ?", "10": "9 31519 2 4784 ?", "12": "11 34042 0 0 ?",
			},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			flags := captureFlags(t, "cluster-2.3.5-"+name)
			same(t, "balance", shares(t, flags...), want.nodes)
			for node, n := range listItems(t, "name", append([]string{"nodes"}, flags...)...) {
				for _, column := range []string{"leads", "health", "cpu_percent"} {
					if n[column] != nil && n["role"] == "querynode" {
						t.Errorf("%s: nobody said %s, and it is known: %v", node, column, n[column])
					}
				}
				// IndexCoord runs in DataCoord's process, and metrics do not name it.
				if n["answer"] != "not asked" && n["role"] != "indexcoord" {
					t.Errorf("%s: %v", node, n["answer"])
				}
			}
			d := diagnose(t, flags...)
			got := messages(d)
			for i, begins := range want.found {
				if i >= len(got) || !strings.HasPrefix(got[i], begins) {
					t.Errorf("finding %d is not %q:\n%s", i, begins, strings.Join(got, "\n"))
				}
			}
			for _, line := range got {
				uneven := slices.ContainsFunc([]string{" node-idle ", " imbalance-", " auto-balance-off "},
					func(id string) bool { return strings.Contains(line, id) })
				if uneven && want.found == nil && !strings.HasPrefix(line, "info ") {
					t.Errorf("it is balanced: %s", line)
				}
			}
			checkSkipped(t, d)
			e := kitescope(t, cli.ExitIncomplete,
				append([]string{"diagnose", "--strict", "--fail-on", "never"}, flags...)...)
			containsAll(t, e.err, "incomplete: ", "only its metrics are known")
		})
	}
}

// checkSkipped checks that every check that needs responses of processes is skipped with a reason.
func checkSkipped(t *testing.T, d *diagnosis1) {
	t.Helper()
	blind := 0
	for _, c := range rules.All() {
		const answers = check.NeedDistribution | check.NeedRecovery | check.NeedQueryCoord | check.NeedConfig |
			check.NeedSystem | check.NeedResponses
		if c.Needs&answers == 0 {
			continue
		}
		blind++
		if status := d.status(c.ID); !strings.HasPrefix(status, "skipped ") {
			t.Errorf("%s cannot have looked, and is %q", c.ID, status)
		}
		if c.Needs&check.NeedDistribution != 0 &&
			!strings.Contains(d.status(c.ID), "no query node reported what it serves") {
			t.Errorf("%s is skipped for another reason: %s", c.ID, d.status(c.ID))
		}
	}
	if blind < 15 {
		t.Errorf("only %d checks need answers of processes: the test sees too few", blind)
	}
}
