package view

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
	"kitescope/internal/table"
)

// TestStreamingRecords checks the columns that come from records of the streaming service: past
// assignments of a pchannel, the time of the last one, the time tick of a vchannel's record, and the channels
// that have acknowledged the replication configuration.
func TestStreamingRecords(t *testing.T) {
	assigned := modeltest.Now.Add(-time.Hour)
	c := model.Build(model.Parts{
		Loaded: model.PartAll,
		PChannels: []*model.PChannel{{
			Name: "dml_0", Streaming: true, AssignedAt: assigned,
			Past: []model.Assignment{
				{Term: 1, Node: 30, AccessMode: "ReadWrite"}, {Term: 2, Node: 31, AccessMode: "ReadOnly"},
			},
			Replication: []string{"east>west"},
			Replicated:  &model.ReplicatePosition{Cluster: "east", PChannel: "east-dml_0"},
		}, {Name: "dml_1"}},
		VChannels: []*model.VChannel{{Name: "dml_0_1v0", PChannel: "dml_0", StreamedAt: model.TSOFromTime(assigned)}},
		Streaming: &model.Streaming{ConfigAcks: []model.ConfigAck{{Channel: "dml_0", At: 5}, {Channel: "dml_1"}}},
	})
	env := NewEnv(c, modeltest.Now)
	for _, x := range []struct {
		r      *Resource
		row    int
		column string
		want   table.Cell
	}{
		{pchannels, 0, "assigned_at", timeCell(assigned)},
		{
			pchannels, 0, "past_assignments",
			list([]string{
				"1: 30 ReadWrite", "2: 31 ReadOnly", "1: streamingnode-30 ReadWrite", "2: streamingnode-31 ReadOnly",
			}),
		},
		{pchannels, 0, "replication", list([]string{"east>west"})},
		{pchannels, 1, "assigned_at", none()},
		{vchannels, 0, "streaming_at", tso(model.TSOFromTime(assigned))},
		{replication, 0, "config_acknowledged", text("1/2")},
		{replication, 0, "config_waits_for", list([]string{"dml_1"})},
	} {
		if diff := cmp.Diff(x.want, x.r.Table(env).Cell(x.row, x.r.Column(x.column))); diff != "" {
			t.Errorf("%s.%s: %s", x.r.Name, x.column, diff)
		}
	}
	c.Streaming.ConfigAcks = nil
	if got := replication.Table(env).Cell(0, replication.Column("config_acknowledged")); got.Absent != table.None {
		t.Errorf("of a record that does not tell: %+v", got)
	}
}
