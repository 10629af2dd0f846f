package rules_test

import (
	"slices"
	"testing"

	"kitescope/inspect/check"
	"kitescope/inspect/check/faulttest"
	"kitescope/inspect/check/rules"
	"kitescope/inspect/model"
)

// removal removes some facts from a cluster, as if they could not be read.
type removal struct {
	name string
	// parts and needs are the declarations of the checks that read these facts. Both are 0 if no single need
	// covers the facts.
	parts model.Part
	needs check.Need
	// node and role identify the session whose facts are missing. They are "" for a fact of the whole cluster.
	node, role string
	// shared reports whether another session of the same process also reports its memory.
	shared bool
	take   func(*model.Cluster) *model.Cluster
}

// unseenNotOK removes facts from a case, one after the other. A check with a finding on the complete case
// may still have it or be skipped without the facts, but must not be ok.
func unseenNotOK() property {
	tried := make(map[string]int)
	return property{"nothing is well unseen", func(t *testing.T, c *faulttest.Case, r *check.Report) {
		t.Helper()
		wanted := slices.DeleteFunc(wantedChecks(c), func(x *check.Check) bool { return tried[x.ID] >= 2 })
		if len(wanted) == 0 {
			return
		}
		for _, x := range wanted {
			tried[x.ID]++
		}
		for _, take := range removals(r.Cluster) {
			for _, result := range check.Run(take.take(r.Cluster), r.Now, wanted).Results {
				if result.Status == check.OK && !reportedElsewhere(result.Check.ID, take) {
					t.Errorf("without %s: %s is ok", take.name, result.Check.ID)
				}
			}
		}
	}, func(t *testing.T) {
		t.Helper()
		for _, x := range rules.All() {
			if tried[x.ID] == 0 {
				t.Errorf("%s: no case finds it", x.ID)
			}
		}
	}}
}

// wantedChecks returns the checks for which a case expects a finding.
func wantedChecks(c *faulttest.Case) []*check.Check {
	return slices.DeleteFunc(slices.Clone(rules.All()), func(x *check.Check) bool {
		return !slices.ContainsFunc(c.Want, func(w faulttest.Want) bool { return w.Check == x.ID })
	})
}

// removals returns all facts that can be removed from a cluster: each part of its metadata, each response of
// each process.
func removals(c *model.Cluster) []removal {
	list := []removal{
		{name: "etcd's word", needs: check.NeedEtcd, take: edited(func(p *model.Parts) { p.Etcd = nil })},
		{name: "storage", needs: check.NeedStorage, take: edited(func(p *model.Parts) { p.Storage = nil })},
		{name: "profiles", needs: check.NeedProfiles, take: edited(func(p *model.Parts) { p.Profiles = nil })},
	}
	list = append(list, profileRemovals(c)...)
	for _, part := range partNames() {
		list = append(list, removal{name: part.name, parts: part.part, take: edited(func(p *model.Parts) {
			p.Loaded &^= part.part
			part.take(p)
		})})
	}
	if c.Runtime == nil {
		return list
	}
	list = append(list, removal{
		name: "all answers", take: func(c *model.Cluster) *model.Cluster { return c.WithRuntime(nil) },
	})
	for _, a := range responses() {
		list = append(list, removal{name: a.name, needs: a.needs, take: editedRuntime(a.take)})
	}
	for _, n := range c.Runtime.Nodes {
		for _, f := range sessionFacts() {
			if !f.had(n) {
				continue
			}
			needs := f.needs
			if needs == 0 { // all facts of the session
				for _, other := range sessionFacts() {
					if other.needs&check.NeedMetrics == 0 && other.had(n) {
						needs |= other.needs
					}
				}
			}
			list = append(list, removal{
				name: f.name + " of " + n.Name(), needs: needs, node: n.Name(), role: n.Role,
				shared: sharesMemory(c.Runtime, n), take: editedRuntime(func(p *model.RuntimeParts) {
					for _, x := range p.Nodes {
						if x.Role == n.Role && x.Node == n.Node {
							f.take(p, x)
						}
					}
				}),
			})
		}
	}
	return list
}

