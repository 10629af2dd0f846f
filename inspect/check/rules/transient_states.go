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

// transientState is a transient state of the records of a resource.
type transientState struct {
	resource string
	// kind is a prefix of the task type with its sub-type, e.g. "compaction/Clustering". "" matches all records.
	kind   string
	states []string // nil: all states except final ones (facts.TaskEnded)
	// limit is the maximum duration of the state. If setting is reported, it is that many seconds plus gracePeriod. 0
	// means that the state is not judged by age.
	limit, gracePeriod time.Duration
	setting            string
	// consequence is the consequence for the user while the state lasts.
	consequence string
}

const (
	notFlushed = "Its rows have no index, and searches scan them."
	notWatched = "Inserts into the channel wait in the queue."
	notMade    = "It cannot be used, and its name is taken."
	notDropped = "Its metadata and files stay."
	notLoaded  = "Its rows are not searchable yet."
)

// transientStates returns the transient states, by the names that Milvus uses. Loads and index builds are judged by
// their progress instead. A state is not judged if no record has its start time, e.g. drops of databases, partitions
// and aliases, and deletions of snapshots.
func transientStates() []transientState {
	return []transientState{
		{resource: "segments", states: []string{"Sealed", "Flushing"}, limit: overdueGrace, consequence: notFlushed},
		{
			resource: "vchannels", states: []string{"ToWatch", "Uncomplete", "ToRelease", "ReleaseSuccess"},
			limit: watchTimeout + assignGrace, gracePeriod: assignGrace,
			setting: "dataCoord.channel.watchTimeoutInterval", consequence: notWatched,
		},
		{
			resource: "vchannels", states: []string{"WatchFailure", "ReleaseFailure"}, limit: assignGrace,
			consequence: notWatched,
		},
		{resource: "vchannels", states: []string{"Assigning"}, limit: overdueGrace, consequence: notWatched},
		{resource: "collections", states: []string{"Creating"}, limit: createGrace, consequence: notMade},
		{resource: "partitions", states: []string{"Creating"}, limit: createGrace, consequence: notMade},
		{resource: "aliases", states: []string{"Creating"}, limit: createGrace, consequence: notMade},
		{resource: "databases", states: []string{"Creating"}, limit: createGrace, consequence: notMade},
		// RootCoord waits until garbage collection has removed the last segment. It checks every 20 minutes.
		{
			resource: "collections", states: []string{"Dropping"}, limit: dropTolerance + dropGrace,
			gracePeriod: dropGrace, setting: "dataCoord.gc.dropTolerance", consequence: notDropped,
		},
		// A field has no time of its own, so the time of its collection's last change is used (2.6 and later).
		{resource: "fields", states: []string{"Creating"}, limit: createGrace, consequence: notMade},
		{resource: "fields", states: []string{"Dropping"}, limit: dropTolerance + dropGrace, consequence: notDropped},
		{
			resource: "snapshots", states: []string{"Pending"}, limit: snapshotGrace,
			consequence: "It cannot be restored, and segments wait for it.",
		},
		// Each channel acknowledges a broadcast after its streaming node has consumed the message. That takes seconds,
		// or as long as opening the log on another node.
		{
			resource: "tasks", kind: "broadcast/", limit: createGrace,
			consequence: "The objects it changes stay locked: further changes of the same collection, database or " +
				"user wait.",
		},
		{
			resource: "tasks", kind: "import-job/", states: []string{"Pending"}, limit: importIdle,
			consequence: notLoaded,
		},
		// until a client commits it (3.0)
		{resource: "tasks", kind: "import-job/", states: []string{"Uncommitted"}, consequence: notLoaded},
		{resource: "tasks", kind: "import-job/", limit: facts.MaxImportTime, consequence: notLoaded},
		// Tasks without a limit are judged by their job.
		{resource: "tasks", kind: "import/", consequence: notLoaded},
		{resource: "tasks", kind: "preimport/", consequence: notLoaded},
		{resource: "tasks", kind: "compaction/Clustering", limit: facts.MaxImportTime, consequence: notCompacted},
		{resource: "tasks", kind: "compaction/", limit: compactionLong, consequence: notCompacted},
		{
			resource: "tasks", kind: "stats/", limit: facts.MaxImportTime,
			consequence: "Its segments stay unsorted, or lack statistics that filters use.",
		},
		{
			resource: "tasks", kind: "analyze/", limit: facts.MaxImportTime,
			consequence: "The clustering compaction that waits for it does not start.",
		},
		{
			resource: "tasks", kind: "copy-segment-job/", limit: facts.MaxImportTime,
			consequence: "The snapshot is not restored.",
		},
		{resource: "tasks", kind: "copy-segment/", consequence: "The snapshot is not restored."},
		{
			resource: "tasks", kind: "export-snapshot-job/", limit: facts.MaxImportTime,
			consequence: "The snapshot is not exported.",
		},
		{
			resource: "tasks", kind: "external-refresh-job/", limit: facts.MaxImportTime,
			consequence: "Searches still see the old rows.",
		},
		{resource: "tasks", kind: "external-refresh/", consequence: "Searches still see the old rows."},
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

// transientRow returns the entry of a state, or nil if the state is not transient. kind is the task type with its
// sub-type.
func transientRow(resource, kind, state string) *transientState {
	for _, x := range transientStates() {
		if x.resource == resource && strings.HasPrefix(kind, x.kind) &&
			(x.states == nil || slices.Contains(x.states, state)) {
			return &x
		}
	}
	return nil
}

// transientStateOf returns the entry of a state with its limit from the cluster's settings, or nil if it is not
// transient.
func transientStateOf(p *check.Pass, resource, kind, state string) *transientState {
	x := transientRow(resource, kind, state)
	if x != nil && x.setting != "" {
		x.limit = x.gracePeriod + p.SettingSeconds(x.setting, x.limit-x.gracePeriod, facts.DataCoords()...)
	}
	return x
}

// stateRecord is a record in a transient state.
type stateRecord struct {
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

// reportOverdue reports a record if its state has lasted longer than its limit.
func reportOverdue(p *check.Pass, r *stateRecord) {
	x := transientStateOf(p, r.ref.Resource, r.kind, r.state)
	if x == nil || !p.OlderThan(r.since, x.limit, false) {
		return
	}
	p.Report(check.Finding{
		Severity: r.severity, Object: r.ref, Objects: r.objects, Impact: x.consequence, Fix: r.fix,
		Message: fmt.Sprintf("%s has been in state %s for at least %s%s", r.label, r.state, words.Span(p.Age(r.since)),
			r.detail),
		Evidence: []check.Evidence{
			check.Fact("state", r.state, "etcd"), check.Fact("since at least", facts.TimeText(r.since), "etcd"),
			check.Duration("limit", x.limit, ""),
		},
	})
}
