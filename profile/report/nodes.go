package report

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"kitescope/profile"
)

// NodesOptions say how processes are compared.
type NodesOptions struct {
	// Options choose the type and a filter. By is not used.
	Options
	// Level is the chance of calling noise a difference, over all that is compared within a role; 0 is 0.01.
	Level float64
	// Effect is how many percent of a node's samples a difference must be worth to be told; 0 is 2.
	Effect float64
}

// Nodes are profiles of one kind, process by process, compared within each role.
type Nodes struct {
	Type  profile.ValueType
	Roles []RoleShares
	Level float64
	// Effect is a part of the samples, 0 to 1.
	Effect float64
}

// RoleShares are the processes of one role, "querynode", in order of their names.
type RoleShares struct {
	Role  string
	Nodes []NodeShares
	// Differences are what one node does significantly more or less than the others, largest first.
	Differences []Difference
}

// Load is how busy a process is beside the others of its role.
type Load uint8

// The loads.
const (
	// LoadUnknown: there is no other, or nothing tells how long was sampled.
	LoadUnknown Load = iota
	// LoadEven: no less than a third of what the others use, and no more than three times.
	LoadEven
	// LoadLow: less than a third.
	LoadLow
	// LoadIdle: less than a tenth.
	LoadIdle
	// LoadHigh: more than three times.
	LoadHigh
)

var loadNames = [...]string{"unknown", "even", "low", "idle", "high"}

func (l Load) String() string { return loadNames[l] }

// NodeShares is what one process spends its time on.
type NodeShares struct {
	Header
	// Node is the label of the samples, or Origin.Node, or what the profile is called.
	Node string
	// Cores is the processor time per time, NaN if the duration is unknown or the type is no time.
	Cores float64
	// Others are the mean cores of the others of its role, NaN if unknown.
	Others float64
	// LoadP is the chance that nodes of equal load differ as much, corrected; NaN if unknown.
	LoadP float64
	Load  Load
	// Classes add up to the whole: by leaf, native code by library, largest first.
	Classes []Part
	// Activities are what Milvus was about, by functions on the stack, in the order of activities. They may overlap.
	Activities []Part
	// BruteForce is search by comparing with every row.
	BruteForce BruteForce
}

// Part is a part of a node's samples.
type Part struct {
	Name string
	// Events are -1, and Part, Low, High NaN, where they are unknown. Low and High are a ShareInterval.
	Value, Events   int64
	Part, Low, High float64
}

// Difference is something that a node does more or less than the others of its role.
type Difference struct {
	Node string
	// Name is of a class, an activity or a function; Kind is which of the three.
	Name, Kind string
	// Here is the node's, Others that of all others together.
	Here, Others Part
	// P is the chance of a difference as large if there were none, corrected for all that was compared.
	P       float64
	Verdict Verdict
}

// NewNodes compares the profiles of several processes within each role: how busy each is, what it spends its time on, and
// in what it differs from the others. The role is Origin.Role, else the node's name without its number. A profile
// whose samples are labelled by node (profile.NodeLabel) counts for as many processes as it has nodes; how long each was
// sampled is unknown then, unless there is one, so that shares are compared and loads are not.
//
// What differs is so in the time that was sampled. Whether it lasts, one window cannot say.
func NewNodes(ps []*profile.Profile, o NodesOptions) (*Nodes, error) {
	n := &Nodes{Level: cmp.Or(o.Level, 0.01), Effect: cmp.Or(o.Effect, 2) / 100}
	byRole := make(map[string][]*process)
	list, err := ofEach(ps)
	if err != nil {
		return nil, err
	}
	for _, p := range list {
		x, err := o.process(p)
		if err != nil {
			return nil, err
		}
		if err := sameType(&n.Type, x.Type, "compare profiles of one kind, or choose a sample type that all have"); err != nil {
			return nil, err
		}
		byRole[x.role] = append(byRole[x.role], x)
	}
	for role, list := range byRole {
		slices.SortStableFunc(list, func(a, b *process) int { return compareNames(a.Node, b.Node) })
		n.Roles = append(n.Roles, n.compare(role, list))
	}
	slices.SortFunc(n.Roles, func(a, b RoleShares) int { return cmp.Compare(a.Role, b.Role) })
	return n, nil
}

// sameType makes the type of the first profile that of all; the advice goes with one of another type.
func sameType(all *profile.ValueType, of profile.ValueType, advice string) error {
	if *all == (profile.ValueType{}) {
		*all = of
	}
	if of != *all {
		return &Mismatch{What: "one profile is of " + all.String() + ", another of " + of.String(), Advice: advice}
	}
	return nil
}

