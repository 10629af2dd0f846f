//go:build e2e

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/history"
	"kitescope/inspect/live"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/inspect/source"
)

// nodeRow holds the numbers of segments, rows, leaders and channels that one query node serves for one collection.
type nodeRow struct {
	Sealed, Growing, Leaders, Channels int
	SealedRows, GrowingRows            int64
}

// nodeShares maps "COLLECTION_ID NODE_ID" to the data that the node serves.
type nodeShares map[string]nodeRow

// TestBalance compares the output of "kitescope balance" with the nodes' own responses, read without kitescope,
// with the query API and with the nodes' metrics, row by row. A comparison is valid only if these sources agree
// and did not change while kitescope ran.
func TestBalance(t *testing.T) {
	from := e2eFrom(t)
	for try := 1; ; try++ {
		before, problem := outsideView(t)
		said := balanceView(t, from)
		after, _ := outsideView(t)
		difference := cmp.Diff(before, said)
		switch {
		case problem == "" && difference == "":
			growing := int64(0)
			for _, s := range said {
				growing += s.GrowingRows
			}
			t.Logf("%d rows of nodes and collections are the same, %d growing rows included (try %d)", len(said),
				growing, try)
			if growing == 0 {
				t.Error("nothing grows: this shows nothing of growing rows")
			}
			return
		case try < 20 && (problem != "" || cmp.Diff(before, after) != ""):
			t.Logf("try %d: the cluster moves: %s", try, problem)
			time.Sleep(5 * time.Second)
		default:
			t.Fatalf("%s (-nodes +kitescope):\n%s", problem, difference)
		}
	}
}

func e2eFrom(t *testing.T) string {
	t.Helper()
	from := os.Getenv("KITESCOPE_E2E_FROM")
	if from == "" || os.Getenv("KITESCOPE_E2E_CLIENT") == "" {
		t.Fatal("run it with make e2e")
	}
	return from
}

// balanceView returns the output of "kitescope balance -o json".
func balanceView(t *testing.T, from string) nodeShares {
	t.Helper()
	var said struct {
		Items []struct {
			Collection model.CollectionID `json:"collection_id,string"`
			Shares     []struct {
				Node        string `json:"node"`
				Known       bool   `json:"known"`
				Sealed      int    `json:"sealed_segments"`
				SealedRows  int64  `json:"sealed_rows"`
				Growing     int    `json:"growing_segments"`
				GrowingRows int64  `json:"growing_rows"`
				Leaders     int    `json:"shard_leaders"`
				Channels    int    `json:"channels"`
			} `json:"shares"`
		} `json:"items"`
	}
	kitescopeJSON(t, &said, "balance", "-o", "json", "--from", from)
	view := make(nodeShares)
	for _, g := range said.Items {
		for _, s := range g.Shares {
			if !s.Known {
				t.Errorf("node %s did not report its segments", s.Node)
			}
			row := nodeRow{s.Sealed, s.Growing, s.Leaders, s.Channels, s.SealedRows, s.GrowingRows}
			if row != (nodeRow{}) { // skip nodes of the replica that serve no data of the collection
				view[g.Collection.String()+" "+s.Node] = row
			}
		}
	}
	return view
}

// outside runs the command in the variable KITESCOPE_E2E_<name> and decodes its JSON output into into, unless
// that is nil.
func outside(t *testing.T, name string, into any, more ...string) {
	t.Helper()
	words := append(strings.Fields(os.Getenv("KITESCOPE_E2E_"+name)), more...)
	cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", words, err)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%v: %v", words, err)
	}
}

