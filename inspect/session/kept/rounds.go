package kept

import (
	"context"
	"fmt"
	"slices"
	"time"

	"kitescope/inspect/live"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// lasting is of how many rounds before it a round may have answers to questions that are not asked in each.
const lasting = 4

// stalePatience is how much longer ago than three rounds the last may be of what is shown: then processes were not asked.
const stalePatience = 30 * time.Second

// isStale reports whether a round is so long over that it says nothing any more.
func isStale(late, every time.Duration) bool { return late > 3*every+stalePatience }

// moment is what a recording has of the processes of a cluster at a moment.
type moment struct {
	records []live.Record
	// before are the scrapes of the round before it.
	before []live.Record
	etcd   *model.Etcd
	// revision is that of the metadata when they had answered.
	revision int64
	// config is the dynamic configuration as it was a while before they were asked, once somebody has looked.
	config []*model.ConfigEntry
	looked bool
	// lacks is why there is nothing, or not all; "" if there is all that was recorded.
	lacks string
	// runtime is what they come to, once that was worked out: then they are not held any more.
	runtime *model.Runtime
}

// laid is what the records of a moment come to, nil if there are none.
func (m *moment) laid(where string) *model.Runtime {
	if m.runtime == nil && len(m.records) > 0 {
		d := live.NewDecoder()
		for _, r := range m.records {
			d.Add(r)
		}
		for _, r := range m.before {
			d.AddBefore(r)
		}
		m.runtime = d.Runtime("recording", where)
		m.records, m.before = nil, nil
	}
	return m.runtime
}

// momentOf is the last round that was asked by metadata of a revision or before, and not behind a time: what was answered later is not
// of then. chunks are the chunk that has the revision at that time, and the one before it if there is one.
func momentOf(ctx context.Context, known *memo, chunks []*source.Bundle, revision int64, at time.Time) (*moment, error) {
	later := false
	for i, chunk := range slices.Backward(chunks) {
		marks, err := known.rounds(ctx, chunk)
		if err != nil {
			return nil, err
		}
		later = later || len(marks) > 0
		n := choose(marks, revision, at)
		if n < 0 {
			continue
		}
		if late := at.Sub(marks[n].at); isStale(late, marks[n].every) {
			return &moment{lacks: fmt.Sprintf("they were not asked for %s before that", late.Round(time.Second))}, nil
		}
		var before *source.Bundle
		if n == 0 && i > 0 {
			before = chunks[i-1]
		}
		m, err := known.read(ctx, chunk, before, n)
		if err != nil && ctx.Err() == nil { // the metadata is there all the same
			return &moment{lacks: err.Error()}, nil
		}
		return m, err
	}
	if later {
		return &moment{lacks: "they were asked only later"}, nil
	}
	return &moment{}, nil
}

// withRecorded lays over a cluster what a recording has of its processes at that moment. film is the cluster at other moments, nil: it
// is read.
func withRecorded(ctx context.Context, src source.Source, chunks []*source.Bundle, c *model.Cluster, known *memo, film *others) (*model.Cluster, error) {
	where := src.Origin().Location
	m, err := momentOf(ctx, known, chunks, c.Origin.Revision, c.Origin.Taken)
	if err != nil {
		return nil, err
	}
	if m.lacks != "" {
		c = c.WithGaps(model.Gap{Where: "node answers, in " + where, Reason: m.lacks})
	}
	if m.etcd != nil {
		c = c.WithEtcd(m.etcd)
	}
	runtime := m.laid(where)
	if runtime == nil {
		return c, nil
	}
	if film == nil {
		film = othersOf(ctx, src)
	}
	return film.configured(m, film.settled(c.WithRuntime(runtime), m.revision)), nil
}

// mark is where a round is in a chunk.
type mark struct {
	at       time.Time
	revision int64
	every    time.Duration
}

// chunksOf are the chunks of a recording in which the answers of a revision are, at a time; none of any other source.
func chunksOf(ctx context.Context, src source.Source, revision int64, at time.Time) ([]*source.Bundle, error) {
	switch s := src.(type) {
	case *source.Recording:
		return s.Chunks(ctx, revision, at)
	case *source.Bundle:
		if recordsMoments(s) {
			return []*source.Bundle{s}, nil
		}
	}
	return nil, nil
}

// recordsMoments reports whether a source has what processes said at past moments.
func recordsMoments(src source.Source) bool {
	b, isBundle := src.(*source.Bundle)
	_, isRecording := src.(*source.Recording)
	return isRecording || isBundle && b.Manifest().History != nil && b.Manifest().History.Recorded
}

// choose is the round of a moment: the last that was asked by metadata of a revision or before, and not behind a time; -1 if there is none.
func choose(marks []mark, revision int64, at time.Time) int {
	n := -1
	for i, m := range marks {
		if m.revision <= revision && (at.IsZero() || !m.at.After(at)) {
			n = i
		}
	}
	return n
}