// ofEach makes one profile of each process, in the order in which they come first.
func ofEach(ps []*profile.Profile) ([]*profile.Profile, error) {
	type process struct{ role, node string }
	var list [][]*profile.Profile
	at := make(map[process]int)
	for _, whole := range ps {
		for _, p := range apart(whole) {
			key := process{p.Origin.Role, p.Origin.Node}
			i, known := at[key]
			if !known || key.node == "" {
				at[key] = len(list)
				list = append(list, []*profile.Profile{p})
				continue
			}
			list[i] = append(list[i], p)
		}
	}
	all := make([]*profile.Profile, len(list))
	for i, of := range list {
		if all[i] = of[0]; len(of) == 1 {
			continue
		}
		merged, err := profile.Merge(of, profile.MergeOptions{Compatible: true})
		if err != nil {
			return nil, mismatch(err)
		}
		if slices.ContainsFunc(of, func(p *profile.Profile) bool { return p.Duration <= 0 }) {
			merged.Duration = 0 // of a part it is not known
		}
		all[i] = merged
	}
	return all, nil
}

// apart splits a profile by the nodes that its samples are labelled with.
func apart(p *profile.Profile) []*profile.Profile {
	roles := make(map[string]string)
	var nodes []string
	bare := p.LabelOf == nil
	for i := range p.Len() {
		if p.LabelOf == nil {
			break
		}
		name := labelOf(p, i, profile.NodeLabel)
		if name == "" {
			bare = true
		} else if _, known := roles[name]; !known {
			nodes, roles[name] = append(nodes, name), labelOf(p, i, profile.RoleLabel)
		}
	}
	if len(nodes) == 0 {
		return []*profile.Profile{p}
	}
	var list []*profile.Profile
	for _, name := range nodes {
		one := *p
		if len(nodes) > 1 || bare {
			one = *p.Filter(&profile.Filter{Nodes: []string{name}})
			one.Duration = 0 // that of merged profiles is the sum of theirs
		}
		one.Origin.Role = roles[name]
		if len(nodes) == 1 && !bare {
			one.Origin.Role = cmp.Or(roles[name], p.Origin.Role)
		}
		one.Origin.Node = name
		list = append(list, &one)
	}
	return list
}

func labelOf(p *profile.Profile, sample int, key string) string {
	for _, l := range p.Labels(sample) {
		if l.Key == key && !l.IsNum {
			return l.Str
		}
	}
	return ""
}

// RoleOf is the role that the name of a node begins with: "querynode" of "querynode-7" and of "querynode2".
func RoleOf(node string) string {
	return strings.TrimRight(strings.TrimRight(node, "0123456789"), "-_. ")
}

// compareNames orders by name, and "querynode-9" before "querynode-10".
func compareNames(a, b string) int {
	x, y := RoleOf(a), RoleOf(b)
	return cmp.Or(cmp.Compare(x, y), cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// process is one profile under comparison.
type process struct {
	NodeShares
	role string
	// items are what is compared with other nodes, by kind and name.
	items map[item]events
	over  time.Duration
}

type item struct{ kind, name string }

// events are how many samples something has, by value and by number.
type events struct {
	value int64
	count float64
}

func (o *NodesOptions) process(p *profile.Profile) (*process, error) {
	x, err := o.open(&p)
	if err != nil {
		return nil, err
	}
	kind, err := p.KindOf(o.SampleIndex)
	if err != nil {
		return nil, err
	}
	x.count(p, kind)
	return x, nil
}

// open says what a profile is of, and filters it.
func (o *NodesOptions) open(p **profile.Profile) (*process, error) {
	kind, err := (*p).KindOf(o.SampleIndex)
	if err != nil {
		return nil, err
	}
	whole := *p
	if o.FoldPreempt {
		*p = (*p).FoldPreempt()
	}
	if !o.Filter.Empty() {
		*p = (*p).Filter(&o.Filter)
	}
	if o.Relative {
		whole = *p
	}
	x := &process{over: whole.Duration, items: make(map[item]events)}
	x.Header = newHeader(whole, kind)
	x.Node = cmp.Or(whole.Origin.Node, whole.Origin.Name)
	x.role = cmp.Or(whole.Origin.Role, RoleOf(x.Node))
	x.Cores, x.Others, x.LoadP = x.cores(), math.NaN(), math.NaN()
	return x, nil
}

// cores is the processor time of all samples over the time that was sampled; NaN if either is unknown.
func (h *Header) cores() float64 {
	unit, ok := map[string]float64{"nanoseconds": 1e-9, "microseconds": 1e-6, "milliseconds": 1e-3, "seconds": 1}[h.Type.Unit]
	if !ok || h.Duration <= 0 || h.Type.Type != "cpu" {
		return math.NaN()
	}
	return float64(h.Total) * unit / h.Duration.Seconds()
}

// part is a Part of all of a node's samples.
func (h *Header) part(name string, e events) Part {
	part := Part{Name: name, Value: e.value, Events: int64(math.Round(e.count))}
	if h.Samples < 0 {
		part.Events = -1
	}
	part.Part, part.Low, part.High = h.bounded(e.value)
	return part
}
