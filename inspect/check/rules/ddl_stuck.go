package rules

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
)

// ddlStuck reports creations and drops that do not finish.
var ddlStuck = &check.Check{
	ID:       "ddl-stuck",
	Title:    "A create, drop or other DDL operation does not finish",
	Severity: check.Warning,
	Symptoms: []string{check.TasksHang, check.LoadsHang, check.Leftovers},
	Starts: "15m collection_created collection_dropped partition_created partition_dropped task_created | " +
		"node_lost:rootcoord node_left:rootcoord node_lost:streamingnode node_left:streamingnode channel_reassigned " +
		"task_changed",
	Parts: model.PartObjects | model.PartSegments | model.PartChannels,
	Doc: `A dropped collection stays in state Dropping for days. The check looks for databases, collections,
partitions, aliases and fields in state Creating for 10 minutes after their creation, and for collections and fields
in state Dropping. RootCoord keeps the latter until garbage collection has removed their last segment:
` + "`dataCoord.gc.dropTolerance`" + ` as DataCoord reports it, else 24 h, plus 4 h.

The time of a drop is the last change of the collection's record (2.6 and later), else the latest drop of its segments
or checkpoint of its channels; without any it is unknown. Warning; info for a drop with only dropped segments left,
which wait for garbage collection. Milvus issue 42878.

Since 2.6 StreamingCoord writes a change of a collection, database or user into several channels and keeps a task
(` + "`streamingcoord-meta/broadcast-task/`" + `) until all have acknowledged it and the change is complete. Until then
the object is locked. Warning 10 minutes after the write into the first channel that acknowledged it. Not reported: a
task without acknowledgements, because its start is not recorded, and a tombstone. ` +
		constructedOnly,
	Remedy: `Search RootCoord's (MixCoord's) log for the id, or for "broadcast". A restart resumes unfinished
operations. If channels or segments block a drop, see their findings. The log of a channel that does not acknowledge
may not be open (` + "`wal-not-open`" + `).`,
	Run:   runDDLStuck,
	Roles: []string{"rootcoord", "mixcoord", "datacoord", "streamingnode"},
	FollowsFrom: []check.Cause{
		check.SevereCause("wal-not-open", check.Shares("pchannels")),
		check.SevereCause("wal-flush-lag", check.Shares("pchannels")),
		{Check: "wal-recovery-stuck", Applies: check.Shares("pchannels")},
		{Check: "channel-unwatched", Applies: check.Shares("vchannels")},
		{Check: "queue-unreachable"},
		{Check: "etcd-alarm"},
		{Check: "etcd-no-leader"},
	},
}

func runDDLStuck(p *check.Pass) {
	judge := func(label string, ref model.Ref, state string, since model.TSO, severity check.Severity) {
		if since == model.MaxTSO {
			return
		}
		reportOverdue(p, &stateRecord{
			ref: ref, label: label, state: state, since: since.Time(), severity: severity,
			fix: check.Fix(
				check.Do("search RootCoord's log for %s, to find out what it waits for", ref.ID),
				check.Do("restart RootCoord (MixCoord): it resumes unfinished operations").
					Restarting(p.Cluster, 2*time.Minute, "rootcoord"),
			),
		})
	}
	for _, x := range p.Databases {
		judge("database "+x.Name, model.Ref{Resource: "databases", ID: x.ID.String(), Name: x.Name}, string(x.State),
			x.CreatedAt, check.Warning)
	}
	for _, x := range p.Collections {
		name, since, severity := facts.CollectionLabel(p.Cluster, x.ID), x.CreatedAt, check.Warning
		if x.Dropped() {
			since, severity = droppedAt(p, x)
		}
		judge("collection "+name, facts.RefCollection(p.Cluster, x.ID), string(x.State), since, severity)
		if x.Dropped() {
			continue
		}
		for _, part := range p.PartitionsOf(x.ID) {
			ref := model.Ref{Resource: "partitions", ID: part.ID.String(), Name: part.Name}
			judge("partition "+part.Name+" of "+name, ref, string(part.State), part.CreatedAt, check.Warning)
		}
		for _, f := range x.Fields {
			if x.UpdatedAt > x.CreatedAt {
				ref := model.Ref{Resource: "fields", ID: x.ID.String() + "/" + f.ID.String(), Name: f.Name}
				judge("field "+f.Name+" of "+name, ref, f.State, x.UpdatedAt, check.Warning)
			}
		}
	}
	for _, x := range p.Aliases {
		ref := model.Ref{Resource: "aliases", ID: p.DatabaseName(x.Database) + "/" + x.Name, Name: x.Name}
		judge("alias "+x.Name, ref, string(x.State), x.CreatedAt, check.Warning)
	}
	if !p.Loaded.Has(model.PartTasks) {
		p.NoteUnseen("broadcasts: the metadata could not be read")
	}
	for _, t := range p.Tasks {
		if t.Type == "broadcast" && !facts.TaskEnded(t) {
			reportOverdue(p, &stateRecord{
				ref: facts.RefTask(t), label: "broadcast of " + cmp.Or(t.SubType, "unknown type"), kind: "broadcast/",
				state: t.State, since: t.StartedAt,
				detail: ": " + t.Progress, severity: check.Warning, objects: waitsFor(p, t),
				fix: check.Fix(
					check.Do("search the log of MixCoord for %q and \"broadcast\"", model.NodeID(t.ID).String()),
					check.Shell(check.Kitescope("get pchannels --columns name,node,state,wal_state")).
						Does("shows which logs are not Open: they acknowledge nothing"),
				),
			})
		}
	}
}

// droppedAt returns the time of the last known change of a collection in state Dropping, and the severity of a
// finding about it. The time is 0 if it is unknown. The severity is info while all its segments are dropped,
// because the collection then waits for garbage collection, which is slow but not stuck.
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

// waitsFor returns the pchannels that have not acknowledged a broadcast, each with its vchannels. It returns
// nil if the task's record does not name them.
func waitsFor(p *check.Pass, t *model.Task) (refs []model.Ref) {
	for _, name := range t.Unacknowledged {
		x := p.PChannel(name)
		// the name of a vchannel, or of the control channel
		if i := strings.LastIndexByte(name, '_'); x == nil && i > 0 {
			x = p.PChannel(name[:i])
		}
		if x != nil && !slices.Contains(refs, refPChannel(x.Name)) {
			refs = append(append(refs, refPChannel(x.Name)), vchannelsOn(p, x.Name)...)
		}
	}
	return refs
}
