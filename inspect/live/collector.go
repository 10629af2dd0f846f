package live

import (
	"time"

	"kitescope/inspect/model"
)

// Whether DataCoord's garbage collector is paused, which an operator does for a backup and may forget: a MixCoord tells it over HTTP,
// in later 2.6 and in 3.0 (internal/coordinator/restful_mgr_routes.go: GetDatacoordGCStatus). gRPC has no such call.
const (
	collectorPath   = "/management/data_gc"
	methodCollector = "GET " + collectorPath
)

// collectorTold is the answer. One to PUT has only the message.
type collectorTold struct {
	Status string `json:"status"`
	Left   int64  `json:"time_remaining_seconds,omitempty"`
}

func (c *collectorTold) clean() bool {
	const year = 366 * 24 * 60 * 60
	c.Left = min(max(c.Left, 0), year)
	return c.Status == "active" || c.Status == "suspended"
}

// takeCollector keeps the newest answer.
func takeCollector(d *Decoder, _ *processRecords, q *question, told *collectorTold) {
	c := &model.GarbageCollector{Paused: told.Status == "suspended", Left: time.Duration(told.Left) * time.Second, By: d.text(q.key().String())}
	d.keep(q, "collector", func(p *model.RuntimeParts) { p.Collector = c })
}
