package cluster

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"kitescope/inspect/history"
	"kitescope/inspect/model/modeltest"
	"kitescope/tui/tuitest"
)

// capturedPath returns the folder of a captured cluster.
func capturedPath(name string) string {
	return filepath.Join("..", "..", "testdata", "snapshots", name)
}

// balanceScreens are the views of the page and the keys that open them. items_hnsw_l2 is the second replica, after
// four nodes.
var balanceScreens = []struct{ name, keys string }{
	{"all", "7"}, {"replica", "7 down*5 enter"}, {"save", "7 s"},
}

func TestBalanceScreens(t *testing.T) {
	c := tuitest.CaptureQueried(t, capturedPath("cluster-2.3.5-t7"))
	for _, size := range tuitest.Sizes {
		for _, s := range balanceScreens {
			name := fmt.Sprintf("balance-%s-%dx%d", s.name, size.W, size.H)
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := driven(t, testConfig(), size.W, size.H)
					d.Send(history.Update{Cluster: c})
					d.Keys(s.keys)
					d.Fits()
					tuitest.Golden(t, name, d.Plain())
				})
			})
		}
	}
}

func TestBalanceOfUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 100, 30)
		d.Keys("7")
		d.Shows("…") // before data
		d.Send(history.Update{Cluster: tuitest.Capture(t, capturedPath("cluster-2.3.5-t7"))})
		d.Shows("nodes not queried", "--live")
		d.Send(history.Update{Cluster: modeltest.Served(), Live: true})
		d.Shows("unknown, not included: querynode-12")
	})
}

func TestBalanceKeys(t *testing.T) {
	c := tuitest.CaptureQueried(t, capturedPath("cluster-2.3.5-t7"))
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 120, 40)
		d.Send(history.Update{Cluster: c})
		d.Keys("7 down*5 enter")
		d.Shows("balance › items_hnsw_l2", "Plan: 3 moves bring max/mean from 1.58 to 1.07")
		d.Keys("s")
		d.Shows("pymilvus, 3 moves")
		d.Keys("1")
		if len(d.Saved) != 0 {
			t.Fatalf("saved without being told where to: %v", d.Saved)
		}
		d.Keys("enter")
		if len(d.Saved) != 1 {
			t.Fatalf("saved: %v", d.Saved)
		}
		for name, text := range d.Saved {
			if !strings.HasSuffix(name, ".py") || strings.Count(text, "utility.load_balance(") != 1 ||
				!strings.Contains(text, "import connections, utility") {
				t.Errorf("%s:\n%s", name, text)
			}
		}
		d.Keys("Y 1")
		if want := "kitescope --from etcd://127.0.0.1:2379/by-dev balance 470591703511990283 --plan"; d.Clip != want {
			t.Errorf("copied %q, want %q", d.Clip, want)
		}
		d.Keys("end y")
		if !strings.Contains(d.Clip, "segment 470591703512190660") || !strings.Contains(d.Clip, "13 -> 19") {
			t.Errorf("copied %q", d.Clip)
		}
		d.Keys("enter").Shows("470591703512190660", "idx_items_hnsw_l2") // the segment of the move
		d.Keys("esc o").Shows("items_hnsw_l2")
		d.Keys("esc b").Shows("balanced by rows")
		d.Keys("esc down end enter").Shows("tenant_a.orders")
	})
}

// TestBalanceKeepsCursor checks that the cursor stays on its row when another cluster arrives.
func TestBalanceKeepsCursor(t *testing.T) {
	first, second := tuitest.CaptureQueried(t, capturedPath("cluster-2.3.5-t7")),
		tuitest.CaptureQueried(t, capturedPath("cluster-2.3.5-t7"))
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 120, 40)
		d.Send(history.Update{Cluster: first, Live: true})
		d.Keys("7 down*7")
		p := d.m.Top().(*balancePage)
		before, _ := p.Object(d.m)
		d.Send(history.Update{Cluster: second, Live: true})
		if after, ok := p.Object(d.m); !ok || after != before {
			t.Errorf("the cursor went from %v to %v", before, after)
		}
		d.Keys("pgdown pgup ctrl+d ctrl+u home end up")
		d.Fits()
	})
}

func TestBalancePalette(t *testing.T) {
	c := tuitest.CaptureQueried(t, capturedPath("cluster-2.3.5-t7"))
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 120, 40)
		d.Send(history.Update{Cluster: c})
		d.Keys(":").Typed("balance users_flat_ip").Keys("enter").Shows("users_flat_ip  replica")
		d.Keys(":").Typed("balance nothing").Keys("enter").Shows("no loaded collection named nothing")
	})
}

// TestBalanceOfANameBeforeData checks that a page named on the command line waits for the cluster that the name
// refers to.
func TestBalanceOfANameBeforeData(t *testing.T) {
	c := tuitest.CaptureQueried(t, capturedPath("cluster-2.3.5-t7"))
	for name, want := range map[string]string{
		"items_hnsw_l2": "Plan: 3 moves bring max/mean", "nosuch": "no loaded collection named nosuch",
	} {
		synctest.Test(t, func(t *testing.T) {
			cfg := testConfig()
			cfg.StartPage = "balance " + name
			d := driven(t, cfg, 100, 30)
			d.Shows(name, "…")
			d.Send(history.Update{Cluster: c})
			d.Shows(want)
		})
	}
}
