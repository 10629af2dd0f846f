package live

import (
	"time"

	"kitescope/inspect/model"
)

// The state of DataCoord's garbage collector, which an operator may pause for a backup and forget. MixCoord
// reports it over HTTP in later 2.6 and in 3.0 (internal/coordinator/restful_mgr_routes.go:
// GetDatacoordGCStatus). gRPC has no such call.
const (
	collectorPath   = "/management/data_gc"
	methodCollector = "GET " + collectorPath
)

// collectorStatus is the response to GET. The response to PUT has only a message.
type collectorStatus struct {
	Status string `json:"status"`
	Left   int64  `json:"time_remaining_seconds,omitempty"`
}

func (c *collectorStatus) clean() bool {
	const year = 366 * 24 * 60 * 60
	c.Left = min(max(c.Left, 0), year)
	return c.Status == "active" || c.Status == "suspended"
}

// takeCollector stores the newest response.
func takeCollector(d *Decoder, _ *processRecords, q *pendingRecord, status *collectorStatus) {
	c := &model.GarbageCollector{
		Paused: status.Status == "suspended", Remaining: time.Duration(status.Left) * time.Second,
		Reporter: d.text(q.key().String()),
	}
	d.keep(q, "collector", func(p *model.RuntimeParts) { p.Collector = c })
}
