package check

import "kitescope/paste"

// lookFor is the command that looks for files in the storage.
func lookFor(place string) paste.Command {
	if place == "" {
		place = "PLACE"
	}
	return kitescope("diagnose").Flag("--storage", place)
}

// lookForFiles is what to do where files may be missing and nobody has looked; "" if somebody has.
func (p *Pass) lookForFiles() Hint {
	if p.Storage != nil {
		return ""
	}
	return advise("see whether its files are there: %s; ", lookFor(p.StoragePlace()))
}

// ownStorage reports whether the place that was looked into is the cluster's own.
func (p *Pass) ownStorage() bool { return p.OwnStorage(p.Storage.Location, p.Storage.Here) }

// unwritable is why a process of a role may have ended itself, and how to see whether it is so; "" for roles that do not.
func (p *Pass) unwritable(role string) Hint {
	if role != "datanode" {
		return ""
	}
	const why Hint = "; see at the end of its log why it ended: it ends itself where it cannot write to the storage (missing, read-only, full)"
	if p.Storage != nil { // somebody has looked
		return why
	}
	return advise("%s, which this sees of a folder: %s", why, lookFor(p.StoragePlace()))
}
