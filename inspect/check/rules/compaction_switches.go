package rules

import (
	"strconv"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
)

// Settings that stop Milvus from compacting segments on its own, and the property of a collection that does.
const (
	compactionSwitch     = "dataCoord.enableCompaction"
	autoCompactionSwitch = "dataCoord.compaction.enableAutoCompaction"
	autoCompactionOf     = "collection.autocompaction.enabled"
)

// compactionOff returns the reason why Milvus does not compact a collection on its own. ok is false if it does, or
// if that is unknown.
func compactionOff(p *check.Pass, x *model.Collection) (why check.Evidence, ok bool) {
	off := func(value string) bool {
		on, err := strconv.ParseBool(strings.TrimSpace(value))
		return err == nil && !on
	}
	for _, key := range []string{compactionSwitch, autoCompactionSwitch} {
		if s, known := p.Setting(key, facts.DataCoords()...); known && off(s.Value) {
			return check.Fact(key, s.Value, s.From), true
		}
	}
	for _, kv := range x.Properties {
		if kv.Key == autoCompactionOf && off(kv.Value) {
			return check.Fact(kv.Key, kv.Value, "etcd"), true
		}
	}
	return check.Evidence{}, false
}

// aboutCompaction reports whether the cause is a switch that stops compaction.
func aboutCompaction(c *model.Cluster, effect, cause *check.Finding) bool {
	return check.AboutSettings(compactionSwitch, autoCompactionSwitch)(c, effect, cause)
}
