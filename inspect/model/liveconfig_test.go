package model

import "testing"

// TestSettingOfSeveralSpellings checks that the last spelling of a dynamic key in etcd wins, as in Milvus.
func TestSettingOfSeveralSpellings(t *testing.T) {
	c := Build(Parts{Config: []*ConfigEntry{
		{Name: "queryCoord/autoBalance", Value: "true"},
		{Name: "queryNode/cacheSize", Value: "1"},
		{Name: "querycoord.autobalance", Value: "false"},
	}})
	if s, ok := c.Setting("queryCoord.autoBalance", "querycoord"); !ok || s.Value != "false" {
		t.Errorf("the setting is %+v, %v", s, ok)
	}
	if e := DynamicEntry(c.Config, "queryCoord.autoBalance"); e == nil || e.Name != "querycoord.autobalance" {
		t.Errorf("the key is %+v", e)
	}
	if e := DynamicEntry(c.Config, "queryCoord.other"); e != nil {
		t.Errorf("a key that is not there: %+v", e)
	}
}
