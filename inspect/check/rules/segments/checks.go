// Package segments judges what is stored: files and the storage that they lie in, segments that are small, deleted from or left behind by
// compaction, and the background tasks that ought to mend it.
package segments

import "kitescope/inspect/check"

// Checks are the checks of storage, segments and background tasks.
func Checks() []*check.Check {
	return []*check.Check{
		storageFailing, storageReadOnly, filesMissing, smallSegments, deleteHeavy, l0Backlog, segmentsInvisible, mixedLogs, droppedNotCollected,
		importStuck, compactionStuck, taskFailed,
	}
}
