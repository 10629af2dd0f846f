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
	// repeats reports whether equal events of one object within a minute are shown as a group.
	repeats bool
	// doc documents the kind: its condition and the keys that it is derived from.
	doc string
}

// kinds holds every kind of event.
var kinds = [kindCount]kindRow{
	nodeJoined:            {name: "node_joined", words: "joined", doc: "a session was registered (`session/`)"},
	nodeStopping:          {name: "node_stopping", words: "is stopping", doc: "a session marked itself as stopping: its process is shutting down"},
	nodeLeft:              {name: "node_left", words: "left", doc: "a session ended after stopping, or of a role that does not report stopping"},
	nodeLost:              {name: "node_lost", words: "was lost", doc: "the session of a query, index or streaming node ended, and it was not stopping: its lease ran out, the process died or lost etcd"},
	nodeChanged:           {name: "node_changed", words: "changed", doc: "a session has another address, version or label, or a standby became active"},
	channelAssigned:       {name: "channel_assigned", words: "assigned", doc: "a node that watches a channel is written where there was none (`channelwatch/`; from 2.6 on `streamingcoord-meta/pchannel/`)"},
	channelReassigned:     {name: "channel_reassigned", words: "reassigned", doc: "another node watches it"},
	channelRewritten:      {name: "channel_rewritten", words: "rewritten", repeats: true, doc: "the record of who watches it is written again, with the same or another state"},
	channelReleased:       {name: "channel_released", words: "released", doc: "no node watches it any more"},
	checkpointStopped:     {name: "checkpoint_stopped", words: "checkpoint stopped", doc: "a channel's checkpoint did not move on for more than three times its usual interval, and two minutes at least; dated when it last did (`channel-cp/`)"},
	checkpointResumed:     {name: "checkpoint_resumed", words: "checkpoint resumes", doc: "it moves again"},
	segmentCreated:        {name: "segment_created", words: "created", doc: "a segment's record is new (`datacoord-meta/s/`)"},
	segmentCompacted:      {name: "segment_compacted", words: "compacted", doc: "a new segment was compacted from others"},
	segmentSealed:         {name: "segment_sealed", words: "sealed", doc: "its state became Sealed: no more inserts"},
	segmentFlushing:       {name: "segment_flushing", words: "is being flushed", doc: "its state became Flushing"},
	segmentFlushed:        {name: "segment_flushed", words: "flushed", doc: "its state became Flushed: all of it is in storage"},
	segmentDropped:        {name: "segment_dropped", words: "dropped", doc: "its state became Dropped"},
	segmentRemoved:        {name: "segment_removed", words: "record removed", doc: "garbage collection removed its record"},
	segmentChanged:        {name: "segment_changed", words: "changed", repeats: true, doc: "another state, level or visibility"},
	indexCreated:          {name: "index_created", words: "created", doc: "an index was defined (`field-index/`)"},
	indexAltered:          {name: "index_altered", words: "altered", doc: "its definition changed"},
	indexDropped:          {name: "index_dropped", words: "dropped", doc: "its definition was marked as deleted, or is gone"},
	indexBuilt:            {name: "index_built", words: "built", doc: "the files of an index on a segment are finished (`segment-index/`; 2.1 `indexes/`)"},
	indexFailed:           {name: "index_failed", words: "failed", repeats: true, doc: "building one failed, or will be retried"},
	collectionCreated:     {name: "collection_created", words: "created", doc: "a collection became Created (`root-coord/`)"},
	collectionAltered:     {name: "collection_altered", words: "altered", doc: "its name, properties, fields or functions changed"},
	collectionDropped:     {name: "collection_dropped", words: "dropped", doc: "it became Dropping, or its record is gone"},
	collectionLoading:     {name: "collection_loading", words: "is being loaded", doc: "QueryCoord was asked to load it, or to load it otherwise (`querycoord-collection-loadinfo/`)"},
	collectionLoaded:      {name: "collection_loaded", words: "loaded", doc: "its load status became Loaded"},
	collectionReleased:    {name: "collection_released", words: "released", doc: "its load record is gone"},
	partitionCreated:      {name: "partition_created", words: "created", doc: "a partition became Created"},
	partitionAltered:      {name: "partition_altered", words: "altered", doc: "its name or state changed"},
	partitionDropped:      {name: "partition_dropped", words: "dropped", doc: "it became Dropping, or its record is gone"},
	partitionLoaded:       {name: "partition_loaded", words: "loaded", doc: "its load status became Loaded (`querycoord-partition-loadinfo/`)"},
	partitionReleased:     {name: "partition_released", words: "released", doc: "its load record is gone"},
	replicaCreated:        {name: "replica_created", words: "created", doc: "a replica's record is new (`querycoord-replica/`)"},
	replicaChanged:        {name: "replica_changed", words: "changed", repeats: true, doc: "it has other nodes or another resource group"},
	replicaRemoved:        {name: "replica_removed", words: "removed", doc: "its record is gone"},
	groupCreated:          {name: "resource_group_created", words: "created", doc: "a resource group's record is new (`queryCoord-ResourceGroup/`)"},
	groupChanged:          {name: "resource_group_changed", words: "changed", repeats: true, doc: "it has other nodes or limits"},
	groupRemoved:          {name: "resource_group_removed", words: "removed", doc: "its record is gone"},
	configChanged:         {name: "config_changed", words: "changed", doc: "a dynamic setting was set, changed or removed (`config/`)"},
	databaseCreated:       {name: "database_created", words: "created", doc: "a database's record is new"},
	databaseAltered:       {name: "database_altered", words: "altered", doc: "its properties or state changed"},
	databaseDropped:       {name: "database_dropped", words: "dropped", doc: "its record is gone"},
	aliasCreated:          {name: "alias_created", words: "created", doc: "an alias's record is new"},
	aliasAltered:          {name: "alias_altered", words: "altered", doc: "it means another collection"},
	aliasDropped:          {name: "alias_dropped", words: "dropped", doc: "its record is gone"},
	userCreated:           {name: "user_created", words: "created", doc: "a user's record is new"},
	userChanged:           {name: "user_changed", words: "credential written again", doc: "it was rewritten; its content is secret and not compared"},
	userDropped:           {name: "user_dropped", words: "dropped", doc: "its record is gone"},
	roleCreated:           {name: "role_created", words: "created", doc: "a role's record is new"},
	roleDropped:           {name: "role_dropped", words: "dropped", doc: "its record is gone"},
	roleGranted:           {name: "role_granted", words: "granted", doc: "a user has the role"},
	roleRevoked:           {name: "role_revoked", words: "revoked", doc: "a user no longer has the role"},
	privilegeGranted:      {name: "privilege_granted", words: "granted", doc: "a role has a privilege"},
	privilegeRevoked:      {name: "privilege_revoked", words: "revoked", doc: "a role no longer has it"},
	privilegeGroupChanged: {name: "privilege_group_changed", words: "changed", doc: "a privilege group was made, changed or removed"},
	taskCreated:           {name: "task_created", words: "created", doc: "a compaction, import, analyze, stats or broadcast task is new"},
	taskChanged:           {name: "task_changed", words: "state", doc: "it has another state"},
	taskFailed:            {name: "task_failed", words: "failed", doc: "it failed"},
	taskRemoved:           {name: "task_removed", words: "removed", doc: "its record is gone"},
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

// messageMost is the length in bytes to which a message truncates a state. Before and After are not truncated.
const messageMost = 120

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
	if len(text) <= messageMost {
		return text
	}
	end := messageMost
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
