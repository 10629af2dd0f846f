package model

// Ref identifies an object by resource and an id that is stable across refreshes.
//
// ID is the object's own id if that is unique in the cluster (databases, collections, partitions, segments,
// indexes, replicas) or its name (vchannels, pchannels, resource-groups, users, roles, privilege-groups,
// config, keys). Other ids are joined with slashes: "collection/field" for fields, "database/name" for aliases,
// "segment/index/build" for segment-indexes, "role-id" for nodes, "collection" for load-states, "type/id" for
// tasks, "collection/partition/vchannel/version" for partition-stats, the name of the vchannel for targets, the
// relative key for history, "role/type/database/object/privilege" for grants, "key: reason" for undecoded.
type Ref struct {
	Resource string // plural, as in "kitescope get segments"
	ID       string // "470590760626297685"
	// Name is a display name and may be empty.
	Name string
}
