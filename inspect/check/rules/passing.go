package rules

import (
	"slices"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
)

// passing is a state that records of a resource leave by themselves.
type passing struct {
	resource string
	states   []string
	// limit is how long that may take: where setting is reported, so many seconds and grace.
	limit, grace time.Duration
	setting      string
	// undone is the consequence for the user while it lasts.
	undone string
}

const (
	notFlushed = "Its rows have no index, and searches scan them."
	notWatched = "Inserts into the channel wait in the queue."
	notMade    = "It cannot be used, and its name is taken."
	notDropped = "Its metadata and files stay."
)

// passingStates lists the states that end, in Milvus's words. Loads, tasks and index builds are judged by their progress instead.
func passingStates() []passing {
	return []passing{
		{resource: "segments", states: []string{"Sealed", "Flushing"}, limit: overdueGrace, undone: notFlushed},
		{
			resource: "vchannels", states: []string{"ToWatch", "Uncomplete", "ToRelease", "ReleaseSuccess"},
			limit: watchTimeout + assignGrace, grace: assignGrace, setting: "dataCoord.channel.watchTimeoutInterval", undone: notWatched,
		},
		{resource: "vchannels", states: []string{"WatchFailure", "ReleaseFailure"}, limit: assignGrace, undone: notWatched},
		{resource: "vchannels", states: []string{"Assigning"}, limit: overdueGrace, undone: notWatched},
		{resource: "collections", states: []string{"Creating"}, limit: createGrace, undone: notMade},
		{resource: "partitions", states: []string{"Creating"}, limit: createGrace, undone: notMade},
		{resource: "aliases", states: []string{"Creating"}, limit: createGrace, undone: notMade},
		{resource: "databases", states: []string{"Creating"}, limit: createGrace, undone: notMade},
		// RootCoord waits until garbage collection has taken the last segment, and asks every 20 minutes.
		{resource: "collections", states: []string{"Dropping"}, limit: dropTolerance + dropGrace, grace: dropGrace, setting: "dataCoord.gc.dropTolerance", undone: notDropped},
	}
}

// Grace of changes of the catalog: a creation takes seconds, a drop a few rounds of garbage collection after its retention.
const (
	createGrace = 10 * time.Minute
	dropGrace   = (collectRounds + 1) * collectEvery
)

// passingOf returns how a state of a resource ends, nil if it need not.
func passingOf(p *check.Pass, resource, state string) *passing {
	all := passingStates()
	i := slices.IndexFunc(all, func(x passing) bool { return x.resource == resource && slices.Contains(x.states, state) })
	if i < 0 {
		return nil
	}
	x := &all[i]
	if x.setting != "" {
		x.limit = x.grace + p.SettingSeconds(x.setting, x.limit-x.grace, facts.DataCoords()...)
	}
	return x
}
