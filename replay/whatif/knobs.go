package whatif

import (
	"cmp"

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

// knobs gives every node its cores and read settings.
func (v *variant) knobs(c Change) {
	later := since23(v.Version)
	if later && c.Grouping == "off" {
		v.note("Milvus 2.3 and later do not read queryNode.grouping.enabled: queryNode.grouping.maxNQ of 1 turns grouping off")
	}
	var cores, cpu, read, grouping bool // changed
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
		switch c.Grouping {
		case "on":
			n.Read.Grouping = true
			if n.Read.MaxNQ <= 1 {
				n.Read.MaxNQ = schedule.Defaults(v.Version, 1).MaxNQ
			}
		case "off":
			n.Read.Grouping = false
			if later {
				n.Read.MaxNQ = 1
			}
		}
		cores, cpu = cores || n.Read.Cores != was.Cores, cpu || n.Read.CPURatio != was.CPURatio
		read, grouping = read || n.Read.ConcurrencyRatio != was.ConcurrencyRatio, grouping || n.Read.Grouping != was.Grouping || n.Read.MaxNQ != was.MaxNQ
	}
	if later && c.CPURatio > 0 {
		v.idleWord("cpu-ratio", "Milvus 2.3 and later have queryNode.scheduler.cpuRatio and do not read it")
	} else if c.CPURatio > 0 && !cpu {
		v.idleWord("cpu-ratio", "every node has it")
	}
	if c.Cores > 0 && !cores {
		v.idleWord("cores", "every node has as many")
	}
	if c.ConcurrencyRatio > 0 && !read {
		v.idleWord("read-ratio", "every node has it")
	}
	if c.Grouping != "" && !grouping {
		v.idleWord("grouping", "every node has it so")
	}
}

// since23 tells whether the release is known, and 2.3 or later.
func since23(version string) bool {
	major, minor, ok := releaseOf(version)
	return ok && (major > 2 || major == 2 && minor >= 3)
}
