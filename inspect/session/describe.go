package session

import (
	"context"
	"time"

	"kitescope/inspect/source"
)

// Told is what a recording has beside metadata.
type Told struct {
	// Rounds are how many rounds of answers there are, Every what is between two of them, zero where there is none.
	Rounds int
	Every  time.Duration
	// Pauses are times in which processes should have been asked and were not, for so long that nothing was known of them.
	Pauses []Pause
	// Pulls are the profiles that were taken.
	Pulls []Pull
}

// Pause is a time without answers.
type Pause struct{ From, Until time.Time }

// Describe says what a file or a recording is; told is nil where it is no recording.
func Describe(ctx context.Context, src source.Source) (info source.FileInfo, told *Told, err error) {
	t := &Told{}
	var last time.Time
	info, recorded, err := source.DescribeRecording(ctx, src, func(m source.HistoryMember) {
		if m.Kind != RoundMember {
			return
		}
		head, _, err := decodeHead(m.Content)
		if err != nil {
			return // what is broken in answers is told where they are read
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
