package whatif

import (
	"cmp"
	"fmt"

	"kitescope/replay"
	"kitescope/replay/schedule"
)

// settings are a node's, or the release's defaults where it has none. Cores are 0 where nobody tells.
func settings(version string, n *replay.Node) schedule.Knobs {
	cores := cmp.Or(max(0, n.Read.Cores), max(0, n.Cores))
	if n.Read.ConcurrencyRatio == 0 && n.Read.MaxNQ == 0 {
		return schedule.Defaults(version, cores)
	}
	read := n.Read
	read.Cores = cores
	return read
}

// knobs gives every node its cores and read settings. What changes is what a node does by them, not what is written: a setting that is rounded or
// bounded away changes nothing.
func (v *variant) knobs(c Change) {
	later := since23(v.Version)
	if later && c.Grouping == "off" {
		v.note("Milvus 2.3 and later do not read queryNode.grouping.enabled: queryNode.grouping.maxNQ of 1 turns grouping off")
	}
	var d turned
	for i := range v.Nodes {
		n := &v.Nodes[i]
		n.Read = settings(v.Version, n)
		was := n.Read
		if c.Cores > 0 {
			n.Cores, n.Read.Cores = c.Cores, c.Cores
		}
		if c.CPURatio > 0 && !later {
			n.Read.CPURatio = c.CPURatio
		}
		if c.ConcurrencyRatio > 0 {
			n.Read.ConcurrencyRatio = c.ConcurrencyRatio
		}
		v.group(&n.Read, c.Grouping)
		d.add(was, n.Read)
	}
	if later && c.CPURatio > 0 {
		v.idleWord("cpu-ratio", "Milvus 2.3 and later have queryNode.scheduler.cpuRatio and do not read it")
	} else if c.CPURatio > 0 && !d.cpu {
		why := "every node has it already"
		if d.cpuWritten {
			why = "every read is assumed to need all cores of its node either way"
		}
		v.idleWord("cpu-ratio", why)
	}
	if c.Cores > 0 && !d.cores {
		why := "every node has that many already"
		if d.mute > 0 {
			why = fmt.Sprintf("%d of %d nodes do not report theirs, and %d are already assumed for them", d.mute, len(v.Nodes), assumedCores)
		}
		v.idleWord("cores", why)
	}
	if c.ConcurrencyRatio > 0 && !d.read {
		why := "every node has it already"
		if d.readWritten {
			why = "every node runs the same number of reads at once either way"
		}
		v.idleWord("read-ratio", why)
	}
	if c.Grouping != "" && !d.grouping {
		v.idleWord("grouping", "every node has that value already")
	}
}

// turned is what a change of settings did, of any node.
type turned struct {
	cores, cpu, read, grouping bool
	cpuWritten, readWritten    bool // the ratio is another, whatever it does
	mute                       int  // nodes that do not tell their cores
}

// add compares a node's settings. The ratios are weighed at the cores that it has then.
func (d *turned) add(was, now schedule.Knobs) {
	if was.Cores == 0 {
		d.mute++
	}
	before := cmp.Or(was.Cores, assumedCores)
	now.Cores = cmp.Or(now.Cores, assumedCores)
	was.Cores = now.Cores
	d.cores = d.cores || before != now.Cores
	d.cpuWritten, d.readWritten = d.cpuWritten || now.CPURatio != was.CPURatio, d.readWritten || now.ConcurrencyRatio != was.ConcurrencyRatio
	d.cpu = d.cpu || now.CPURatio != was.CPURatio && (scales(&was) || scales(&now))
	d.read, d.grouping = d.read || now.Concurrency() != was.Concurrency(), d.grouping || groups(&now) != groups(&was)
}

// group turns the merging of reads on or off.
func (v *variant) group(k *schedule.Knobs, to string) {
	switch to {
	case "on":
		k.Grouping = true
		if k.MaxNQ <= 1 {
			k.MaxNQ = schedule.Defaults(v.Version, 1).MaxNQ
		}
	case "off":
		k.Grouping = false
		if since23(v.Version) {
			k.MaxNQ = 1
		}
	}
}

// groups reports whether reads are merged.
func groups(k *schedule.Knobs) bool { return k.Grouping && k.MaxNQ > 1 }

// scales reports whether the CPU that 2.1 and 2.2 estimate follows the ratio: a ratio that makes the least read need all cores makes every read so.
func scales(k *schedule.Knobs) bool { return k.CPURatio <= 0 || k.Estimate(1, 1) < k.Cores }

// since23 reports whether the release is known, and 2.3 or later.
func since23(version string) bool {
	major, minor, ok := releaseOf(version)
	return ok && (major > 2 || major == 2 && minor >= 3)
}
