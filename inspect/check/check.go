// Package check runs checks on a cluster. It takes a model.Cluster (metadata, and data from the processes if they were
// queried) and returns a Report: the result of each check, the findings, the impact on clients (package impact) and
// the places where their requests break (package place).
//
//  1. A Check is a value that declares the data it needs, with a function that looks for problems. Package rules lists
//     the checks of the diagnosis, package preflight those of an upgrade.
//  2. Run gives each check a Pass with the facts and a method to report findings. A check whose facts were not read is
//     skipped, with the reason, and a check that panics has failed. Both are never reported as "ok".
//  3. A Check names the checks whose findings may be its cause (FollowsFrom). The cause of failing or slow requests is
//     the finding about the component where they break (felt.go).
//  4. Findings are sorted by client impact, severity and cost, each before those that follow from it. Tree nests them.
//  5. Finding.Fix is a list of Steps: commands or instructions, each with its effect on the cluster (fix.go).
//  6. A Judge runs the checks repeatedly and reuses the facts about unchanged objects.
//  7. A Hold delays findings that flap; a Baseline removes accepted ones; Since compares two reports.
package check

import (
	"slices"
	"time"

	"kitescope/inspect/check/facts"
	"kitescope/inspect/impact"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
)

// Severity is the severity of a finding.
type Severity uint8

// The severities.
const (
	Info Severity = iota
	Warning
	Error
)

func (s Severity) String() string {
	return [...]string{"info", "warning", "error"}[min(s, Error)]
}

// Need is a set of data from outside the metadata that a check requires.
type Need uint16

// The needs. Each is met if at least one process reported the data. Missing data of the other processes is
// noted in Pass.NoteUnseen.
const (
	// NeedDistribution: query nodes reported the segments that they serve.
	NeedDistribution Need = 1 << iota
	// NeedRecovery: DataCoord reported the segments that should be served.
	NeedRecovery
	// NeedQueryCoord: QueryCoord reported the loaded collections and the shard leaders.
	NeedQueryCoord
	// NeedConfig: processes reported their configuration.
	NeedConfig
	// NeedMetrics: processes reported their metrics.
	NeedMetrics
	// NeedSystem: processes reported CPU and memory (GetMetrics).
	NeedSystem
	// NeedQueue: the message queue reported its offsets.
	NeedQueue
	// NeedResponses: processes were queried, with any outcome.
	NeedResponses
	// NeedEtcd: etcd was queried for its health.
	NeedEtcd
	// NeedProfiles: processes were profiled. The check itself decides which kinds of profiles it requires.
	NeedProfiles
	// NeedProcesses: processes were queried. The check itself decides which of several responses suffice, and
	// skips if there are none.
	NeedProcesses
	// NeedStorage: the storage was examined.
	NeedStorage
)

// Check looks for one kind of problem in a cluster.
type Check struct {
	// ID is short and never changes: "growing-flushed".
	ID string
	// Title names the problem: "Flushed segment is still served as growing".
	Title string
	// Doc describes the data that the check reads, what is a finding and what is not, and why it matters.
	// Remedy describes how to fix the problem. Both are Markdown.
	Doc, Remedy string
	// Symptoms lists the symptoms that users notice.
	Symptoms []string
	// Starts lists the events that start the problem, in the syntax of ParseStarts.
	Starts string
	// Severity is the highest severity of its findings.
	Severity Severity
	// Parts and Needs are the data that the check reads.
	Parts model.Part
	Needs Need
	// Whole is set for checks that judge missing records: they are skipped if the source is a damaged file.
	Whole bool
	// Requests lists the roles whose metrics the check needs to break down latencies; it is skipped if there
	// were no requests.
	Requests []string
	// Slowness is set for checks that judge how slow or late something was for a while. One window is not
	// enough to be sure. Checks with Requests count as such too.
	Slowness bool
	// Run looks for the problem and reports findings.
	Run func(*Pass)
	// Roles lists the roles whose work prevents the problem. A finding without a closer cause follows from a
	// finding that no process does this work.
	Roles []string
	// FollowsFrom lists the checks whose findings may be the cause.
	FollowsFrom []Cause
	// Phases lists the phases of a request that the problem slows down.
	Phases []latency.Name
}

