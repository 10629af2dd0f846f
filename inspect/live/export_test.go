package live

import "kitescope/inspect/model"

// WritesToPulsar returns why a proxy of a cluster is not queried for its dependencies.
func WritesToPulsar(c *model.Cluster, queue string) string { return hintOf(c).writesToPulsar(queue) }
