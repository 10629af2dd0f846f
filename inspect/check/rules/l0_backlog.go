package rules

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// Thresholds of l0-backlog, per vchannel.
const (
	// l0Files is three times the maximum number of delta logs in one L0 compaction
	// (dataCoord.compaction.levelzero.forceTrigger.deltalogMaxNum: 30).
	l0Files = 90
	// l0Rows is the number of deletes at which Milvus's own protection starts to slow down writes, if it is on
	// (quotaAndLimits.limitWriting.l0SegmentsRowCountProtection.lowWaterLevel).
	l0Rows = 30_000_000
	// l0MinDeletes is the minimum number of deletes for a warning about many L0 segments. Fewer deletes fit in
	// memory easily and are applied at once.
	l0MinDeletes = 100_000
	// l0After is the minimum age of an L0 segment. Milvus looks for L0 compactions every 10 s
	// (dataCoord.compaction.levelzero.triggerInterval).
	l0After = time.Hour
)

// l0Backlog reports vchannels whose deletes pile up in L0 segments.
var l0Backlog = &check.Check{
	ID:       "l0-backlog",
	Title:    "Deletes pile up in L0 segments that are not compacted",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow, check.SearchesStale, check.TasksHang, check.AfterUpgrade},
	Starts:   "segment_created segment_flushed config_changed:compaction | task_failed node_lost:datanode",
	Parts:    model.PartObjects | model.PartSegments | model.PartLogs | model.PartServing,
	Doc: `A query node runs out of memory because deletes pile up (Milvus issue 33278): the shard leader keeps all of
them and applies each to every segment it loads. The check looks at L0 segments (Milvus 2.4 and later), which hold
only deletes, by vchannel. Reported if more than 90 of them are older than an hour, three times the input of one
compaction, or if they hold 30 million deletes, where Milvus's own protection starts. Warning from 100,000 deletes in
a loaded collection, else info: a collection with few writes keeps a growing segment for a day, and with it each small
batch of deletes.

Growing segments older than the deletes block compaction until sealed (issues 33464 and 40502).`,
	Remedy: `Flush the collection: growing segments that began before the deletes block their compaction. Look at the
compaction tasks and the load of the data nodes. Drop whole partitions instead of deleting many rows: that makes no L0
segments.`,
	Run:   runL0Backlog,
	Roles: []string{"datacoord", "datanode"},
	FollowsFrom: []check.Cause{
		{Check: "bad-switches", Applies: aboutCompaction},
		{Check: "checkpoint-lag", Applies: check.Shares("vchannels")},
		{Check: "task-stuck", Applies: check.Shares("collections")},
	},
}

type l0Sum struct {
	collection model.CollectionID
	vchannel   string
	segments   int
	deletes    int64
	bytes      int64
	oldest     time.Time
	objects    []model.Ref
}

func runL0Backlog(p *check.Pass) {
	limit := p.Before(l0After)
	sums := make(map[string]*l0Sum)
	for s := range p.AllSegmentsIn(facts.LevelZeroSegs) {
		if s.State != model.SegmentFlushed || !facts.UnchangedSince(s, limit) {
			continue
		}
		if x := p.Collection(s.Collection); x == nil || x.Dropped() {
			continue
		}
		sum := sums[s.VChannel]
		if sum == nil {
			sum = &l0Sum{collection: s.Collection, vchannel: s.VChannel}
			sums[s.VChannel] = sum
		}
		sum.segments++
		sum.deletes, sum.bytes = sum.deletes+s.DeletedRows, sum.bytes+s.Bytes
		if at := facts.LastTouched(s); sum.oldest.IsZero() || !at.IsZero() && at.Before(sum.oldest) {
			sum.oldest = at
		}
		if len(sum.objects) < facts.MaxObjects {
			sum.objects = append(sum.objects, facts.RefSegment(s.ID))
		}
	}
	list := make([]*l0Sum, 0, len(sums))
	for _, sum := range sums {
		if sum.segments > l0Files || sum.deletes >= l0Rows {
			list = append(list, sum)
		}
	}
	slices.SortFunc(list, func(a, b *l0Sum) int { return cmp.Compare(a.vchannel, b.vchannel) })
	for _, sum := range list {
		x := p.Collection(sum.collection)
		f := check.Finding{
			Severity: check.Info, Object: facts.RefVChannel(sum.vchannel),
			Objects: append([]model.Ref{facts.RefCollection(p.Cluster, x.ID)}, sum.objects...),
			Message: fmt.Sprintf("%s of %s on %s %s %s deletes, the oldest for %s",
				words.Plural(sum.segments, "L0 segment"), facts.CollectionLabel(p.Cluster, x.ID), sum.vchannel,
				words.Agree(sum.segments, "holds", "hold"), words.Number(sum.deletes), words.Span(p.Age(sum.oldest))),
			Evidence: []check.Evidence{
				check.Count("L0 segments older than "+words.Span(l0After), sum.segments, "etcd"),
				check.Count("deletes", sum.deletes, "etcd"),
				check.Size("bytes", sum.bytes, "etcd"),
				check.Fact("oldest", facts.TimeText(sum.oldest), "etcd"),
			},
			Impact: "The shard leader keeps them in memory and applies them to every segment it loads.",
			Fix: check.Fix(
				check.Flush(p.Cluster, x, 5*time.Minute, "seals the growing segments that hold up their compaction"),
				check.Shell(check.Kitescope("get tasks type=compaction").Arg("collection_id="+x.ID.String())).
					Does("shows Level0 compactions within a minute; if not, look at the log of DataCoord"),
			),
		}
		if sum.deletes >= l0MinDeletes && p.LoadState(x.ID) != nil {
			f.Severity = check.Warning
		}
		p.Report(f)
	}
}
