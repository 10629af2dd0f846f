package layout

import (
	"strconv"
	"strings"
)

// keyChunkRows is the setting for the number of rows of a growing segment that a node searches at a time. Each
// chunk is a separate search in knowhere.
const keyChunkRows = "queryNode.segcore.chunkRows"

// chunkRows returns the setting of any query node, or the release's default: 1024 before 2.3 (configurations of
// 2.1.0 and 2.2.16), 128 since (configuration of 2.3.5).
func (b *builder) chunkRows() int {
	rows := 128
	if b.before(3) {
		rows = 1024
	}
	if s, ok := b.Setting(keyChunkRows, "querynode"); ok {
		if v, err := strconv.Atoi(strings.TrimSpace(s.Value)); err == nil && v > 0 {
			rows = v
		}
	}
	return rows
}
