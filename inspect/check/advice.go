package check

import (
	"kitescope/inspect/model"
	"kitescope/paste"
)

// restartQueryCoord is the advice to do so. Proxies up to 2.3 ask it every 3 seconds who leads a shard.
func restartQueryCoord(c *model.Cluster) Hint {
	if runs := releaseOf(c); runs.known() && !runs.before(release{2, 4}) {
		return "restart QueryCoord"
	}
	return "restart QueryCoord (searches fail until it is back)"
}

// inDatabase is the pymilvus call that leads to a collection's database, "" for the default one.
func inDatabase(c *model.Cluster, x *model.Collection) Hint {
	return usingDatabase(c.DatabaseName(x.Database))
}

func usingDatabase(name string) Hint {
	if name == "default" {
		return ""
	}
	return python("db.using_database(%s); ", name)
}

// lookFor is the command that looks for files in the storage.
func lookFor(place string) paste.Command {
	if place == "" {
		place = "PLACE"
	}
	return kitescope("diagnose").Flag("--storage", place)
}

// lookForFiles is what to do where files may be missing and nobody has looked; "" if somebody has.
func lookForFiles(p *Facts) Hint {
	if p.Storage != nil {
		return ""
	}
	return advise("see whether its files are there: %s; ", lookFor(p.StoragePlace()))
}

// unwritable is why a process of a role may have ended itself, and how to see whether it is so; "" for roles that do not.
func unwritable(p *Facts, role string) Hint {
	if role != "datanode" {
		return ""
	}
	const why Hint = "; see at the end of its log why it ended: it ends itself where it cannot write to the storage (missing, read-only, full)"
	if p.Storage != nil { // somebody has looked
		return why
	}
	return advise("%s, which this sees of a folder: %s", why, lookFor(p.StoragePlace()))
}
