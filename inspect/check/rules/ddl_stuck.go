package rules

import (
	"fmt"
	"slices"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// ddlStuck finds creations and drops that do not end.
var ddlStuck = &check.Check{
	ID:       "ddl-stuck",
	Title:    "A creation or drop does not end",
	Severity: check.Warning,
	Symptoms: []string{check.TasksHang, check.Leftovers},
	Starts:   "10m collection_created collection_dropped partition_created partition_dropped | node_lost:rootcoord node_left:rootcoord",
	Parts:    model.PartObjects | model.PartSegments | model.PartChannels,
	Doc: `Looks for databases, collections, partitions and aliases in state Creating for 10 minutes, from their time of creation on, and for collections in state Dropping.
RootCoord keeps these until garbage collection has taken their last segment: ` + "`dataCoord.gc.dropTolerance`" + ` as DataCoord reports it, else 24 h, and 4 h of grace.

The time of a drop is the last change of the collection's record (2.6 and later), else the latest drop of its segments or checkpoint of its channels; without any it is not judged.
Warning, and info for a drop of which only dropped segments are left, which wait for garbage collection. Milvus issue 42878.`,
	Remedy: `Search RootCoord's log for the id. A restart of RootCoord (MixCoord) takes up what is not finished. If channels or segments hold a drop up, see the findings about these.`,
	Run:    runDDLStuck,
	Roles:  []string{"rootcoord", "datacoord"},
	FollowsFrom: []check.Cause{
		{Check: "etcd-alarm"}, {Check: "etcd-no-leader"}, {Check: "broadcast-stuck", Of: check.Shares("collections")},
	},
}

func runDDLStuck(p *check.Pass) {
	judge := func(what, name string, ref model.Ref, state model.ObjectState, created model.TSO, dropped func() (model.TSO, check.Severity)) {
		x := passingOf(p, ref.Resource, string(state))
		if x == nil {
			return
		}
		since, severity := created, check.Warning
		if state.Gone() {
			since, severity = dropped()
		}
		if since == model.MaxTSO || !p.OlderThan(since.Time(), x.limit, false) {
			return
		}
		p.Report(check.Finding{
			Severity: severity, Object: ref,
			Message:  fmt.Sprintf("%s %s has been in state %s for at least %s", what, name, state, words.Span(p.Age(since.Time()))),
			Evidence: []check.Evidence{check.Fact("state", string(state), "etcd"), check.Fact("since at least", facts.TimeText(since.Time()), "etcd"), check.Lasts("limit", x.limit, "")},
			Impact:   x.undone,
			Fix: check.Fix(
				check.Do("search RootCoord's log for %s, to find out what it waits for", ref.ID),
				check.Do("restart RootCoord (MixCoord): it takes up what is not finished").
					Restarting(p.Cluster, 2*time.Minute, "rootcoord"),
			),
		})
	}
	for _, x := range p.Databases {
		judge("database", x.Name, model.Ref{Resource: "databases", ID: x.ID.String(), Name: x.Name}, x.State, x.CreatedAt, undated)
	}
	for _, x := range p.Collections {
		judge("collection", facts.CollectionLabel(p.Cluster, x.ID), facts.RefCollection(p.Cluster, x.ID), x.State, x.CreatedAt, func() (model.TSO, check.Severity) { return droppedAt(p, x) })
		if x.Dropped() {
			continue
		}
		for _, part := range p.PartitionsOf(x.ID) {
			judge("partition", part.Name+" of "+facts.CollectionLabel(p.Cluster, x.ID), model.Ref{Resource: "partitions", ID: part.ID.String(), Name: part.Name},
				part.State, part.CreatedAt, undated)
		}
	}
	for _, x := range p.Aliases {
		judge("alias", x.Name, model.Ref{Resource: "aliases", ID: p.DatabaseName(x.Database) + "/" + x.Name, Name: x.Name}, x.State, x.CreatedAt, undated)
	}
}

// undated is the time of a drop that no record has.
func undated() (model.TSO, check.Severity) { return 0, check.Info }

// droppedAt returns a time after which a collection that is being dropped was not touched, 0 if it is unknown, and how bad that is: while
// all its segments are dropped it waits for garbage collection, which is slow and not stuck.
func droppedAt(p *check.Pass, x *model.Collection) (last model.TSO, severity check.Severity) {
	list := p.SegmentsOf(x.ID)
	severity = check.Info
	if len(list) == 0 || slices.ContainsFunc(list, func(s *model.Segment) bool { return s.State.Healthy() }) {
		severity = check.Warning
	}
	if x.UpdatedAt > x.CreatedAt {
		return x.UpdatedAt, severity
	}
	for _, s := range list {
		last = max(last, s.DroppedAt)
	}
	if last != 0 {
		return last, severity
	}
	for _, v := range p.VChannelsOf(x.ID) {
		if v.Checkpoint.At != model.MaxTSO {
			last = max(last, v.Checkpoint.At)
		}
	}
	return last, severity
}
