package layout

import (
	"time"
)

// maxCheckpointLag is the time within which the checkpoint of a channel advances if no data is buffered. Milvus writes
// it once a minute (dataNode.channel.updateChannelCheckpointInterval).
const maxCheckpointLag = 2 * time.Minute

// noteUnflushed adds a note on deletes that may not be in a file yet. Delta logs are written when a segment is flushed
// or synced. Until then a delete is only in the message queue and in the nodes' memory, and searches here find its
// row.
func (b *builder) noteUnflushed() {
	if len(b.segments) == 0 {
		return
	}
	if b.major > 0 && b.before(3) {
		b.note("unflushed deletes are not visible: Milvus %d.%d has them only in the message queue; searches here "+
			"find their rows", b.major, b.minor)
		return
	}
	var oldest time.Time
	for _, v := range b.VChannelsOf(b.collection.ID) {
		if at := v.Checkpoint.At.Time(); !at.IsZero() && (oldest.IsZero() || at.Before(oldest)) {
			oldest = at
		}
	}
	taken := b.Origin.Taken
	if oldest.IsZero() || taken.IsZero() || b.Origin.FileDate || taken.Sub(oldest) < maxCheckpointLag {
		return
	}
	b.note("deletes since %s, the oldest checkpoint of its channels, may not be in a file yet: searches here find "+
		"their rows",
		oldest.UTC().Format(time.DateTime))
}
