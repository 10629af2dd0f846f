package rules

import (
	"kitescope/inspect/check"
	"kitescope/inspect/model"
)

// aboutCompaction and aboutCollection say which switches hold those up.
func aboutCompaction(c *model.Cluster, effect, cause *check.Finding) bool {
	return check.SpeaksOf("dataCoord.enableCompaction", "dataCoord.compaction.enableAutoCompaction")(c, effect, cause)
}

func aboutCollection(c *model.Cluster, effect, cause *check.Finding) bool {
	return check.SpeaksOf("dataCoord.enableGarbageCollection")(c, effect, cause)
}
