package history_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/history"
	"kitescope/inspect/model"
)

// objectSet is the part of a cluster that events describe: the existing objects, by resource and id.
type objectSet map[string]string

func objectSetOf(c *model.Cluster) objectSet {
	p := objectSet{}
	for _, s := range c.Sessions {
		p[fmt.Sprintf("nodes/%s-%d", s.Role, s.Node)] = ""
	}
	for _, s := range c.Segments {
		p["segments/"+s.ID.String()] = s.State.String()
	}
	for _, x := range c.Collections {
		if !x.Dropped() && x.State != "Creating" {
			p["collections/"+x.ID.String()] = ""
		}
	}
	for _, v := range c.VChannels {
		if v.Watched && v.Watcher != model.UnassignedNode {
			p["vchannels/"+v.Name] = v.Watcher.Name("datanode")
		}
	}
	for _, x := range c.Indexes {
		if !x.Deleted {
			p["indexes/"+x.ID.String()] = ""
		}
	}
	for _, a := range c.Aliases {
		p["aliases/"+a.Database.String()+"/"+a.Name] = ""
	}
	for _, e := range c.Config {
		p["config/"+e.Name] = e.Value
	}
	return p
}

// apply applies events to a picture.
func (p objectSet) apply(h *history.History) {
	for i := range h.Len() {
		e := h.Event(i)
		key := e.Object.Resource + "/" + e.Object.ID
		what := strings.TrimPrefix(string(e.Kind), strings.SplitN(string(e.Kind), "_", 2)[0]+"_")
		switch e.Object.Resource {
		case "segments", "config":
			p[key] = strings.SplitN(e.After, ",", 2)[0]
			if e.After == "" {
				delete(p, key)
			}
		case "vchannels":
			switch what {
			case "assigned", "reassigned":
				p[key] = e.After
			case "released":
				delete(p, key)
			}
		case "nodes", "collections", "indexes", "aliases":
			switch what {
			case "joined", "created":
				p[key] = ""
			case "left", "lost", "dropped":
				delete(p, key)
			}
		}
	}
}

// TestEventsYieldCluster applies the events of a history to the cluster before it, and compares the result with the
// cluster after it.
func TestEventsYieldCluster(t *testing.T) {
	for _, name := range fixtures() {
		t.Run(name, func(t *testing.T) {
			h, before, after := readAll(t, name)
			got, want := objectSetOf(before), objectSetOf(after)
			got.apply(h)
			if after.Collections[0].Layout == "2.1" || name == "upgrade-2.2.16" { // indexes of 2.1 only count for 2.1
				maps.DeleteFunc(got, isIndex)
				maps.DeleteFunc(want, isIndex)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("cluster (-is +by its events):\n%s", diff)
			}
			if h.Undecoded != 0 {
				t.Errorf("%d values were not decoded", h.Undecoded)
			}
		})
	}
}

func isIndex(key, _ string) bool { return strings.HasPrefix(key, "indexes/") }

// TestKnownFaults checks the known faults of captured clusters.
func TestKnownFaults(t *testing.T) {
	count := func(h *history.History, kind history.Kind, object string) (n int) {
		for i := range h.Len() {
			if e := h.Event(i); e.Kind == kind && (object == "" || e.Object.ID == object) {
				n++
			}
		}
		return n
	}
	t5 := readFixture(t, "cluster-2.3.5-t5") // kill -9 of query node 5, SIGTERM of 11, auto-balance off, on, off
	if n := count(t5, "node_lost", "querynode-5"); n != 1 {
		t.Errorf("the killed query node is lost %d times", n)
	}
	if count(t5, "node_lost", "") != 1 || count(t5, "node_left", "querynode-11") != 1 ||
		count(t5, "node_stopping", "querynode-11") != 1 {
		t.Error("the stopped query node is not told apart from the killed one")
	}
	if n := count(t5, "config_changed", "queryCoord/autoBalance"); n != 3 {
		t.Errorf("auto-balance was switched %d times, not 3", n)
	}
	// no faults
	for _, name := range []string{"cluster-2.3.5-healthy", "cluster-2.3.5-healthy-load", "cluster-2.3.5-unflushed"} {
		h := readFixture(t, name)
		for _, kind := range []history.Kind{
			"node_lost", "node_left", "checkpoint_stopped", "channel_reassigned", "index_failed", "task_failed",
		} {
			if n := count(h, kind, ""); n != 0 {
				t.Errorf("%s: %d events of %s", name, n, kind)
			}
		}
	}
	t7 := readFixture(t, "cluster-2.3.5-t7") // all processes were stopped and started again
	if n := count(t7, "channel_reassigned", ""); n != 14 {
		t.Errorf("%d channels went to the new data node, not 14", n)
	}
}
