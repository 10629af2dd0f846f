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