// profileRemovals returns removals of a CPU profile or the goroutine profiles of one process.
func profileRemovals(c *model.Cluster) []removal {
	if c.Profiles == nil {
		return nil
	}
	var list []removal
	for i, x := range c.Profiles.Processes {
		for name, take := range map[string]func(*model.ProfiledProcess){
			"CPU profile":        func(x *model.ProfiledProcess) { x.CPU, x.CPUReason = nil, "timed out" },
			"goroutine profiles": func(x *model.ProfiledProcess) { x.Goroutines, x.GoroutineReason = nil, "timed out" },
		} {
			list = append(list, removal{name: name + " of " + x.Name, take: edited(func(p *model.Parts) {
				profiles, y := *p.Profiles, *x
				take(&y)
				profiles.Processes = slices.Clone(profiles.Processes)
				profiles.Processes[i] = &y
				p.Profiles = &profiles
			})})
		}
	}
	return list
}

// edited returns a function that changes the metadata and keeps the responses of processes.
func edited(change func(*model.Parts)) func(*model.Cluster) *model.Cluster {
	return func(c *model.Cluster) *model.Cluster {
		p := c.Parts
		p.Loaded &^= model.PartRuntime
		p.Runtime = nil
		change(&p)
		next := model.Build(p)
		if c.Runtime != nil {
			next = next.WithRuntime(c.Runtime)
		}
		return next
	}
}

// editedRuntime returns a function that changes the responses of processes.
func editedRuntime(change func(*model.RuntimeParts)) func(*model.Cluster) *model.Cluster {
	return func(c *model.Cluster) *model.Cluster {
		p := c.Runtime.RuntimeParts
		processes := make(map[*model.Process]*model.Process)
		p.Processes = slices.Clone(p.Processes)
		for i, x := range p.Processes {
			y := *x
			p.Processes[i], processes[x] = &y, &y
		}
		p.Nodes = slices.Clone(p.Nodes)
		for i, n := range p.Nodes {
			y := *n
			y.Calls = slices.Clone(n.Calls)
			if n.Process != nil {
				y.Process = processes[n.Process]
			}
			p.Nodes[i] = &y
		}
		change(&p)
		return c.WithRuntime(model.BuildRuntime(p))
	}
}

// partNames returns the parts of the metadata, with the data that a decoder omits if it may not read the part.
func partNames() []struct {
	name string
	part model.Part
	take func(*model.Parts)
} {
	type named = struct {
		name string
		part model.Part
		take func(*model.Parts)
	}
	segments := func(change func(*model.Segment)) func(*model.Parts) {
		return func(p *model.Parts) {
			for _, list := range []*[]*model.Segment{&p.Segments, &p.Orphans} {
				*list = slices.Clone(*list)
				for i, s := range *list {
					y := *s
					change(&y)
					(*list)[i] = &y
				}
			}
		}
	}
	return []named{
		{
			"objects", model.PartObjects,
			func(p *model.Parts) { p.Databases, p.Collections, p.Partitions, p.Aliases = nil, nil, nil, nil },
		},
		{"index definitions", model.PartIndexes, func(p *model.Parts) { p.Indexes = nil }},
		{
			"load states", model.PartServing,
			func(p *model.Parts) { p.LoadStates, p.Replicas, p.ResourceGroups, p.Streaming = nil, nil, nil, nil },
		},
		{"sessions", model.PartSessions, func(p *model.Parts) { p.Sessions = nil }},
		{"channels", model.PartChannels, func(p *model.Parts) {
			p.PChannels, p.Targets = nil, nil
			p.VChannels = slices.Clone(p.VChannels)
			for i, v := range p.VChannels {
				p.VChannels[i] = &model.VChannel{
					Name: v.Name, PChannel: v.PChannel, Collection: v.Collection, Shard: v.Shard,
				}
			}
		}},
		{"segments", model.PartSegments, func(p *model.Parts) { p.Segments, p.Orphans = nil, nil }},
		{
			"logs", model.PartLogs,
			segments(func(s *model.Segment) { s.Logs, s.Bytes, s.DeletedRows, s.LogKeys = nil, 0, 0, false }),
		},
		{"index files", model.PartSegmentIndexes, segments(func(s *model.Segment) {
			s.Indexes, s.IndexBytes = nil,
				0
		})},
		{
			"users", model.PartUsers,
			func(p *model.Parts) { p.Users, p.Roles, p.Grants, p.PrivilegeGroups = nil, nil, nil, nil },
		},
		{"dynamic keys", model.PartConfig, func(p *model.Parts) { p.Config = nil }},
		{"tasks", model.PartTasks, func(p *model.Parts) { p.Tasks, p.PartitionStats, p.Snapshots = nil, nil, nil }},
		{"history", model.PartHistory, func(p *model.Parts) { p.History = nil }},
		{"the rest", model.PartRest, func(p *model.Parts) { p.Allocators, p.Undecoded, p.KeysByKind = nil, nil, nil }},
	}
}