// TestSeesNewNode adds a query node and checks that the UI's feed has the node and its data within one refresh
// after its session is in etcd.
func TestSeesNewNode(t *testing.T) {
	const every, slack = 2 * time.Second, 2 * time.Second
	from := e2eFrom(t)
	client, err := live.Open(live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	defer stop()
	feed := &session.Feed{
		Interval: 200 * time.Millisecond, Ask: client, Every: every,
		Open: func(ctx context.Context) (source.Source, error) {
			return source.Open(ctx, from, source.Options{})
		},
	}
	updates := make(chan history.Update, 1000)
	go feed.Follow(ctx, func(u history.Update) { updates <- u })
	registered := make(chan time.Time, 1)
	old, started := 0, false
	var session, asked time.Time
	for asked.IsZero() || session.IsZero() {
		select {
		case at := <-registered:
			session = at
		case u := <-updates:
			if u.Cluster == nil || u.Cluster.Runtime == nil {
				continue
			}
			serving := 0
			for _, n := range u.Cluster.Runtime.QueryNodes() {
				if n.Distribution != nil {
					serving++
				}
			}
			switch {
			case !started:
				started, old = true, serving
				outside(t, "ADDNODE", nil)
				go func() { registered <- waitForSession(ctx, t, from, old+1) }()
			case serving > old && asked.IsZero():
				asked = time.Now()
			}
		case <-ctx.Done():
			t.Fatalf("session seen %v, node asked %v: not both within 3 minutes", session, asked)
		}
	}
	t.Logf("session in etcd at %s, its answer shown %s later", session.Format(time.TimeOnly),
		asked.Sub(session).Round(time.Millisecond))
	if late := asked.Sub(session); late > every+slack {
		t.Errorf("shown %s after its session was there; a refresh is %s", late, every)
	}
}

// waitForSession waits until etcdctl shows sessions of at least count query nodes. It returns the time, or the
// zero time if ctx ends.
func waitForSession(ctx context.Context, t *testing.T, from string, count int) time.Time {
	t.Helper()
	for ctx.Err() == nil {
		words := strings.Fields(os.Getenv("KITESCOPE_E2E_SESSIONS"))
		text, err := exec.CommandContext(ctx, words[0], words[1:]...).Output()
		if err == nil && strings.Count(string(text), "/session/querynode-") >= count {
			return time.Now()
		}
		time.Sleep(100 * time.Millisecond)
	}
	return time.Time{}
}

// outsideView returns the data that the nodes themselves report (querynode-distribution.py), with the row counts
// from the query API. problem describes a disagreement between the nodes, the query API and the nodes' metrics.
func outsideView(t *testing.T) (view nodeShares, problem string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "distribution.json")
	addresses := strings.Fields(os.Getenv("KITESCOPE_E2E_QUERYNODES"))
	outside(t, "DISTRIBUTION", nil, append([]string{file}, addresses...)...)
	var api map[string]struct {
		ID       string `json:"id"`
		Segments map[string]struct {
			Rows  int64         `json:"rows"`
			Nodes []json.Number `json:"nodes"`
		} `json:"segments"`
	}
	outside(t, "CLIENT", &api, "segments")
	view = make(nodeShares)
	sealed := map[string]string{} // reported by nodes: "segment node" to collection
	growing := make(map[string]int64)
	for address, answer := range readDistribution(t, file) {
		addDistribution(view, sealed, address, answer, growing)
	}
	told := 0
	for _, c := range api {
		for id, s := range c.Segments {
			for _, n := range s.Nodes {
				told++
				if sealed[id+" "+n.String()] != c.ID {
					problem = fmt.Sprintf("the query API has segment %s on node %s, which does not serve it", id, n)
				}
				x := view[c.ID+" "+n.String()]
				x.SealedRows += s.Rows
				view[c.ID+" "+n.String()] = x
			}
		}
	}
	if told != len(sealed) && problem == "" {
		problem = fmt.Sprintf("nodes serve %d segments, the query API tells of %d", len(sealed), told)
	}
	for address, rows := range growing {
		if scraped := scrapedGrowing(t, address); scraped != rows && problem == "" {
			problem = fmt.Sprintf("%s: %d growing rows by its leader views, %d by its metrics", address, rows, scraped)
		}
	}
	return view, problem
}

// scrapedGrowing returns the number of growing rows in the metrics of a node. In the lab, the metrics port is the
// node's port plus 1.
func scrapedGrowing(t *testing.T, address string) int64 {
	t.Helper()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	text, err := exec.CommandContext(t.Context(), "curl", "-sf",
		"http://"+net.JoinHostPort(host, strconv.Itoa(n+1))+"/metrics").Output()
	if err != nil {
		t.Fatalf("metrics of %s: %v", address, err)
	}
	sum := 0.0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "milvus_querynode_entity_num{") &&
			strings.Contains(line, `segment_state="Growing"`) {
			fields := strings.Fields(line)
			v, err := strconv.ParseFloat(fields[len(fields)-1], 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += v
		}
	}
	return int64(sum)
}
