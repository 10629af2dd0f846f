package clusters

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
	"kitescope/inspect/view"
	"kitescope/internal/table"
	"kitescope/render"
	"kitescope/render/rendertest"
)

// streamingCluster returns a cluster of a streaming node and a query node, with the metrics of testdata/metrics.
func streamingCluster(t *testing.T) *model.Cluster {
	t.Helper()
	var parts model.RuntimeParts
	for role, name := range map[string]string{
		"streamingnode": "streamingnode.txt", "querynode": "querynode-cache.txt",
	} {
		text, err := os.Open("../../testdata/metrics/" + name)
		if err != nil {
			t.Fatal(err)
		}
		defer text.Close()
		m, err := live.ParseMetrics(text, modeltest.Now)
		if err != nil {
			t.Fatal(err)
		}
		n := &model.LiveNode{
			Role: role, Node: map[string]model.NodeID{"streamingnode": 30, "querynode": 5}[role],
			Outcome: model.Answered,
		}
		n.Process = &model.Process{Address: role, Nodes: []model.Ref{n.Ref()}, Outcome: model.Answered, Metrics: m}
		parts.Nodes, parts.Processes = append(parts.Nodes, n), append(parts.Processes, n.Process)
	}
	assigned := func(name string) *model.PChannel {
		return &model.PChannel{Name: name, Streaming: true, State: "Assigned", Node: 30}
	}
	return model.Build(model.Parts{
		Origin: modeltest.Small().Origin, Loaded: model.PartAll, Version: model.Version{Text: "2.6.22"},
		Sessions: []*model.Session{
			{Role: "streamingnode", Node: 30, Version: "2.6.22"}, {Role: "querynode", Node: 5, Version: "2.6.22"},
		},
		PChannels: []*model.PChannel{
			assigned("by-dev-rootcoord-dml_0"), assigned("by-dev-rootcoord-dml_1"),
			{Name: "by-dev-rootcoord-dml_2", Streaming: true},
		},
	}).WithRuntime(model.BuildRuntime(parts))
}

// TestOverviewOfStreaming checks that an overview has a line and an object each for streaming nodes and caches.
func TestOverviewOfStreaming(t *testing.T) {
	o := view.NewOverview(view.NewEnv(streamingCluster(t), modeltest.Now))
	for _, word := range []string{"table", "json"} {
		var b bytes.Buffer
		if err := Overview(&b, o, nil, render.Options{Format: format(t, word)}); err != nil {
			t.Fatal(err)
		}
		rendertest.Golden(t, "overview/streaming."+word, b.Bytes())
		for _, line := range []string{
			"streaming  1 node, 2 of 3 pchannels assigned; logs: 1 Open, 1 stream-recovering; growing 5.0 MiB of " +
				"20.0 MiB on streamingnode-30",
			"tiered storage  memory 7.0 MiB of 10.0 MiB, disk 20.0 MiB of 100 MiB on 1 query node",
		} {
			if word == "table" && !strings.Contains(b.String(), line) {
				t.Errorf("no line %q in\n%s", line, b.String())
			}
		}
	}
	if got := CacheText(&view.CacheLine{
		Nodes: 2, UnknownNodes: 1, MemoryLimit: o.Rows, DiskLimit: table.Cell{Absent: table.None},
	}); !strings.Contains(got, "on 2 query nodes (1 unknown)") || !strings.Contains(got, "disk 0 B without eviction") {
		t.Errorf("%s", got)
	}
	if got := CacheText(&view.CacheLine{DiskLimit: table.Cell{Absent: table.Unknown}}); !strings.Contains(got,
		"disk 0 B, evicted on some nodes only") {
		t.Errorf("%s", got)
	}
}