// responses returns the responses of coordinators and the queue, each with a change that removes it.
func responses() []struct {
	name  string
	needs check.Need
	take  func(*model.RuntimeParts)
} {
	type answer = struct {
		name  string
		needs check.Need
		take  func(*model.RuntimeParts)
	}
	return []answer{
		{"QueryCoord's replicas", 0, func(p *model.RuntimeParts) { p.Replicas = nil }},
		{"QueryCoord's shard leaders", 0, func(p *model.RuntimeParts) { p.ShardLeaders = nil }},
		{"QueryCoord's collections", 0, func(p *model.RuntimeParts) { p.Loaded = nil }},
		{"QueryCoord's resource groups", 0, func(p *model.RuntimeParts) { p.Groups = nil }},
		{"QueryCoord's checkers", 0, func(p *model.RuntimeParts) { p.Checkers, p.BalanceActive = nil, nil }},
		{"who is suspended", 0, func(p *model.RuntimeParts) {
			p.QueryNodeStates, p.StreamingNodeStates, p.StreamingBalance = nil, nil, nil
		}},
		{"what QueryCoord has", check.NeedQueryCoord, func(p *model.RuntimeParts) {
			p.Replicas, p.ShardLeaders, p.Loaded, p.Groups, p.Checkers, p.BalanceActive = nil, nil, nil, nil, nil, nil
			p.QueryNodeStates = nil
		}},
		{"DataCoord's recovery", check.NeedRecovery, func(p *model.RuntimeParts) { p.Recovery = nil }},
		{"DataCoord's segments", 0, func(p *model.RuntimeParts) { p.DataSegments = nil }},
		{"the queue's offsets", check.NeedQueue, func(p *model.RuntimeParts) { p.Queue = nil }},
	}
}

