package history

import (
	"unicode/utf8"

	"kitescope/internal/words"
)

// kindID is the index of a kind in kinds.
type kindID uint8

const (
	nodeJoined kindID = iota
	nodeStopping
	nodeLeft
	nodeLost
	nodeChanged
	channelAssigned
	channelReassigned
	channelRewritten
	channelReleased
	checkpointStopped
	checkpointResumed
	segmentCreated
	segmentCompacted
	segmentSealed
	segmentFlushing
	segmentFlushed
	segmentDropped
	segmentRemoved
	segmentChanged
	indexCreated
	indexAltered
	indexDropped
	indexBuilt
	indexFailed
	collectionCreated
	collectionAltered
	collectionDropped
	collectionLoading
	collectionLoaded
	collectionReleased
	partitionCreated
	partitionAltered
	partitionDropped
	partitionLoaded
	partitionReleased
	replicaCreated
	replicaChanged
	replicaRemoved
	groupCreated
	groupChanged
	groupRemoved
	configChanged
	databaseCreated
	databaseAltered
	databaseDropped
	aliasCreated
	aliasAltered
	aliasDropped
	userCreated
	userChanged
	userDropped
	roleCreated
	roleDropped
	roleGranted
	roleRevoked
	privilegeGranted
	privilegeRevoked
	privilegeGroupChanged
	taskCreated
	taskChanged
	taskFailed
	taskRemoved
	kindCount
)

// kindRow describes a kind.
type kindRow struct {
	name  Kind
	words string // predicate of the message, e.g. "joined" or "was lost"
	// repeats reports whether equal events of an object within a minute are shown as a group.
	repeats bool
	// doc documents the kind: its condition and the keys that it is derived from.
	doc string
}

// kinds holds every kind of event.
var kinds = [kindCount]kindRow{
	nodeJoined: {name: "node_joined", words: "joined", doc: "session registered (`session/`)"},
	nodeStopping: {
		name: "node_stopping", words: "is stopping", doc: "session marked as stopping: its process is shutting down",
	},
	nodeLeft: {
		name: "node_left", words: "left", doc: "session ended after stopping, or its role does not report stopping",
	},
	nodeLost: {
		name: "node_lost", words: "was lost",
		doc: "session of a query, index or streaming node ended without stopping: its lease expired, because the " +
			"process died or lost etcd",
	},
	nodeChanged: {
		name: "node_changed", words: "changed",
		doc: "new address, version or label of a session, or a standby became active",
	},
	channelAssigned: {
		name: "channel_assigned", words: "assigned",
		doc: "a node watches an unassigned channel (`channelwatch/`; since 2.6 `streamingcoord-meta/pchannel/`)",
	},
	channelReassigned: {name: "channel_reassigned", words: "reassigned", doc: "another node watches it"},
	channelRewritten: {
		name: "channel_rewritten", words: "rewritten", repeats: true,
		doc: "its watch record is written again, with the same or another state",
	},
	channelReleased: {name: "channel_released", words: "released", doc: "no node watches it"},
	checkpointStopped: {
		name: "checkpoint_stopped", words: "checkpoint stopped",
		doc: "checkpoint did not advance for over three times its usual interval, at least two minutes; dated when " +
			"it last did (`channel-cp/`)",
	},
	checkpointResumed: {name: "checkpoint_resumed", words: "checkpoint resumes", doc: "it advances again"},
	segmentCreated:    {name: "segment_created", words: "created", doc: "new segment record (`datacoord-meta/s/`)"},
	segmentCompacted:  {name: "segment_compacted", words: "compacted", doc: "new segment, compacted from others"},
	segmentSealed:     {name: "segment_sealed", words: "sealed", doc: "state Sealed: no more inserts"},
	segmentFlushing:   {name: "segment_flushing", words: "is being flushed", doc: "state Flushing"},
	segmentFlushed:    {name: "segment_flushed", words: "flushed", doc: "state Flushed: all rows are in storage"},
	segmentDropped:    {name: "segment_dropped", words: "dropped", doc: "state Dropped"},
	segmentRemoved: {
		name: "segment_removed", words: "record removed", doc: "garbage collection removed its record",
	},
	segmentChanged: {
		name: "segment_changed", words: "changed", repeats: true, doc: "another state, level or visibility",
	},
	indexCreated: {name: "index_created", words: "created", doc: "new index definition (`field-index/`)"},
	indexAltered: {name: "index_altered", words: "altered", doc: "definition changed"},
	indexDropped: {name: "index_dropped", words: "dropped", doc: "definition marked as deleted, or removed"},
	indexBuilt: {
		name: "index_built", words: "built",
		doc: "index files of a segment are finished (`segment-index/`; 2.1 `indexes/`)",
	},
	indexFailed: {
		name: "index_failed", words: "failed", repeats: true, doc: "a build failed, or will be retried",
	},
	collectionCreated: {name: "collection_created", words: "created", doc: "state Created (`root-coord/`)"},
	collectionAltered: {
		name: "collection_altered", words: "altered", doc: "name, properties, fields or functions changed",
	},
	collectionDropped: {name: "collection_dropped", words: "dropped", doc: "state Dropping, or record removed"},
	collectionLoading: {
		name: "collection_loading", words: "is being loaded",
		doc: "a load was requested or changed (`querycoord-collection-loadinfo/`)",
	},
	collectionLoaded:   {name: "collection_loaded", words: "loaded", doc: "load status Loaded"},
	collectionReleased: {name: "collection_released", words: "released", doc: "load record removed"},
	partitionCreated:   {name: "partition_created", words: "created", doc: "state Created"},
	partitionAltered:   {name: "partition_altered", words: "altered", doc: "name or state changed"},
	partitionDropped:   {name: "partition_dropped", words: "dropped", doc: "state Dropping, or record removed"},
	partitionLoaded: {
		name: "partition_loaded", words: "loaded", doc: "load status Loaded (`querycoord-partition-loadinfo/`)",
	},
	partitionReleased: {name: "partition_released", words: "released", doc: "load record removed"},
	replicaCreated:    {name: "replica_created", words: "created", doc: "new record (`querycoord-replica/`)"},
	replicaChanged: {
		name: "replica_changed", words: "changed", repeats: true, doc: "other nodes or another resource group",
	},
	replicaRemoved: {name: "replica_removed", words: "removed", doc: "record removed"},
	groupCreated: {
		name: "resource_group_created", words: "created", doc: "new record (`queryCoord-ResourceGroup/`)",
	},
	groupChanged: {
		name: "resource_group_changed", words: "changed", repeats: true, doc: "other nodes or limits",
	},
	groupRemoved: {name: "resource_group_removed", words: "removed", doc: "record removed"},
	configChanged: {
		name: "config_changed", words: "changed", doc: "dynamic setting set, changed or removed (`config/`)",
	},
	databaseCreated: {name: "database_created", words: "created", doc: "new record"},
	databaseAltered: {name: "database_altered", words: "altered", doc: "properties or state changed"},
	databaseDropped: {name: "database_dropped", words: "dropped", doc: "record removed"},
	aliasCreated:    {name: "alias_created", words: "created", doc: "new record"},
	aliasAltered:    {name: "alias_altered", words: "altered", doc: "another collection"},
	aliasDropped:    {name: "alias_dropped", words: "dropped", doc: "record removed"},
	userCreated:     {name: "user_created", words: "created", doc: "new record"},
	userChanged: {
		name: "user_changed", words: "credential written again",
		doc: "rewritten; the content is secret and not compared",
	},
	userDropped:      {name: "user_dropped", words: "dropped", doc: "record removed"},
	roleCreated:      {name: "role_created", words: "created", doc: "new record"},
	roleDropped:      {name: "role_dropped", words: "dropped", doc: "record removed"},
	roleGranted:      {name: "role_granted", words: "granted", doc: "role granted to a user"},
	roleRevoked:      {name: "role_revoked", words: "revoked", doc: "role revoked from a user"},
	privilegeGranted: {name: "privilege_granted", words: "granted", doc: "privilege granted to a role"},
	privilegeRevoked: {name: "privilege_revoked", words: "revoked", doc: "privilege revoked from a role"},
	privilegeGroupChanged: {
		name: "privilege_group_changed", words: "changed", doc: "privilege group created, changed or removed",
	},
	taskCreated: {
		name: "task_created", words: "created", doc: "new compaction, import, analyze, stats or broadcast task",
	},
	taskChanged: {name: "task_changed", words: "state", doc: "another state"},
	taskFailed:  {name: "task_failed", words: "failed", doc: "failed"},
	taskRemoved: {name: "task_removed", words: "removed", doc: "record removed"},
}

