package session

import (
	"context"
	"time"

	"kitescope/inspect/source"
)

// RecordingSummary summarizes the contents of a recording other than metadata.
type RecordingSummary struct {
	// Rounds is the number of rounds of answers. Every is the interval between rounds, or zero if there are none.
	Rounds int
	Every  time.Duration
	// Pauses lists the times in which processes should have been queried but were not, and which lasted so long
	// that the previous answers became stale.
	Pauses []Pause
	// Pulls lists the recorded pulls of profiles.
	Pulls []Pull
}

// Pause is a time span without answers.
type Pause struct{ From, Until time.Time }

// Describe returns a description of a file or a recording. summary is nil if src is not a recording.
func Describe(ctx context.Context, src source.Source) (info source.FileInfo, summary *RecordingSummary, err error) {
	t := &RecordingSummary{}
	var last time.Time
	info, recorded, err := source.DescribeRecording(ctx, src, func(m source.HistoryMember) {
		if m.Kind != RoundMember {
			return
		}
		head, _, err := decodeHead(m.Content)
		if err != nil {
			return // errors in answers are reported when they are read
		}
		t.Rounds, t.Every = t.Rounds+1, head.Every
		if !last.IsZero() && isStale(m.At.Sub(last), head.Every) {
			t.Pauses = append(t.Pauses, Pause{last, m.At})
		}
		last = m.At
	})
	if !recorded {
		info, err = source.Describe(ctx, src)
		return info, nil, err
	}
	if err == nil {
		t.Pulls, err = Pulls(src)
	}
	return info, t, err
}
