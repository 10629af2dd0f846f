// Package check judges a cluster: what enters is a Cluster (metadata, and what the
// processes say where they were asked), what leaves is a Report.
//
//  1. A Check is a value that says what it reads, and a function that looks. Package rules lists them.
//  2. Run gives each check a Pass: the facts, and where to report to. A check whose facts were not read is skipped, with the
//     reason; one that breaks has failed. Neither is ever "ok".
//  3. Findings are put in order of what they cost queries, and grouped under their cause.
//  4. A Judge runs the checks again and again, and works out anew only what depends on what has changed.
//  5. A Hold delays findings that flap; a Baseline removes accepted ones; Since compares two reports.
package check

import (
	"slices"
	"time"

	"kitescope/inspect/check/facts"
	"kitescope/inspect/impact"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
)

// Severity is how bad a finding is.
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

// Need is what a check cannot do without, beyond the parts of the metadata.
type Need uint16

// The needs. Each is met if at least one process gave it; what the others owe goes into Pass.Unseen.
const (
	// NeedDistribution: query nodes said what they serve.
	NeedDistribution Need = 1 << iota
	// NeedRecovery: DataCoord said what should be served.
	NeedRecovery
	// NeedQueryCoord: QueryCoord said what it has loaded and who leads.
	NeedQueryCoord
	// NeedConfig: processes told their configuration.
	NeedConfig
	// NeedMetrics: processes told their metrics.
	NeedMetrics
	// NeedSystem: processes told CPU and memory (GetMetrics).
	NeedSystem
	// NeedQueue: the message queue told its offsets.
	NeedQueue
	// NeedAnswers: processes were asked, whatever became of it.
	NeedAnswers
	// NeedEtcd: etcd was asked for its health.
	NeedEtcd
	// NeedProfiles: processes were profiled. Which kinds of profiles there are, the check settles itself.
	NeedProfiles
	// NeedProcesses: processes were asked. Which of several answers it can do with, the check
	// settles itself, and skips without any.
	NeedProcesses
	// NeedStorage: somebody looked into the storage.
	NeedStorage
)

// Check is one question about a cluster.
type Check struct {
	// ID is short and stays the same for ever: "growing-flushed".
	ID string
	// Title says what is wrong if it finds something: "Flushed segment is still served as growing".
	Title string
	// Doc says what is looked at, what is a finding and what is not, and why it matters. Remedy says what to do. Both are Markdown.
	Doc, Remedy string
	// Symptoms are what people notice of what it finds.
	Symptoms []string
	// Starts names the events that start what it finds, as of ParseStarts.
	Starts string
	// Severity is the worst that its findings have.
	Severity Severity
	// Parts and Needs are what it reads.
	Parts model.Part
	Needs Need
	// Whole is set for checks that judge missing records: they are skipped if the source is a damaged file.
	Whole bool
	// Requests lists the roles whose metrics the check needs to break down latencies; it is skipped if there were no requests.
	Requests []string
	// Slowness is set for checks that judge how slow or late something was for a while, which one window does not show
	// for sure. Those with Requests do.
	Slowness bool
	// Run looks.
	Run func(*Pass)
	// Roles are those that keep it from happening: what it finds follows from a finding that nobody does their work, if it has no nearer cause.
	Roles []string
	// FollowsFrom are the checks whose findings may be the cause of this one's.
	FollowsFrom []Cause
	// Phases are those of a request that what it finds makes longer.
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

// Cause says when a finding follows from another.
type Cause struct {
	Check string
	// Of reports whether effect follows from cause; nil: always.
	Of func(c *model.Cluster, effect, cause *Finding) bool
}

// CausedBy are causes that one rule holds for; nil: always.
func CausedBy(of func(c *model.Cluster, effect, cause *Finding) bool, checks ...string) []Cause {
	causes := make([]Cause, len(checks))
	for i, id := range checks {
		causes[i] = Cause{id, of}
	}
	return causes
}

// Pass is one run of one check: the facts, and where it reports to.
type Pass struct {
	*facts.Facts
	check  *Check
	result *Result
	// unread are the settings that were asked for and are unknown, by why they are.
	unread map[string][]string
}

// Finding is one thing that is wrong.
type Finding struct {
	Check    string
	Severity Severity
	// Object is what it is about. Its Resource is one that "kitescope get" lists.
	Object model.Ref
	// Message says in one line what is wrong, with the figures that matter.
	Message string
	// Evidence are the facts that it is judged by.
	Evidence []Evidence
	// Impact says what it costs the user; Fix what to do now, step by step, with this cluster's names.
	Impact string
	Fix    []Step
	// Objects are further objects that the finding speaks of: each segment of a sum.
	Objects []model.Ref
	// Lacks is the role that nobody does the work of as long as this lasts: "querycoord", or WholeCluster for all of them; "" if there are others, or it is
	// about something else.
	Lacks string
	// Requests are the kinds of requests that the finding is about, as clients feel them; nil for a finding that may explain that.
	Requests []impact.Request
	// Cost ranks: the estimated share of query work, or of queries lost, 0 to 1, that the
	// finding costs. 0: unknown or none.
	Cost float64
	// Slows says what it costs requests in milliseconds, where metrics tell; the kind of request that it costs most first.
	Slows []Slowdown
	// Cause is the Key of the finding that this one follows from, "" if none; Run sets it.
	Cause string
	// Held is set by a Hold.
	Held Held
}

// Key identifies a finding over runs: its check and object.
func (f *Finding) Key() string { return f.Check + " " + f.Object.Resource + "/" + f.Object.ID }

// Status is how a check ended.
type Status uint8

// The statuses. OK means that everything was looked at and nothing found.
const (
	OK Status = iota
	Found
	Skipped
	Broken
)

func (s Status) String() string {
	return [...]string{"ok", "findings", "skipped", "failed"}[min(s, Broken)]
}

// Label is the status for people; String is that of documents.
func (s Status) Label() string {
	if s == Skipped {
		return "could not run"
	}
	return s.String()
}

// Result is what one check said.
type Result struct {
	Check  *Check
	Status Status
	// Reason is why it was skipped or failed.
	Reason string
	// Unseen is what it could not look at: "querynode-7: timed out". A check without findings and with
	// something unseen is Skipped, not OK.
	Unseen   []string
	Findings []*Finding
	Took     time.Duration
}

// Report adds a finding; its Check is filled in. About what changed while the processes were asked there is none.
func (p *Pass) Report(f Finding) {
	if !p.settled(f.Object) {
		return
	}
	f.Check = p.check.ID
	p.result.Findings = append(p.result.Findings, &f)
}

// Unseen says that something could not be looked at, and why.
func (p *Pass) Unseen(what string) { p.result.Unseen = append(p.result.Unseen, what) }
