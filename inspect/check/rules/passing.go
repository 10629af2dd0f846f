package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// passing is a transient state of the records of a resource.
type passing struct {
	resource string
	// kind is a prefix of the task type with its sub-type, e.g. "compaction/Clustering". "" matches all records.
	kind   string
	states []string // nil: all states except final ones (facts.TaskEnded)
	// limit is the maximum duration of the state. If setting is reported, it is that many seconds plus grace. 0 means
	// that the state is not judged by age.
	limit, grace time.Duration
	setting      string
	// undone is the consequence for the user while the state lasts.
	undone string
}

const (
	notFlushed = "Its rows have no index, and searches scan them."
	notWatched = "Inserts into the channel wait in the queue."
	notMade    = "It cannot be used, and its name is taken."
	notDropped = "Its metadata and files stay."
	notLoaded  = "Its rows are not searchable yet."
)

// passingStates returns the transient states, by the names that Milvus uses. Loads and index builds are judged by their
// progress instead. A state is not judged if no record has its start time, e.g. drops of databases, partitions and
// aliases, and deletions of snapshots.
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
		// RootCoord waits until garbage collection has removed the last segment. It checks every 20 minutes.
		{resource: "collections", states: []string{"Dropping"}, limit: dropTolerance + dropGrace, grace: dropGrace, setting: "dataCoord.gc.dropTolerance", undone: notDropped},
		// A field has no time of its own, so the time of its collection's last change is used (2.6 and later).
		{resource: "fields", states: []string{"Creating"}, limit: createGrace, undone: notMade},
		{resource: "fields", states: []string{"Dropping"}, limit: dropTolerance + dropGrace, undone: notDropped},
		{resource: "snapshots", states: []string{"Pending"}, limit: snapshotGrace, undone: "It cannot be restored, and segments wait for it."},
		// Each channel acknowledges a broadcast after its streaming node has consumed the message. That takes seconds,
		// or as long as opening the log on another node.
		{
			resource: "tasks", kind: "broadcast/", limit: createGrace,
			undone: "The objects it changes stay locked: further changes of the same collection, database or user wait.",
		},
		{resource: "tasks", kind: "import-job/", states: []string{"Pending"}, limit: importIdle, undone: notLoaded},
		{resource: "tasks", kind: "import-job/", states: []string{"Uncommitted"}, undone: notLoaded}, // until a client commits it (3.0)
		{resource: "tasks", kind: "import-job/", limit: facts.ImportLong, undone: notLoaded},
		// Tasks without a limit are judged by their job.
		{resource: "tasks", kind: "import/", undone: notLoaded},
		{resource: "tasks", kind: "preimport/", undone: notLoaded},
		{resource: "tasks", kind: "compaction/Clustering", limit: facts.ImportLong, undone: notCompacted},
		{resource: "tasks", kind: "compaction/", limit: compactionLong, undone: notCompacted},
		{resource: "tasks", kind: "stats/", limit: facts.ImportLong, undone: "Its segments stay unsorted, or lack statistics that filters use."},
		{
			resource: "tasks", kind: "analyze/", limit: facts.ImportLong,
			undone: "The clustering compaction that waits for it does not start.",
		},
		{resource: "tasks", kind: "copy-segment-job/", limit: facts.ImportLong, undone: "The snapshot is not restored."},
		{resource: "tasks", kind: "copy-segment/", undone: "The snapshot is not restored."},
		{resource: "tasks", kind: "export-snapshot-job/", limit: facts.ImportLong, undone: "The snapshot is not exported."},
		{
			resource: "tasks", kind: "external-refresh-job/", limit: facts.ImportLong,
			undone: "Searches still see the old rows.",
		},
		{resource: "tasks", kind: "external-refresh/", undone: "Searches still see the old rows."},
	}
}

// Grace of catalog changes. A creation takes seconds. A drop takes a few rounds of garbage collection after its
// retention.
const (
	createGrace = 10 * time.Minute
	dropGrace   = (collectRounds + 1) * collectEvery
	// snapshotGrace is the time allowed for writing the files of a snapshot.
	snapshotGrace = time.Hour
)

// passingRow returns the entry of a state, or nil if the state is not transient. kind is the task type with its
// sub-type.
func passingRow(resource, kind, state string) *passing {
	for _, x := range passingStates() {
		if x.resource == resource && strings.HasPrefix(kind, x.kind) && (x.states == nil || slices.Contains(x.states, state)) {
			return &x
		}
	}
	return nil
}

// passingOf returns the entry of a state with its limit from the cluster's settings, or nil if it is not transient.
func passingOf(p *check.Pass, resource, kind, state string) *passing {
	x := passingRow(resource, kind, state)
	if x != nil && x.setting != "" {
		x.limit = x.grace + p.SettingSeconds(x.setting, x.limit-x.grace, facts.DataCoords()...)
	}
	return x
}

// lasting is a record in a transient state.
type lasting struct {
	ref                model.Ref
	label, kind, state string
	// since is the latest possible start of the state. If it is zero, the start is unknown and the record is not
	// judged.
	since time.Time
	// detail is appended to the message.
	detail   string
	severity check.Severity
	objects  []model.Ref
	fix      []check.Step
}

// reportLasting reports a record if its state has lasted longer than its limit.
func reportLasting(p *check.Pass, r *lasting) {
	x := passingOf(p, r.ref.Resource, r.kind, r.state)
	if x == nil || !p.OlderThan(r.since, x.limit, false) {
		return
	}
	p.Report(check.Finding{
		Severity: r.severity, Object: r.ref, Objects: r.objects, Impact: x.undone, Fix: r.fix,
		Message: fmt.Sprintf("%s has been in state %s for at least %s%s", r.label, r.state, words.Span(p.Age(r.since)), r.detail),
		Evidence: []check.Evidence{
			check.Fact("state", r.state, "etcd"), check.Fact("since at least", facts.TimeText(r.since), "etcd"), check.Lasts("limit", x.limit, ""),
		},
	})
}
