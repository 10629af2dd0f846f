package balance

import (
	"strings"

	"kitescope/inspect/model"
)

// Auto is the switch queryCoord.autoBalance as QueryCoord has it.
type Auto struct {
	// Known is false if neither QueryCoord nor a dynamic key says.
	Known, On bool
	Value     string
	// From is who says so: "querycoord-16", "dynamic configuration".
	From string
	// Key is the dynamic key in etcd that sets it, "" if there is none. It comes before the file and the
	// environment (Milvus since 2.2.0, pkg/config: EtcdSource has HighPriority), and QueryCoord follows it
	// without a restart.
	Key string
}

// SwitchKey is the configuration key of Milvus's own balancer.
const SwitchKey = "queryCoord.autoBalance"

// QueryCoords are the roles that QueryCoord's settings are told by.
func QueryCoords() []string { return []string{"querycoord", "mixcoord"} }

func autoOf(c *model.Cluster) Auto {
	var a Auto
	if e := model.DynamicEntry(c.Config, SwitchKey); e != nil {
		a.Key = e.Name
	}
	s, ok := c.Setting(SwitchKey, QueryCoords()...)
	if !ok {
		return a
	}
	a.Known, a.Value, a.From = true, s.Value, s.From
	a.On = strings.EqualFold(strings.TrimSpace(s.Value), "true")
	return a
}
