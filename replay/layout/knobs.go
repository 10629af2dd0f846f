package layout

import (
	"strconv"
	"strings"
)

// keyChunkRows is how many rows of a growing segment a node searches at a time: each chunk is a search of its own in knowhere.
const keyChunkRows = "queryNode.segcore.chunkRows"

// chunkRows is the setting of any query node, else the release's: 1024 in the configurations that 2.1.0 and 2.2.16 come with, 128 in that of 2.3.5.
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
