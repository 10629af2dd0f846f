package demo

import (
	"kitescope/inspect/live"
	"kitescope/inspect/live/recorded"
)

// Answers returns the recorded responses of the captured processes.
func (c *Cluster) Answers() []live.Record { return c.answers }

// Metrics returns the captured texts of /metrics by the current addresses of the processes' servers.
func (c *Cluster) Metrics() map[string][]byte {
	now := map[string][]byte{}
	for was, text := range recorded.MetricsByAddress(c.answers) {
		is, _ := c.servers.Address(was)
		now[is] = text
	}
	return now
}
