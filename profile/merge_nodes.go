package profile

import (
	"fmt"
	"strings"
)

// RoleLabel is the role of the process that a sample comes from, e.g. "querynode".
const RoleLabel = "role"

// nodeNames holds the process names in use.
type nodeNames map[string]bool

// unique returns name, with a number appended if another process has that name.
func (n nodeNames) unique(name string) string {
	own := name
	for i := 2; n[own]; i++ {
		own = fmt.Sprintf("%s (%d)", name, i)
	}
	n[own] = true
	return own
}

// labelSets returns a function that maps the label sets of a profile to indexes in the result.
func (m *Merger) labelSets(p *Profile) func(uint32) uint32 {
	to := make([]uint32, max(1, len(p.LabelSets)))
	for i := range to {
		to[i] = missing
	}
	names := map[string]string{} // for the processes of this profile
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

// labelled returns a label set with the node added if options.Nodes is set.
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
			m.note(fmt.Sprintf("several processes are called %q: one is shown as %q", name, own), 1)
		}
		names[name] = own
	}
	set = withLabel(set, NodeLabel, own)
	if _, ok := textOf(set, RoleLabel); !ok && !isLabelled && p.Origin.Role != "" {
		set = withLabel(set, RoleLabel, p.Origin.Role)
	}
	return set
}

// nodeOf returns the name of a profile's process.
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

// textOf returns the first text with a key.
func textOf(set []Label, key string) (string, bool) {
	for _, l := range set {
		if l.Key == key && !l.IsNum {
			return l.Str, true
		}
	}
	return "", false
}
