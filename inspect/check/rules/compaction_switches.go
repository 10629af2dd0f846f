package rules

import (
	"kitescope/inspect/check"
	"kitescope/inspect/model"
)

// aboutCompaction reports whether a switch keeps compaction from running.
func aboutCompaction(c *model.Cluster, effect, cause *check.Finding) bool {
	return check.SpeaksOf("dataCoord.enableCompaction", "dataCoord.compaction.enableAutoCompaction")(c, effect, cause)
}
