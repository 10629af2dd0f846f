package live

import "kitescope/inspect/model"

// WritesToPulsar is why a proxy of a cluster is not asked for its dependencies.
func WritesToPulsar(c *model.Cluster, queue string) string { return hintOf(c).writesToPulsar(queue) }
