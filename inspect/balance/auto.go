package balance

import (
	"strings"

	"kitescope/inspect/model"
)

// Auto is QueryCoord's value of queryCoord.autoBalance.
type Auto struct {
	// Known is false if neither QueryCoord nor a dynamic key has a value.
	Known, On bool
	Value     string
	// From is the origin of the value: "querycoord-16" or "dynamic configuration".
	From string
	// Key is the dynamic key in etcd that sets the value, or "" if no key does. A dynamic key overrides the file
	// and the environment (Milvus since 2.2.0, pkg/config: EtcdSource has HighPriority), and QueryCoord applies
	// it without a restart.
	Key string
}

// SwitchKey is the configuration key of Milvus's own balancer.
const SwitchKey = "queryCoord.autoBalance"

// QueryCoords returns the roles that report QueryCoord's settings.
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