// Filter returns a copy of x that reports only the findings that keep selects.
func (x *Check) Filter(keep func(*Finding) bool) *Check {
	filtered := *x
	filtered.Run = func(p *Pass) {
		x.Run(p)
		p.result.Findings = slices.DeleteFunc(p.result.Findings, func(f *Finding) bool { return !keep(f) })
	}
	return &filtered
}

// Cause is a rule for when a finding follows from a finding of another check.
type Cause struct {
	Check string
	// Applies reports whether effect follows from cause; nil means always.
	Applies func(c *model.Cluster, effect, cause *Finding) bool
}

// CausedBy returns the causes for several checks with one rule; nil means always.
func CausedBy(applies func(c *model.Cluster, effect, cause *Finding) bool, checks ...string) []Cause {
	causes := make([]Cause, len(checks))
	for i, id := range checks {
		causes[i] = Cause{id, applies}
	}
	return causes
}

// Pass is one run of one check, with the facts and the result.
type Pass struct {
	*facts.Facts
	check  *Check
	result *Result
	// unknownSettings holds the settings that the check read and that are unknown, by the reason.
	unknownSettings map[string][]string
}

// Finding is one problem.
type Finding struct {
	Check    string
	Severity Severity
	// Object is the object with the problem. Its Resource is one that "kitescope get" lists.
	Object model.Ref
	// Message describes the problem in one line, with the figures that matter.
	Message string
	// Evidence holds the facts behind the finding.
	Evidence []Evidence
	// Impact describes the effect on users. Fix holds the steps to fix the problem, with the names of this
	// cluster.
	Impact string
	Fix    []Step
	// Objects holds further objects of the finding, e.g. each segment of a sum.
	Objects []model.Ref
	// MissingRole is the role whose work no process does while the problem lasts, e.g. "querycoord", or
	// WholeCluster for all roles. It is "" if other processes do the work, or for other problems.
	MissingRole string
	// Requests holds the kinds of requests that the finding is about, as clients see them. It is nil for a
	// finding that may explain such a finding.
	Requests []impact.Request
	// Cost is the estimated share of query work, or of lost queries, that the finding costs, from 0 to 1. It
	// ranks findings. 0 means unknown or none.
	Cost float64
	// Slows holds the delay of requests in milliseconds, if known from metrics. The kind of request with the
	// greatest delay is first.
	Slows []Slowdown
	// Cause is the Key of the finding that this one follows from, or "". Run sets it.
	Cause string
	// Held is set by a Hold.
	Held HoldState
}

// Key identifies a finding across runs by its check and object.
func (f *Finding) Key() string { return f.Check + " " + f.Object.Resource + "/" + f.Object.ID }

// Status is the outcome of a check.
type Status uint8

// The statuses. OK means that the check saw everything and found nothing.
const (
	OK Status = iota
	Found
	Skipped
	Broken
)

func (s Status) String() string {
	return [...]string{"ok", "findings", "skipped", "failed"}[min(s, Broken)]
}

// Label returns the status for people. String returns the one for documents.
func (s Status) Label() string {
	if s == Skipped {
		return "could not run"
	}
	return s.String()
}

// Result is the result of one check.
type Result struct {
	Check  *Check
	Status Status
	// Reason is the reason why the check was skipped or failed.
	Reason string
	// Unseen lists data that the check could not see: "querynode-7: timed out". A check without findings but
	// with unseen data is Skipped, not OK.
	Unseen   []string
	Findings []*Finding
	Took     time.Duration
}

// Report adds a finding and sets its Check. It drops findings about objects that changed while the processes
// were queried.
func (p *Pass) Report(f Finding) {
	if !p.unchanged(f.Object) {
		return
	}
	f.Check = p.check.ID
	p.result.Findings = append(p.result.Findings, &f)
}

// NoteUnseen notes data that the check could not see, with the reason.
func (p *Pass) NoteUnseen(what string) { p.result.Unseen = append(p.result.Unseen, what) }
