package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// storageFailing finds processes that fail to read or write the storage.
var storageFailing = &check.Check{
	ID:       "storage-failing",
	Title:    "Processes fail to read or write the storage",
	Severity: check.Error,
	Symptoms: []string{check.LoadsHang, check.WritesFail, check.FlushesHang, check.IndexingHangs, check.TasksHang},
	Starts:   "config_changed:minio | task_failed index_failed checkpoint_stopped",
	Doc: `The access key expired, and data nodes cannot write to the bucket. Processes count their operations on
remote storage by kind (get, put, list, remove, stat): ` + "`milvus_storage_op_count`" + ` for the Go part,
` + "`internal_storage_op_count`" + ` for the C++ part, which loads segments and builds indexes. The check compares two
scrapes: those of one run (` + "`--window`" + `), or with ` + "`--watch`" + ` and in the UI those of the last one to two
minutes.

Warning: a kind of operation failed twice (once, if it had failed twice before) and in a tenth of its operations.
Error: it failed three times and in half. Info: fewer, because Milvus retries, and failures since the process started
but none during the watch, because their time is unknown. Those are a warning if no operation of the kind has ever
succeeded, or if the process started within 10 minutes and half failed.

Not counted: a stat in Go: Milvus uses it to check whether a file exists, and it fails if there is none. Reads in Go
of a missing file count as successes. Local storage is not counted at all: if no process has counted anything, the
state is unknown.`,
	Remedy: `Check that the storage responds at its address, that the access key is still valid (a policy, an expired
key: ` + "`403`" + `), and that the bucket exists and has room. The log of the process has the storage's own error and
the name of the file. If only reads fail, files may be missing: ` + "`kitescope diagnose --storage PLACE`" + ` looks for
them.`,
	Parts: model.PartSessions,
	Needs: check.NeedMetrics,
	Run:   runStorageFailing,
	FollowsFrom: []check.Cause{
		{
			Check:   "files-missing",
			Applies: func(_ *model.Cluster, effect, _ *check.Finding) bool { return !mentionsOp(effect, putOp) },
		},
		{
			Check:   "storage-read-only",
			Applies: func(_ *model.Cluster, effect, _ *check.Finding) bool { return mentionsOp(effect, putOp) },
		},
	},
}

// Thresholds of storage-failing. On captured clusters with remote storage, no operation of the counted kinds failed.
const (
	minFailsWarning, minFailsError   = 2, 3
	failShareWarning, failShareError = 0.1, 0.5
	// storageYoung is the age up to which a process's counters since its start describe the present.
	storageYoung = 10 * time.Minute
	putOp        = "put"
)

// failing is a kind of operation that fails in a process.
type failing struct {
	node     *model.LiveNode
	ops      model.StorageOps
	severity check.Severity
	// window is the time between the two scrapes, or 0 if ops counts since the process started.
	window time.Duration
}

func runStorageFailing(p *check.Pass) {
	var list []failing
	counted := false
	for _, x := range p.Runtime.Processes {
		n := primarySession(p, x)
		if x.Metrics == nil || n == nil {
			continue
		}
		all := x.Metrics.StorageOps()
		counted = counted || len(all) > 0
		watched := watchedOps(x)
		for _, o := range all {
			if f, ok := judgeOps(p, x, n, o, watched); ok {
				list = append(list, f)
			}
		}
	}
	if !counted {
		p.Skip("no process has counted a storage operation; local storage is not counted")
		return
	}
	if len(list) > 0 {
		reportFailing(p, list)
	}
}

// primarySession returns the session that names a process, i.e. the first by role and id.
func primarySession(p *check.Pass, x *model.Process) *model.LiveNode {
	var first *model.LiveNode
	for _, n := range p.Runtime.Nodes {
		if n.Process == x &&
			(first == nil || cmp.Or(cmp.Compare(n.Role, first.Role), cmp.Compare(n.Node, first.Node)) < 0) {
			first = n
		}
	}
	return first
}

// watchedOps returns the kinds of operations with failures between two scrapes of a process. Each covers the longest
// window with failures.
func watchedOps(x *model.Process) map[string]failing {
	watched := make(map[string]failing)
	for _, earlier := range []*model.Metrics{x.Earlier, x.Before} {
		if earlier == nil {
			continue
		}
		for _, o := range x.Metrics.StorageOpsSince(earlier) {
			if _, longer := watched[o.Op]; !longer && o.Failed > 0 {
				watched[o.Op] = failing{ops: o, window: x.Metrics.At.Sub(earlier.At)}
			}
		}
	}
	return watched
}

