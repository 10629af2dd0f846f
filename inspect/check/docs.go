package check

import (
	"path"
	"slices"
)

// Find returns the check with an id, or nil.
func Find(checks []*Check, id string) *Check {
	for _, x := range checks {
		if x.ID == id {
			return x
		}
	}
	return nil
}

// IDs returns the ids of checks.
func IDs(checks []*Check) []string {
	ids := make([]string, len(checks))
	for i, x := range checks {
		ids[i] = x.ID
	}
	return ids
}

// Reads returns the names of the data that a check reads: parts of the metadata, and data from the processes.
func (x *Check) Reads() []string {
	var words []string
	for i, name := range partNames {
		if x.Parts&(1<<i) != 0 {
			words = append(words, name)
		}
	}
	for i, name := range needNames {
		if x.Needs&(1<<i) != 0 {
			words = append(words, name)
		}
	}
	return words
}

// Live reports whether the check needs more than metadata.
func (x *Check) Live() bool { return x.Needs != 0 }

// partNames holds the names of model's parts, in their order.
var partNames = [...]string{
	"metadata of collections", "index definitions", "load states and replicas", "sessions", "channels and checkpoints",
	"segments", "logs of segments", "index files of segments", "users and roles", "dynamic configuration in etcd",
	"background tasks", "older values", "all other keys",
}

// needNames holds the names of the needs, in their order.
var needNames = [...]string{
	"distribution of query nodes", "recovery info of DataCoord", "load state of QueryCoord",
	"configuration of processes", "metrics of processes", "CPU and memory of processes",
	"offsets of the message queue", "responses of processes", "health of etcd", "profiles of processes",
	"responses or metrics of processes", "files in storage",
}

// Causes returns the checks in among whose findings may explain those of x, and the checks whose findings x
// may explain.
func Causes(x *Check, among []*Check) (causes, effects []*Check) {
	follows := func(effect, cause *Check) bool {
		for _, c := range effect.FollowsFrom {
			if c.Check == cause.ID {
				return true
			}
		}
		return len(effect.Roles) > 0 && slices.Contains(missingRoleChecks(), cause.ID) && effect != cause
	}
	for _, y := range among {
		if follows(x, y) {
			causes = append(causes, y)
		}
		if follows(y, x) {
			effects = append(effects, y)
		}
	}
	return causes, effects
}

// Choose returns the checks selected by id: those in only (or all, if it is empty), without those in skip. An
// id may be a pattern of path.Match: "orphan-*". If an id matches no check, Choose returns it as unknown,
// without checks.
func Choose(all []*Check, only, skip []string) (checks []*Check, unknown string) {
	known := IDs(all)
	for _, id := range slices.Concat(only, skip) {
		if !slices.ContainsFunc(known, func(x string) bool { return matches(x, id) }) {
			return nil, id
		}
	}
	named := func(ids []string, x *Check) bool {
		return slices.ContainsFunc(ids, func(id string) bool { return matches(x.ID, id) })
	}
	for _, x := range all {
		if (len(only) == 0 || named(only, x)) && !named(skip, x) {
			checks = append(checks, x)
		}
	}
	return checks, ""
}

func matches(id, pattern string) bool {
	ok, err := path.Match(pattern, id)
	return ok && err == nil
}