// sessionFacts returns the facts that single sessions report.
func sessionFacts() []struct {
	name  string
	needs check.Need
	had   func(*model.LiveNode) bool
	take  func(*model.RuntimeParts, *model.LiveNode)
} {
	type fact = struct {
		name  string
		needs check.Need
		had   func(*model.LiveNode) bool
		take  func(*model.RuntimeParts, *model.LiveNode)
	}
	late := func(n *model.LiveNode, method string) {
		for i := range n.Calls {
			if n.Calls[i].Method == method {
				n.Calls[i].Outcome, n.Calls[i].Reason = model.TimedOut, "no response within 5 s"
			}
		}
	}
	silence := func(_ *model.RuntimeParts, n *model.LiveNode) {
		n.Outcome, n.Reason, n.State = model.TimedOut, "no response within 5 s", ""
		n.Distribution, n.System, n.Config = nil, nil, nil
		for i := range n.Calls {
			n.Calls[i].Outcome, n.Calls[i].Reason = model.TimedOut, "no response within 5 s"
		}
	}
	return []fact{
		{
			"what is served", check.NeedDistribution, func(n *model.LiveNode) bool { return n.Distribution != nil },
			func(_ *model.RuntimeParts, n *model.LiveNode) {
				n.Distribution = nil
				late(n, "GetDataDistribution")
			},
		},
		{
			"CPU and memory", check.NeedSystem, func(n *model.LiveNode) bool { return n.System != nil },
			func(_ *model.RuntimeParts, n *model.LiveNode) {
				n.System = nil
				late(n, "GetMetrics")
			},
		},
		{
			"configuration", check.NeedConfig, func(n *model.LiveNode) bool { return n.Config != nil },
			func(_ *model.RuntimeParts, n *model.LiveNode) {
				n.Config = nil
				late(n, "ShowConfigurations")
			},
		},
		{
			"metrics", check.NeedMetrics,
			func(n *model.LiveNode) bool { return n.Process != nil && n.Process.Metrics != nil },
			func(_ *model.RuntimeParts, n *model.LiveNode) {
				n.Process.Metrics, n.Process.Before = nil, nil
				n.Process.Outcome, n.Process.Reason = model.Refused, "connection refused"
			},
		},
		{"every word but metrics", 0, func(n *model.LiveNode) bool { return n.Outcome == model.Answered }, silence},
	}
}

func sharesMemory(r *model.Runtime, n *model.LiveNode) bool {
	return slices.ContainsFunc(r.Nodes, func(x *model.LiveNode) bool {
		return x != n && x.Address == n.Address && x.System != nil
	})
}

// reportedElsewhere reports whether a check has another source for the removed facts, and may therefore have
// another result.
func reportedElsewhere(id string, r removal) bool {
	switch id {
	case "node-idle":
		return r.needs&check.NeedDistribution != 0 // the node's metrics report its segments and rows
	case "memory-pressure":
		return r.shared
	}
	return false
}

// TestOKOnlyIfAllSeen checks that a check is not ok without a fact that it declares to read. It removes one
// fact after the other from a healthy cluster with complete data.
func TestOKOnlyIfAllSeen(t *testing.T) {
	library, err := faulttest.OpenLibrary(faultFolder, snapshotFolder)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(library.Cases, func(c *faulttest.Case) bool { return c.Name == "healthy-all-facts" })
	b, err := library.Base(t.Context(), library.Cases[i].Base)
	if err != nil {
		t.Fatal(err)
	}
	r, err := library.Cases[i].Play(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	var well []*check.Check
	for _, result := range r.Results {
		switch result.Status {
		case check.OK:
			well = append(well, result.Check)
		case check.Skipped, check.Broken:
			t.Errorf("%s is %s: %s", result.Check.ID, result.Status, result.Reason)
		case check.Found:
		}
	}
	for _, take := range removals(r.Cluster) {
		owed := slices.DeleteFunc(slices.Clone(well), func(x *check.Check) bool {
			return x.Parts&take.parts == 0 && (x.Needs&take.needs == 0 || !readsOf(x.ID, take.role))
		})
		for _, result := range check.Run(take.take(r.Cluster), r.Now, owed).Results {
			if result.Status == check.OK && !reportedElsewhere(result.Check.ID, take) {
				t.Errorf("without %s: %s is ok", take.name, result.Check.ID)
			}
		}
	}
}

// readsOf reports whether a check that needs responses of processes reads those of a role. Checks that are not
// listed read them from all roles.
func readsOf(id, role string) bool {
	roles := map[string][]string{
		"imbalance-memory": {"querynode"},
		"timetick-lag":     {"querynode", "datanode"},
	}[id]
	return roles == nil || role == "" || slices.Contains(roles, role)
}
