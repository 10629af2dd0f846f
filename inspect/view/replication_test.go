package view

import (
	"testing"
	"time"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// TestReplication checks that pairs of the configuration are matched by position, that pairs of an earlier
// one remain, and that the role of this cluster follows from its pchannels.
func TestReplication(t *testing.T) {
	now := time.Date(2026, 11, 27, 10, 0, 0, 0, time.UTC)
	tick := func(ago time.Duration) model.TSO { return model.TSO(now.Add(-ago).UnixMilli() << 18) }
	parts := func(own ...*model.PChannel) model.Parts {
		return model.Parts{
			Loaded: model.PartAll, Origin: model.Origin{Kind: "etcd"}, PChannels: own,
			Streaming: &model.Streaming{
				Clusters: []model.ReplicationCluster{
					{ID: "east", URI: "http://east", PChannels: []string{"east-dml_0", "east-dml_1"}},
					{ID: "west", URI: "http://west", PChannels: []string{"west-dml_0", "west-dml_1"}},
				},
				Links: []model.ReplicationLink{{Source: "east", Target: "west"}},
			},
		}
	}
	source := parts(&model.PChannel{Name: "east-dml_0"})
	source.Streaming.Channels = []model.ReplicationChannel{
		{Source: "east-dml_1", Target: "west-dml_1", Cluster: "west", StartedAt: tick(time.Hour), Start: "100"},
		{Source: "east-dml_7", Target: "south-dml_7", Cluster: "south"},
	}
	target := parts(&model.PChannel{
		Name: "west-dml_0",
		Replicated: &model.ReplicatePosition{
			Cluster: "east", PChannel: "east-dml_0", Message: "m", At: tick(9 * time.Second),
		},
	},
		&model.PChannel{
			Name:     "west-dml_1",
			Salvaged: []model.ReplicatePosition{{Cluster: "north", PChannel: "north-dml_1", At: tick(time.Minute)}},
		})
	other := parts(&model.PChannel{Name: "by-dev-rootcoord-dml_0"})
	for name, x := range map[string]struct {
		parts model.Parts
		want  [][]string // id, role, configured, target_uri, start, behind
	}{
		"source": {
			source,
			[][]string{
				{"east-dml_7/south-dml_7", "source", "no", "", "", ""},
				{"east-dml_0/west-dml_0", "source", "yes", "http://west", "", ""},
				{"east-dml_1/west-dml_1", "source", "yes", "http://west", "100", ""},
			},
		},
		"target": {
			target,
			[][]string{
				{"east-dml_0/west-dml_0", "target", "yes", "http://west", "", "9s"},
				{"east-dml_1/west-dml_1", "target", "yes", "http://west", "", ""},
				{"north-dml_1/west-dml_1", "target", "no", "http://west", "", ""},
			},
		},
		"other": {
			other,
			[][]string{
				{"east-dml_0/west-dml_0", "none", "yes", "http://west", "", ""},
				{"east-dml_1/west-dml_1", "none", "yes", "http://west", "", ""},
			},
		},
		"none": {
			model.Parts{Loaded: model.PartAll, PChannels: []*model.PChannel{{Name: "by-dev-rootcoord-dml_0"}}}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			rows := replication.Table(NewEnv(model.Build(x.parts), now))
			if rows.Len() != len(x.want) {
				t.Fatalf("%d rows", rows.Len())
			}
			for row, want := range x.want {
				cell := func(name string) table.Cell { return rows.Cell(row, replication.Column(name)) }
				behind := ""
				if c := cell("checkpoint_age_seconds"); c.Absent == table.Present {
					behind = time.Duration(c.Int).String()
				}
				configured := map[int64]string{0: "no", 1: "yes"}[cell("configured").Int]
				got := []string{
					rows.Ref(row).ID, cell("role").Text, configured, cell("target_uri").Text, cell("start").Text,
					behind,
				}
				for i := range want {
					if got[i] != want[i] {
						t.Errorf("row %d: %q, want %q", row, got, want)
						break
					}
				}
			}
		})
	}
}
