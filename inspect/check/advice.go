package check

import (
	"cmp"

	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/paste"
)

// RestartQueryCoord is the advice to do so. Proxies up to 2.3 ask it every 3 seconds who leads a shard.
func RestartQueryCoord(c *model.Cluster) Hint {
	if runs := facts.ReleaseOf(c); runs.Known() && !runs.Before(facts.Release{Major: 2, Minor: 4}) {
		return "restart QueryCoord"
	}
	return "restart QueryCoord (searches fail until it is back)"
}

// Reload releases a collection and loads it again, as it was loaded: with as many replicas, and no other partitions. Searches of it fail meanwhile,
// as the step should say.
func Reload(c *model.Cluster, x *model.Collection) Step {
	return Pymilvus(c, x.Database, "c = Collection(%s)\nc.release()\nc.%s", x.Name, LoadCall(c, x))
}

// InDatabase is the pymilvus call that leads to a collection's database, "" for the default one.
func InDatabase(c *model.Cluster, x *model.Collection) Hint {
	return UsingDatabase(c.DatabaseName(x.Database))
}

// UsingDatabase is InDatabase of a database by its name.
func UsingDatabase(name string) Hint {
	if name == "default" {
		return ""
	}
	return Python("db.using_database(%s); ", name)
}

// LookFor is the command that looks for files in the storage.
func LookFor(place string) paste.Command {
	place = cmp.Or(place, "PLACE")
	return Kitescope("diagnose").Flag("--storage", place)
}

// PullProfile is the command that profiles a process: at its own address where that is known, else all processes.
func PullProfile(n *model.LiveNode) paste.Command {
	pull := Kitescope("profile pull")
	if n.Process != nil && n.Process.Address != "" {
		pull = pull.Arg(n.Process.Address)
	}
	return pull
}

// LookForFiles is what to do where files may be missing and nobody has looked; "" if somebody has.
func LookForFiles(p *facts.Facts) Hint {
	if p.Storage != nil {
		return ""
	}
	return Advise("check that its files are there: %s; ", LookFor(p.OwnStorage().Place))
}

// FindFiles is LookForFiles as a step, an empty one if somebody has looked.
func FindFiles(p *facts.Facts) Step {
	if p.Storage != nil {
		return Step{}
	}
	return Shell(LookFor(p.OwnStorage().Place)).Does("lists files that are missing from the storage")
}

// Unwritable is why a process of a role may have ended itself, and how to see whether it is so; nothing for roles that do not.
func Unwritable(p *facts.Facts, role string) []Step {
	if role != "datanode" {
		return nil
	}
	steps := []Step{Do("read the end of its log: a data node exits when it cannot write to the storage (missing, read-only, full)")}
	if p.Storage == nil { // nobody has looked
		steps = append(steps, Shell(LookFor(p.OwnStorage().Place)).Does("checks whether the storage is there and can be written, if it is a local folder"))
	}
	return steps
}
