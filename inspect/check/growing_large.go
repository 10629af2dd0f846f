package check

import (
	"fmt"

	"kitescope/inspect/model"
)

// GrowingLarge finds growing segments beyond the size at which DataCoord seals them.
var GrowingLarge = &Check{
	ID:       "growing-too-large",
	Title:    "Growing segment is larger than its seal policy allows",
	Severity: Warning,
	Since:    "0.3",
	Doc: `
DataCoord seals a growing segment when it has ` + "`dataCoord.segment.sealProportion`" + ` of the rows that fit (` + "`maxSize`" + `, worked out per schema and
recorded with the segment), with the next time tick of its channel; since 2.5 up to a tenth earlier. It never gives out more rows than fit.

A finding is a segment that reached that size and to which nothing was written for 2 minutes: it should have been sealed long ago;
and one with more than 1.1 times the rows, or 1.25 times the bytes (2.6), that fit at all, written or not. Then data nodes do not report
what they hold, or DataCoord does not act on it.

No finding is a segment beyond its size that is still written: rows arrive faster than they are counted. If DataCoord did not tell its configuration, only segments beyond
the rows that fit count.
`,
	Remedy: `
Flush the collection: ` + "`Collection(NAME).flush()`" + `. If it happens again, see whether the channel's checkpoint moves and which data node watches
it; restarting that data node makes DataCoord assign the channel anew.
`,
	Parts: model.PartObjects | model.PartIndexes | model.PartServing | model.PartChannels | model.PartSegments,
	Run:   runGrowingLarge,
	Roles: []string{"datacoord", "datanode", "streamingnode"},
	FollowsFrom: []Cause{
		takesNoWrites(),
		storageFails("datanode", "streamingnode"),
		{Check: "node-unreachable", Of: shares("vchannels")},
	},
}

const (
	tooManyRows  = 1.1
	tooManyBytes = 1.25
)

func runGrowingLarge(p *Pass) error {
	policy := p.sealPolicy()
	open := p.open()
	var ids []model.SegmentID
	var rows, unsure int64
	var largest *openSegment
	for i := range open {
		s := &open[i]
		switch too, known := p.tooLarge(s, &policy); {
		case too:
			ids, rows = append(ids, s.ID), rows+s.rows
			if largest == nil || s.rows > largest.rows {
				largest = s
			}
		case !known:
			unsure++
		}
		if i+1 < len(open) && open[i+1].Collection == s.Collection {
			continue
		}
		if unsure > 0 {
			p.Unseen(fmt.Sprintf("collection %s: how large %s %s, or may be", collectionLabel(p.Cluster, s.Collection), plural(unsure, "growing segment"), agree(unsure, "is", "are")))
		}
		if largest != nil {
			p.reportLarge(largest, ids, rows, &policy)
		}
		ids, rows, unsure, largest = nil, 0, 0, nil
	}
	return nil
}

// tooLarge judges one segment; known is false if its size, or whether it is written, is unknown.
func (p *Pass) tooLarge(s *openSegment, policy *sealPolicy) (too, known bool) {
	if s.State != model.SegmentGrowing || s.MaxRows <= 0 {
		return false, true
	}
	if g := growingStat(s.Segment); g != nil && g.MaxBytes > 0 && float64(g.Bytes) > tooManyBytes*float64(g.MaxBytes) {
		return true, true
	}
	if float64(s.rows) > tooManyRows*float64(s.MaxRows) {
		return true, true
	}
	if _, idle := s.idleFor(p.Now); idle && s.rows >= policy.fullRows(s.MaxRows) && policy.fullRows(s.MaxRows) > 0 {
		// By the version's default only, it may just as well be below its limit.
		return policy.known, policy.known
	}
	return false, s.rows > 0 || !s.unsure(p.Now)
}

func growingStat(s *model.Segment) *model.GrowingStat {
	if s.Details == nil {
		return nil
	}
	return s.Details.Growing
}

func (p *Pass) reportLarge(largest *openSegment, ids []model.SegmentID, rows int64, policy *sealPolicy) {
	id := largest.Collection
	w := p.workOf(id)
	cost := w.shareOfGrowing(rows)
	p.Report(Finding{
		Severity: Warning, Object: refCollection(p.Cluster, id), Cost: p.costing(id, cost),
		Message: fmt.Sprintf("collection %s: %s %s past the size at which DataCoord seals; the largest has %s rows, to be sealed from %s on",
			collectionLabel(p.Cluster, id), plural(len(ids), "growing segment"), isAre(len(ids)), number(largest.rows), number(policy.fullRows(largest.MaxRows))),
		Evidence: []Evidence{
			{"rows of the largest", number(largest.rows), "etcd or DataCoord"},
			{"rows that fit", number(largest.MaxRows), "etcd"},
			{"seal proportion", fmt.Sprintf("%g", policy.proportion), policy.from},
		},
		Impact:  idleImpact(&w, cost, len(largest.leaders) > 0),
		Hint:    flushHint(p.Cluster, id),
		Objects: append(someSegments(ids), refVChannel(largest.VChannel)),
	})
}
