package view

import (
	"slices"
	"testing"

	"kitescope/inspect/model"
)

// TestSettingsBySource checks the precedence of sources: the session's report, then etcd, then a proxy's copy
// of the whole configuration.
func TestSettingsBySource(t *testing.T) {
	config := func(values map[string]string) *model.Config { return &model.Config{Values: values} }
	c := model.Build(model.Parts{Config: []*model.ConfigEntry{
		{Name: "dataCoord/enableCompaction", Value: "first"},
		{Name: "datacoord.enablecompaction", Value: "false"},
		{Name: "proxy/maxNameLength", Value: "255"},
	}}).WithRuntime(model.BuildRuntime(model.RuntimeParts{
		Nodes: []*model.LiveNode{
			{Role: "proxy", Node: 4, Config: config(map[string]string{"proxymaxnamelength": "100"})},
		},
		Processes: []*model.Process{
			{
				ConfigOf: "proxy-4",
				Config: config(map[string]string{
					"proxymaxnamelength": "99", "datacoordenablecompaction": "true", "querycoordautobalance": "true",
				}),
			},
			{
				ConfigOf: "proxy-5",
				Config: config(
					map[string]string{"datacoordenablecompaction": "true", "querycoordautobalance": "true"},
				),
			},
		},
	}))
	var got []string
	for _, s := range settingRows(&Env{Cluster: c}) {
		got = append(got, s.name+"="+s.value+" of "+s.sessions[0])
	}
	want := []string{
		"datacoordenablecompaction=false of etcd", "proxymaxnamelength=100 of proxy-4",
		"querycoordautobalance=true of proxy-4",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
