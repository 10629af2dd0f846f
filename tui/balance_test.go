package tui

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
	"kitescope/inspect/news"
)

// asked is a captured cluster with what its processes said.
func asked(t *testing.T, name string) *model.Cluster {
	t.Helper()
	d := live.NewDecoder()
	if _, err := live.ReadFile(filepath.Join("..", "testdata", "snapshots", name, "runtime.jsonl.gz"), d.Add); err != nil {
		t.Fatal(err)
	}
	return capture(t, name).WithRuntime(d.Runtime("recording", "runtime.jsonl.gz"))
}

// balanceScreens are the views of the page and how to get there: items_hnsw_l2 is the second
// replica behind four nodes.
var balanceScreens = []struct{ name, keys string }{
	{"all", "b"}, {"map", "b m"}, {"rows", "b b"}, {"replica", "b down*5 enter"}, {"move", "b down*5 enter end"},
}

func TestBalanceScreens(t *testing.T) {
	c := asked(t, "cluster-2.3.5-t7")
	for _, size := range sizes {
		for _, s := range balanceScreens {
			name := fmt.Sprintf("balance-%s-%dx%d", s.name, size.w, size.h)
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := driven(t, testConfig(), size.w, size.h)
					d.send(news.Update{Cluster: c})
					d.keys(s.keys)
					d.fits()
					golden(t, name, d.plain())
				})
			})
		}
	}
}

func TestBalanceOfUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 100, 30)
		d.keys("b")
		d.shows("…") // before data
		d.send(news.Update{Cluster: capture(t, "cluster-2.3.5-t7")})
		d.shows("the nodes were not asked", "--live")
		d.send(news.Update{Cluster: modeltest.Served(), Live: true})
		d.shows("not known, and not in the figures: querynode-12")
	})
}

func TestBalanceKeys(t *testing.T) {
	c := asked(t, "cluster-2.3.5-t7")
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 120, 40)
		d.send(news.Update{Cluster: c})
		d.keys("b down*5 enter")
		d.shows("balance › items_hnsw_l2", "PLAN 3 moves bring max/mean from 1.58 to 1.07")
		d.keys("e")
		if len(d.saved) != 1 {
			t.Fatalf("saved: %v", d.saved)
		}
		for name, text := range d.saved {
			if !strings.HasSuffix(name, ".py") || strings.Count(text, "utility.load_balance(") != 1 || !strings.Contains(text, "import connections, utility") {
				t.Errorf("%s:\n%s", name, text)
			}
		}
		d.keys("Y c")
		if want := "kitescope --from etcd://127.0.0.1:2379/by-dev balance 470591703511990283 --plan"; d.clip != want {
			t.Errorf("copied %q, want %q", d.clip, want)
		}
		d.keys("end y")
		if !strings.Contains(d.clip, "segment 470591703512190660") || !strings.Contains(d.clip, "13 → 19") {
			t.Errorf("copied %q", d.clip)
		}
		d.keys("enter").shows("470591703512190660", "idx_items_hnsw_l2") // the segment of the move
		d.keys("esc o").shows("items_hnsw_l2")
		d.keys("esc b").shows("balanced by rows")
		d.keys("m").shows("the map is on the page of all replicas")
		d.keys("esc down end enter").shows("tenant_a.orders")
	})
}

// TestBalanceKeepsItsPlace lets another cluster come while the cursor is on a row.
func TestBalanceKeepsItsPlace(t *testing.T) {
	first, second := asked(t, "cluster-2.3.5-t7"), asked(t, "cluster-2.3.5-t7")
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 120, 40)
		d.send(news.Update{Cluster: first, Live: true})
		d.keys("b down*7")
		p := d.m.stack.top().(*balancePage)
		before, _ := p.object(d.m)
		d.send(news.Update{Cluster: second, Live: true})
		if after, ok := p.object(d.m); !ok || after != before {
			t.Errorf("the cursor went from %v to %v", before, after)
		}
		d.keys("pgdown pgup ctrl+d ctrl+u home end up")
		d.fits()
	})
}

func TestBalancePalette(t *testing.T) {
	c := asked(t, "cluster-2.3.5-t7")
	synctest.Test(t, func(t *testing.T) {
		d := driven(t, testConfig(), 120, 40)
		d.send(news.Update{Cluster: c})
		d.keys(":").typed("balance users_flat_ip").keys("enter").shows("users_flat_ip  replica")
		d.keys(":").typed("balance nothing").keys("enter").shows("no loaded collection is called nothing")
	})
}
