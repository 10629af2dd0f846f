package session_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/live"
	"kitescope/inspect/live/livetest"
	"kitescope/inspect/live/recorded"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/session"
	"kitescope/inspect/session/demo"
	"kitescope/inspect/source"
)

// TestTasksAreKept checks that the tasks in the memory of processes are queried only if the tasks in etcd are
// wanted, and that a bundle keeps them. The processes are real servers with answers of 2.6, registered in the
// demo's etcd.
func TestTasksAreKept(t *testing.T) {
	cluster, err := demo.Start(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	of := livetest.Cluster(livetest.Spec{Version: "2.6.3", QueryNodes: 1, Collections: 1, Segments: 3})
	of = livetest.Serve(t, of, livetest.Responses(of, livetest.Options{Tasks: livetest.Tasks()}), recorded.Options{})
	for _, s := range of.Sessions {
		if s.Role != "mixcoord" && s.Role != "datanode" {
			continue
		}
		text, err := json.Marshal(map[string]any{
			"ServerID": s.Node, "ServerName": s.Role, "Address": s.Address, "Version": s.Version,
		})
		if err != nil {
			t.Fatal(err)
		}
		key := s.Name()
		if s.Role == "mixcoord" { // the key of the active one has no id
			key = s.Role
		}
		cluster.Put("by-dev/meta/session/"+key, text)
	}
	loader := &session.Loader{
		Now: demo.Now, Timeout: time.Minute,
		OpenCustom: func(_ context.Context, spec *session.Spec) (source.Source, bool, error) {
			if spec.From != demo.From {
				return nil, false, nil
			}
			src, err := cluster.Source(spec.Root)
			return src, true, err
		},
	}
	spec := &session.Spec{From: demo.From, Live: true, Nodes: live.Options{Timeout: 20 * time.Second, Now: demo.Now}}
	counted := func(from string, parts model.Part) (map[string]int, []model.CurrentTarget) {
		t.Helper()
		spec := *spec
		spec.From, spec.Want = from, meta.Want{Parts: parts}
		c, err := loader.Load(t.Context(), &spec)
		if err != nil {
			t.Fatal(err)
		}
		counts := map[string]int{}
		for _, x := range c.Runtime.Tasks {
			counts[x.Type+" of "+x.Report.Reporter()]++
		}
		return counts, c.Runtime.Targets
	}
	want := map[string]int{
		"segment-task of mixcoord-1": 1, "channel-task of mixcoord-1": 1, "leader-task of mixcoord-1": 1,
		"index-build of mixcoord-1": 3,
		"compaction of mixcoord-1":  2, "import of mixcoord-1": 1, "preimport of mixcoord-1": 1,
		"sync of datanode-5": 2,
	}
	got, targets := counted(demo.From, model.PartObjects|model.PartTasks)
	if diff := cmp.Diff(want, got); diff != "" || targets != nil {
		t.Errorf("who wants tasks has targets %v and (-want +got):\n%s", targets, diff)
	}
	if got, targets := counted(demo.From, model.PartSegments|model.PartTargets); len(got) > 0 || len(targets) != 1 {
		t.Errorf("who wants targets has %v, and tasks %v", targets, got)
	}
	if got, targets := counted(demo.From, model.PartAll&^model.PartTasks); len(got) > 0 || targets != nil {
		t.Errorf("nobody wants them, and %v and %v are told", got, targets)
	}
	path, _ := save(t, loader, spec, nil)
	got, targets = counted(path, model.PartAll)
	if diff := cmp.Diff(want, got); diff != "" || len(targets) != 1 {
		t.Errorf("a bundle keeps targets %v, and (-want +got):\n%s", targets, diff)
	}
}
