package whatif

import (
	"math"
	"time"

	"kitescope/replay"
)

// chunkCost is what Milvus takes for each chunk of a growing segment and vector, apart from comparing rows: segcore searches a growing segment chunk by
// chunk, and calls knowhere anew for each (internal/core/src/query/SearchOnGrowing.cpp). Measured with Milvus 2.3.5 (docs/evidence/replay.md): the CPU
// of a query over 40,000 growing rows in chunks of 128, less that of the same rows behind an index.
const chunkCost = 20 * time.Microsecond

// chunked is the time that segment i costs in chunks: only growing segments have them.
func (p *priced) chunked(i int, each time.Duration) time.Duration {
	s := &p.Segments[i]
	if s.State != replay.Growing || p.ChunkRows <= 0 || each <= 0 {
		return 0
	}
	rows := s.Rows
	if rows < 0 {
		rows = p.typicalRows()
	}
	per := int64(p.ChunkRows)
	return time.Duration(min(math.Ceil(float64(rows)/float64(per))*float64(each), mostCost))
}
