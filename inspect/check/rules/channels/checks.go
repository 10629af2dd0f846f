// Package channels judges the message queue and who consumes it: watchers, checkpoints, lags, refused writes.
package channels

import "kitescope/inspect/check"

// Checks are the checks of channels and of the message queue.
func Checks() []*check.Check {
	return []*check.Check{
		queueUnreachable, timetickLag, channelUnwatched, channelWatchedTwice, channelWatchState,
		checkpointLag, checkpointMissing, checkpointStaleDropped, queueLag, queueBacklog, subscriptionUnread, quotaDenied,
		walRecoveryStuck, walNotOpen, walOpenTwice, walFlushLag, growingOverWatermark, walThrottled, broadcastStuck, walBacklog, walNotTruncated, walDamaged, walLogLeft,
	}
}