// judgeOps rates a kind of operation by its failures between scrapes, or by its failures since the process started if
// there were none between scrapes.
func judgeOps(
	p *check.Pass, x *model.Process, n *model.LiveNode, all model.StorageOps, watched map[string]failing,
) (failing, bool) {
	if f, ok := watched[all.Op]; ok {
		f.node, f.severity = n, check.Info
		switch again := f.ops.Failed >= minFailsWarning || all.Failed >= minFailsError; {
		case f.ops.Failed >= minFailsError && f.ops.Share() >= failShareError:
			f.severity = check.Error
		case again && f.ops.Share() >= failShareWarning:
			f.severity = check.Warning
		}
		return f, true
	}
	f := failing{node: n, ops: all, severity: check.Info}
	if started := x.StartedAt(); all.Done == 0 ||
		!started.IsZero() && p.Age(started) < storageYoung && all.Share() >= failShareError {
		f.severity = check.Warning
	}
	return f, all.Failed >= minFailsError
}

// reportFailing reports all failing operations in one finding, because all processes use the same storage.
func reportFailing(p *check.Pass, list []failing) {
	slices.SortStableFunc(list, func(a, b failing) int {
		return cmp.Or(-cmp.Compare(a.severity, b.severity), cmp.Compare(a.node.Role, b.node.Role),
			cmp.Compare(a.node.Node, b.node.Node))
	})
	worst := list[0]
	var names []string
	f := check.Finding{Severity: worst.severity, Object: worst.node.Ref()}
	for _, x := range list {
		name := x.node.Name()
		if x.severity == worst.severity && !slices.Contains(names, name) {
			if names = append(names, name); len(names) > 1 {
				f.Objects = append(f.Objects, x.node.Ref())
			}
		}
		f.Evidence = append(f.Evidence, x.evidence(p))
	}
	writes := slices.ContainsFunc(list, func(x failing) bool {
		return x.severity == worst.severity && x.ops.Op == putOp
	})
	reads := slices.ContainsFunc(list,
		func(x failing) bool { return x.severity == worst.severity && x.ops.Op != putOp })
	what := "reads from"
	if writes {
		what = "writes to"
	}
	if writes && reads {
		what = "reads from and writes to"
	}
	if f.Message = fmt.Sprintf("%s the storage fail on %s: %s, %s", what, words.Summarize(names), worst.ops.Op,
		worst.evidence(p).Value); worst.window == 0 {
		f.Message = fmt.Sprintf("%s the storage have failed on %s: %s, %s", what, words.Summarize(names), worst.ops.Op,
			worst.evidence(p).Value)
	}
	f.Impact = failingImpact(list, worst.severity)
	f.Fix = check.Fix(
		check.Do("read the log of %s: it has the storage's own error, such as a rejected key, a missing bucket or no "+
			"space", worst.node.Name()),
		filesFor(p, writes),
	)
	if worst.severity == check.Info {
		f.Fix = check.Fix(check.Shell(check.Kitescope("diagnose --watch --only storage-failing")).
			Does("shows whether it continues; no action is needed if it does not"))
	}
	p.Report(f)
}

// filesFor returns the step that looks for missing files, or no step if writes fail.
func filesFor(p *check.Pass, writes bool) check.Step {
	if writes {
		return check.Step{}
	}
	return check.FindFiles(p.Facts)
}

func (x failing) evidence(p *check.Pass) check.Evidence {
	format, args := "%s of %s failed", []any{check.N(int64(x.ops.Failed)), check.N(int64(x.ops.Failed + x.ops.Done))}
	started := x.node.Process.StartedAt()
	switch {
	case x.window > 0:
		format, args = format+" in %s", append(args, check.Span(x.window))
	case !started.IsZero():
		format, args = format+" since it started %s ago", append(args, check.Span(p.Age(started)))
	default:
		format += " since it started"
	}
	return check.Factf(x.ops.Op+" of "+x.node.Name(), x.node.Process.Address+"/metrics", format, args...)
}

// failingImpact returns the effect of the failing operations of severity least or higher.
func failingImpact(list []failing, least check.Severity) string {
	var parts []string
	for _, x := range list {
		text := ""
		switch {
		case x.severity < least:
		case x.node.Role == "querynode" || x.ops.Op == "get" && x.node.Role == "standalone":
			text = "segments cannot be loaded or moved to these nodes"
		case x.node.Role == "datanode" || x.node.Role == "streamingnode" || x.node.Role == "standalone":
			text = "rows are not persisted: flushes, compactions and checkpoints wait, and a data node that cannot " +
				"flush exits"
		case x.node.Role == "indexnode":
			text = "indexes are not built"
		case x.node.Role == "datacoord" || x.node.Role == "mixcoord":
			text = "dropped data is not removed"
		}
		if text != "" && !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 {
		return "Its storage operations wait."
	}
	whole := strings.Join(parts, "; ")
	return strings.ToUpper(whole[:1]) + whole[1:] + "."
}

// mentionsOp reports whether the evidence of a storage-failing finding includes an operation.
func mentionsOp(f *check.Finding, op string) bool {
	return slices.ContainsFunc(f.Evidence, func(e check.Evidence) bool { return strings.HasPrefix(e.Name, op+" of ") })
}