// KindInfo describes a kind of event for help and documentation.
type KindInfo struct {
	Name Kind
	Doc  string
}

// Kinds returns every kind of event.
func Kinds() []KindInfo {
	list := make([]KindInfo, 0, len(kinds))
	for i := range kinds {
		list = append(list, KindInfo{kinds[i].name, kinds[i].doc})
	}
	return list
}

// maxMessage is the length in bytes to which a message truncates a state. Before and After are not truncated.
const maxMessage = 120

// message formats the message of an event: the kind, the count, the states before, between and after, and the
// detail.
func message(e *Event, what, via, detail string) string {
	if e.Count > 1 {
		what += " " + words.Count(e.Count, "time", "times") + span(e)
	}
	before, after := short(e.Before), short(e.After)
	switch {
	case e.Kind == kinds[configChanged].name:
		return settingText(before, after, detail)
	case before != "" && before == after && e.Count == 1:
		what += ": still " + after
	case before != "" && after != "":
		what += ": " + before + arrow + via + after
	case after != "":
		what += ": " + via + after
	}
	if detail != "" {
		what += ", " + detail
	}
	return what
}

// settingText formats the change of a setting.
func settingText(before, after, detail string) string {
	switch detail {
	case settingRemoved:
		return "unset (was " + before + ")"
	case settingNew:
		before = "unset"
	}
	return "set to " + after + " (was " + before + ")"
}

func short(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	end := maxMessage
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// span formats the duration of a group, e.g. " in 25 s".
func span(e *Event) string {
	switch took := e.LastTime.Sub(e.Time); {
	case e.Time.IsZero():
		return ""
	case took > 0:
		return " in " + words.Span(took)
	case e.Error > 0:
		return " within " + words.Span(2*e.Error)
	}
	return ""
}
