package check

import (
	"cmp"
	"time"

	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/shellquote"
)

// Restarting marks a step that restarts a process of a role. It adds the work that the restart interrupts,
// and within as the time after which the finding should be gone.
func (s Step) Restarting(c *model.Cluster, within time.Duration, role string) Step {
	switch role {
	case "rootcoord", "mixcoord":
		return s.Interrupting(within, "all requests until it is back")
	case "datacoord":
		return s.Interrupting(within, "inserts, flushes and index builds until it is back")
	case "querycoord":
		// Proxies up to 2.3 query QueryCoord every 3 seconds for the shard leaders.
		if runs := facts.ReleaseOf(c); runs.Known() && !runs.Before(facts.Release{Major: 2, Minor: 4}) {
			return s.Interrupting(within, "loads and balancing until it is back")
		}
		return s.Interrupting(within, "searches until it is back")
	case "querynode":
		return s.Interrupting(within, "searches of data that only it serves, until it is loaded again")
	case "datanode":
		return s.Interrupting(within, "flushes of its channels until it is back, or another node has them")
	case "streamingnode":
		return s.Interrupting(within, "writes to its channels until it is back, or another node has them")
	case "indexnode":
		return s.Interrupting(within, "its index builds, which start over")
	case "proxy":
		return s.Interrupting(within, "its clients until it is back")
	}
	return s.Interrupting(within, "its work until it is back")
}

// Reload returns a step that releases a collection and loads it again with the same replicas and partitions.
func Reload(c *model.Cluster, x *model.Collection) Step {
	return Pymilvus(c, x.Database, "c = Collection(%s)\nc.release()\nc.%s", x.Name, LoadCall(c, x)).
		Interrupting(5*time.Minute, "searches of %s until it is loaded again", x.Name)
}

// Flush returns a step that flushes a collection, with text as its text. If no node consumes one of its
// channels, the step has no command because the flush would wait forever.
func Flush(c *model.Cluster, x *model.Collection, within time.Duration, text stringConstant, args ...any) Step {
	if !facts.Consumed(c, x.ID) {
		return Do("flush %s once a node consumes its channels: until then a flush waits forever", x.Name).
			Interrupting(0, "nothing")
	}
	return Pymilvus(c, x.Database, "Collection(%s).flush()", x.Name).Does(text, args...).Interrupting(within, "nothing")
}

// LookFor returns the command that looks for files in the storage at place.
func LookFor(place string) shellquote.Command {
	place = cmp.Or(place, "PLACE")
	return Kitescope("diagnose").Flag("--storage", place)
}

// TopCommand returns the command that profiles a process and prints its top functions. If the address of the
// process is unknown, the command profiles all processes.
func TopCommand(n *model.LiveNode) shellquote.Command {
	top := Kitescope("profile top")
	if n.Process != nil && n.Process.Address != "" {
		top = top.Arg("http://" + n.Process.Address) // without the scheme it would be a file name
	}
	return top
}

// FindFiles returns a step that looks for missing files. The step is empty if the storage was examined.
func FindFiles(p *facts.Facts) Step {
	if p.Storage != nil {
		return Step{}
	}
	return Shell(LookFor(p.ConfiguredStorage().Place)).Does("lists files that are missing from the storage")
}

// UnwritableStorageSteps returns steps to find out whether a process of a role exited because the storage is not
// writable. It returns nil for roles that do not exit then.
func UnwritableStorageSteps(p *facts.Facts, role string) []Step {
	if role != "datanode" {
		return nil
	}
	steps := []Step{
		Do("read the end of its log: a data node exits when it cannot write to the storage (missing, read-only, full)"),
	}
	if p.Storage == nil { // the storage was not examined
		steps = append(steps, Shell(LookFor(p.ConfiguredStorage().Place)).
			Does("checks whether the storage exists and is writable, if it is a local folder"))
	}
	return steps
}
