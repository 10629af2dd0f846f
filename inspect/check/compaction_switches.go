package check

import "kitescope/inspect/model"

// aboutCompaction and aboutCollection say which switches hold those up.
func aboutCompaction(c *model.Cluster, effect, cause *Finding) bool {
	return speaksOf("dataCoord.enableCompaction", "dataCoord.compaction.enableAutoCompaction")(c, effect, cause)
}

func aboutCollection(c *model.Cluster, effect, cause *Finding) bool {
	return speaksOf("dataCoord.enableGarbageCollection")(c, effect, cause)
}
