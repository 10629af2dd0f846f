// Package etcd judges what a cluster stands on: the layout of its metadata and the versions that write it, the health of etcd, what is
// written there over and over, and the clock that all timestamps come from.
package etcd

import "kitescope/inspect/check"

// Checks are the checks of versions, etcd and clocks.
func Checks() []*check.Check {
	return []*check.Check{
		layoutRollback, layoutOlder, mixedVersions, etcdNoLeader, etcdAlarm, etcdSize, watchLivelock, clockRegression, undecodedRecords,
	}
}
