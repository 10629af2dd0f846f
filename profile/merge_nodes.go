package profile

import (
	"fmt"
	"strings"
)

// RoleLabel is the role of the process that a sample comes from: "querynode".
const RoleLabel = "role"

// nodeNames are the names of processes that were given out.
type nodeNames map[string]bool

// unique is the name, or one like it if that was given to another process.
func (n nodeNames) unique(name string) string {
	own := name
	for i := 2; n[own]; i++ {
		own = fmt.Sprintf("%s (%d)", name, i)
	}
	n[own] = true
	return own
}

// labelSets gives the index in the result of each label set of a profile.
func (m *Merger) labelSets(p *Profile) func(uint32) uint32 {
	to := make([]uint32, max(1, len(p.LabelSets)))
	for i := range to {
		to[i] = missing
	}
	names := map[string]string{} // of this profile's processes
	return func(set uint32) uint32 {
		if to[set] == missing {
			var labels []Label
			if int(set) < len(p.LabelSets) {
				labels = p.LabelSets[set]
			}
			to[set] = m.tables.labels.index(m.labelled(p, labels, names))
		}
		return to[set]
	}
}

// labelled is a label set with the node.
func (m *Merger) labelled(p *Profile, set []Label, names map[string]string) []Label {
	if !m.options.Nodes {
		if !isSorted(set) {
			set = append([]Label(nil), set...)
			sortLabels(set)
		}
		return set
	}
	name, isLabelled := textOf(set, NodeLabel)
	if !isLabelled {
		name = m.nodeOf(p)
	}
	own, ok := names[name]
	if !ok {
		own = name
		if !m.options.SameNodes {
			own = m.names.unique(name)
		}
		if own != name {
			m.note(fmt.Sprintf("several processes are called %q: one of them is %q here", name, own), 1)
		}
		names[name] = own
	}
	set = withLabel(set, NodeLabel, own)
	if _, ok := textOf(set, RoleLabel); !ok && !isLabelled && p.Origin.Role != "" {
		set = withLabel(set, RoleLabel, p.Origin.Role)
	}
	return set
}

// nodeOf is the name of the process that a profile is of.
func (m *Merger) nodeOf(p *Profile) string {
	if p.Origin.Node != "" {
		return p.Origin.Node
	}
	name := p.Origin.Name
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	for _, suffix := range []string{".gz", ".pb", ".pprof"} {
		name = strings.TrimSuffix(name, suffix)
	}
	if name == "" {
		name = fmt.Sprintf("profile %d", m.count)
	}
	return name
}

// textOf is the first text of a key.
func textOf(set []Label, key string) (string, bool) {
	for _, l := range set {
		if l.Key == key && !l.IsNum {
			return l.Str, true
		}
	}
	return "", false
}
