package check

import (
	"cmp"

	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/shellquote"
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

// Flush flushes a collection, with a sentence on what that does. Where no node consumes one of its channels, no command does: a flush waits forever.
func Flush(c *model.Cluster, x *model.Collection, does ours, args ...any) Step {
	if !facts.Consumed(c, x.ID) {
		return Do("flush %s once a node consumes its channels: until then a flush waits forever", x.Name)
	}
	return Pymilvus(c, x.Database, "Collection(%s).flush()", x.Name).Does(does, args...)
}

// LookFor is the command that looks for files in the storage.
func LookFor(place string) shellquote.Command {
	place = cmp.Or(place, "PLACE")
	return Kitescope("diagnose").Flag("--storage", place)
}

// TopOf is the command that profiles a process and prints its functions: at its own address where that is known, else those of all processes.
func TopOf(n *model.LiveNode) shellquote.Command {
	top := Kitescope("profile top")
	if n.Process != nil && n.Process.Address != "" {
		top = top.Arg("http://" + n.Process.Address) // without the scheme it is the name of a file
	}
	return top
}

// FindFiles looks for files that may be missing, an empty step if the storage was examined.
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
