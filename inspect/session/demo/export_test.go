package demo

import (
	"kitescope/inspect/live"
	"kitescope/inspect/live/recorded"
)

// Answers are what the captured processes said.
func (c *Cluster) Answers() []live.Record { return c.answers }

// Metrics are the captured texts of /metrics, by where their processes are served now.
func (c *Cluster) Metrics() map[string][]byte {
	now := map[string][]byte{}
	for was, text := range recorded.MetricsByAddress(c.answers) {
		is, _ := c.servers.Address(was)
		now[is] = text
	}
	return now
}
