package faulttest

import (
	"path/filepath"
	"strings"
	"testing"

	"kitescope/inspect/check"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/model"
)

func openBase(t *testing.T, name string) *Base {
	t.Helper()
	b, err := OpenBase(t.Context(), filepath.Join("..", "..", "..", "testdata", "snapshots", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func edited(t *testing.T, b *Base, lines ...string) (*model.Cluster, error) {
	t.Helper()
	w, err := b.world(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range lines {
		if err := w.apply(Line{i + 1, text}); err != nil {
			return nil, err
		}
	}
	return w.cluster(t.Context())
}

func TestEditsThatDoNothingAreErrors(t *testing.T) {
	b := openBase(t, "cluster-2.3.5-healthy")
	for _, line := range []string{
		"del segment:docs_hnsw_cos/flushed/99", "del datacoord-meta/s/1/2/3",
		"del segment:no_such_collection/flushed/0", "del segment:docs_hnsw_cos/importing/0",
		"set segment:docs_hnsw_cos/flushed/0 state=Flushed", "set segment:docs_hnsw_cos/flushed/0 no_such_field=1",
		"set session:querynode/9 Stopping=true", "set /kv/gid/timestamp at=now",
		"copy checkpoint:docs_hnsw_cos/0 datacoord-meta/channel-cp/{vchannel:docs_hnsw_cos/1}",
		"put root-coord/brand-new/key 1", "put field-index/1/2 `no_such_field: 1`", "unreadable nothing/here/",
		"answer querynode-999 GetDataDistribution -segments", "answer querynode GetShardLeaders -shards",
		"answer proxy GetMetrics response.a=1", "answer {node:querynode/0} GetDataDistribution -segments[ID=17]",
		"answer querycoord GetReplicas@17 -replicas", "config querynode no.such.key=1",
		"config proxy queryNode.grouping.enabled=false", "metric {node:querynode/0} not-a-sample",
		"move {segment:items_hnsw_l2/flushed/0} to {holder:items_hnsw_l2/flushed/0}",
		"move {segment:cold_hnsw/flushed/0} to {node:querynode/0}",
		"serve {segment:items_hnsw_l2/flushed/0} on {holder:items_hnsw_l2/flushed/0}",
		"unserve {segment:cold_hnsw/flushed/0}", "ungrow {segment:docs_hnsw_cos/flushed/0}",
		"grow {segment:cold_hnsw/flushed/0} 5", "lead {vchannel:cold_hnsw/0} on {node:querynode/0}",
		"down querynode-4 asleep", "down querynode-999 refused", "drop querynode GetRecoveryInfoV2",
		"forget streamingnode", "join datanode-20 like {node:querynode/0}",
		"join querynode-4 like {node:querynode/1}", "idle -5m", "etcd member", "queue nonsense", "no-such-verb a b",
		"move {segment:items_hnsw_l2/flushed/0} onto {node:querynode/0}",
	} {
		if _, err := edited(t, b, line); err == nil {
			t.Errorf("%s is accepted", line)
		}
	}
}

func TestUneditedWorld(t *testing.T) {
	for _, name := range []string{"cluster-2.3.5-healthy", "cluster-2.3.5-t7", "cluster-2.3.5-t5", "standalone-2.1.0"} {
		b := openBase(t, name)
		c, err := edited(t, b)
		if err != nil {
			t.Fatal(err)
		}
		if want, got := b.Cluster.Totals(), c.Totals(); want != got {
			t.Errorf("%s: totals %+v, the base has %+v", name, got, want)
		}
		if want, got := texts(b.Report), texts(check.Run(c, b.Now, rules.All())); want != got {
			t.Errorf("%s: findings differ\nbase:\n%s\nworld:\n%s", name, want, got)
		}
	}
}

func texts(r *check.Report) string {
	var lines []string
	for _, f := range r.Findings {
		lines = append(lines, describe(f))
	}
	return strings.Join(lines, "\n")
}

func TestMoveKeepsServed(t *testing.T) {
	b := openBase(t, "cluster-2.3.5-healthy")
	to := b.Cluster.Runtime.QueryNodes()[0]
	line := "move {segment:items_hnsw_l2/flushed/*} to " + to.Name()
	c, err := edited(t, b, strings.Replace(line, "/*}", "/0}", 1))
	if err != nil { // the first segment may already be on the node
		c, err = edited(t, b, strings.Replace(line, "/*}", "/1}", 1))
	}
	if err != nil {
		t.Fatal(err)
	}
	count := func(c *model.Cluster) (sealed, known int) {
		for _, n := range c.Runtime.QueryNodes() {
			sealed += len(n.Distribution.Sealed)
			for _, v := range n.Distribution.Leaders {
				known += len(v.Sealed)
			}
		}
		return sealed, known
	}
	sealed, known := count(b.Cluster)
	if s, k := count(c); s != sealed || k != known {
		t.Errorf("after a move %d segments are served and leaders know %d, before %d and %d", s, k, sealed, known)
	}
	before := len(to.Distribution.Sealed)
	if after := len(c.Runtime.LiveNode("querynode", to.Node).Distribution.Sealed); after != before+1 {
		t.Errorf("%s serves %d segments after the move, before %d", to.Name(), after, before)
	}
	for _, n := range c.Runtime.QueryNodes() {
		for _, v := range n.Distribution.Leaders {
			for _, s := range v.Sealed {
				if !namesServingNode(c, s) {
					t.Errorf("the leader of %s asks node %d for segment %d, which it does not have", v.Channel, s.Node,
						s.ID)
				}
			}
		}
	}
}

func namesServingNode(c *model.Cluster, s model.LeaderSegment) bool {
	for _, x := range c.Runtime.Served(s.ID) {
		if x.Node.Node == s.Node {
			return true
		}
	}
	return false
}

func TestJudgeRejectsSkipped(t *testing.T) {
	b := openBase(t, "cluster-2.3.5-healthy")
	for name, c := range map[string]struct{ text, problem string }{
		"a finding that does not come": {
			"kind: fault\nwant:\n  index-failed top\nnot:\n  warning\n", "no finding index-failed",
		},
		"a check that did not look":   {"kind: near miss\nnot:\n  queue-lag\n", "queue-lag did not look"},
		"a check that is not skipped": {"kind: blind\nunknown:\n  index-failed\n", "has to be skipped"},
		"a check that does not exist": {"kind: blind\nunknown:\n  no-such-check\n", "there is no check"},
		"a false alarm": {
			"kind: near miss\nedits:\n  set root-coord/database/aliases/1/items_current collection_id=4711\nnot:\n  " +
				"warning\n", "a false alarm: warning records-missing",
		},
		"a finding of the base itself": {
			"kind: fault\nedits:\n  idle 1m\nwant:\n  checkpoint-stale-dropped top\nnot:\n  warning\n",
			"the base has this finding",
		},
		"other words": {
			"kind: fault\nwant:\n  checkpoint-stale-dropped top \"seven collections\"\nnot:\n  warning\n",
			"no finding checkpoint-stale-dropped",
		},
		"another object": {
			"kind: fault\nwant:\n  checkpoint-stale-dropped collections/{collection:orders} top\nnot:\n  warning\n",
			"no collection \"orders\"",
		},
	} {
		x, err := ParseCase(name, "# A test.\nbase: cluster-2.3.5-healthy\n"+c.text)
		if err != nil {
			t.Fatal(err)
		}
		r, err := x.Play(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		if v := x.Judge(b, r); !strings.Contains(strings.Join(v.Problems, "\n"), c.problem) {
			t.Errorf("%s: problems %q, none says %q", name, v.Problems, c.problem)
		}
	}
}
