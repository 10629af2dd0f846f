package rules

import (
	"fmt"

	"kitescope/inspect/check"
	"kitescope/inspect/check/facts"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/internal/words"
)

// growingLarge reports growing segments beyond the size at which DataCoord seals them.
var growingLarge = &check.Check{
	ID:       "growing-too-large",
	Title:    "Growing segment is larger than its seal policy allows",
	Severity: check.Warning,
	Symptoms: []string{check.SearchesSlow, check.FlushesHang},
	Starts:   "segment_created | config_changed:segment node_lost:datanode",
	Doc: `A growing segment passed its size, but DataCoord never sealed it. It should be sealed at
` + "`dataCoord.segment.sealProportion`" + ` of the rows that fit (` + "`maxSize`" + `, converted to rows per schema and
recorded with the segment), at the next time tick of its channel; since 2.5 up to 10% earlier. DataCoord never
allocates more rows than fit.

Reported: a segment that reached that size and was not written for 2 minutes. Also one, written or not, with more than
1.1 times the rows, or 1.25 times the bytes (2.6), that fit: data nodes do not report its contents, or DataCoord
ignores it.

Not reported: a segment past its size that is still being written, because rows arrive faster than they are counted.
If DataCoord did not report its configuration, only segments with more rows than fit are reported.`,
	Remedy: `Flush the collection: ` + "`Collection(NAME).flush()`" + `. If it happens again, check whether the
channel's checkpoint advances and which data node watches it; restart that data node to make DataCoord reassign the
channel.`,
	Parts:  model.PartObjects | model.PartIndexes | model.PartServing | model.PartChannels | model.PartSegments,
	Phases: []latency.Name{latency.KernelGrowing},
	Run:    runGrowingLarge,
	Roles:  []string{"datacoord", "datanode", "streamingnode"},
	FollowsFrom: []check.Cause{
		check.StorageReadOnly(),
		check.StorageFails("datanode", "streamingnode"),
		{Check: "node-unreachable", Applies: check.Shares("vchannels")},
	},
}

const (
	tooManyRows  = 1.1
	tooManyBytes = 1.25
)

func runGrowingLarge(p *check.Pass) {
	open := p.Open()
	if len(open) == 0 {
		return
	}
	policy := p.SealPolicy()
	var ids []model.SegmentID
	var rows, unsure int64
	var largest *facts.OpenSegment
	for i := range open {
		s := &open[i]
		switch too, known := tooLarge(p, s, &policy); {
		case too:
			ids, rows = append(ids, s.ID), rows+s.Rows
			if largest == nil || s.Rows > largest.Rows {
				largest = s
			}
		case !known:
			unsure++
		}
		if i+1 < len(open) && open[i+1].Collection == s.Collection {
			continue
		}
		if unsure > 0 {
			p.NoteUnseen(fmt.Sprintf("collection %s: size or limit of %s",
				facts.CollectionLabel(p.Cluster, s.Collection), words.Plural(unsure, "growing segment")))
		}
		if largest != nil {
			reportLarge(p, largest, ids, rows, &policy)
		}
		ids, rows, unsure, largest = nil, 0, 0, nil
	}
}

// tooLarge reports whether a segment is too large. known is false if its size, or whether it is being written,
// is unknown.
func tooLarge(p *check.Pass, s *facts.OpenSegment, policy *facts.SealPolicy) (too, known bool) {
	if s.State != model.SegmentGrowing || s.MaxRows <= 0 {
		return false, true
	}
	if g := growingStat(s.Segment); g != nil && g.MaxBytes > 0 && float64(g.Bytes) > tooManyBytes*float64(g.MaxBytes) {
		return true, true
	}
	if float64(s.Rows) > tooManyRows*float64(s.MaxRows) {
		return true, true
	}
	if _, idle := s.IdleFor(p.Now); idle && s.Rows >= policy.FullRows(s.MaxRows) && policy.FullRows(s.MaxRows) > 0 {
		// If the limit is only the version's default, the segment may also be below its real limit.
		return policy.Known, policy.Known
	}
	return false, s.Rows > 0 || !s.MaybeAbandoned(p.Now)
}

func growingStat(s *model.Segment) *model.GrowingStat {
	if s.Details == nil {
		return nil
	}
	return s.Details.Growing
}

func reportLarge(
	p *check.Pass, largest *facts.OpenSegment, ids []model.SegmentID, rows int64, policy *facts.SealPolicy,
) {
	id := largest.Collection
	w := p.WorkOf(id)
	cost := w.ShareOfGrowing(rows)
	p.Report(check.Finding{
		Severity: check.Warning, Object: facts.RefCollection(p.Cluster, id), Cost: p.ClusterCost(id, cost),
		Message: fmt.Sprintf("collection %s: %s %s past the size at which DataCoord seals; the largest has %s rows, "+
			"the limit is %s",
			facts.CollectionLabel(p.Cluster, id), words.Plural(len(ids), "growing segment"),
			words.Agree(len(ids), "is", "are"), words.Number(largest.Rows),
			words.Number(policy.FullRows(largest.MaxRows))),
		Evidence: []check.Evidence{
			check.Count("rows of the largest segment", largest.Rows, "etcd or DataCoord"),
			check.Count("rows that fit", largest.MaxRows, "etcd"),
			check.Factf("seal proportion", policy.Source, "%s", check.Number(policy.Proportion, "ratio", "%g")),
		},
		Impact:  idleImpact(&w, cost, len(largest.Leaders) > 0),
		Fix:     flushSteps(p.Cluster, id),
		Objects: append(facts.SomeSegments(ids), facts.RefVChannel(largest.VChannel)),
	})
}
