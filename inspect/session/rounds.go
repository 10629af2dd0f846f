package session

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"kitescope/inspect/live"
	"kitescope/inspect/meta"
	"kitescope/inspect/model"
	"kitescope/inspect/source"
)

// staleMargin is the time beyond three intervals after which a round is stale, because processes were not queried
// since.
const staleMargin = 30 * time.Second

// isStale reports whether a round is too old to use. late is its age, every the interval between rounds.
func isStale(late, every time.Duration) bool { return late > 3*every+staleMargin }

// Rounds reads the rounds of a recording forward. Each moment must be after the one before. The caller must close
// it.
type Rounds struct {
	src           source.Source
	chunk         *source.Bundle
	next          func() (source.HistoryMember, error, bool)
	stop          func()
	peeked        source.HistoryMember // the next round of the chunk and its head, valid if hasPeeked
	head          roundHead
	hasPeeked     bool
	decoded       int // number of rounds decoded from the chunk
	decoder       *roundDecoder
	missingReason string // reason why the last moment has no answers, or ""
}

// RoundsOf returns the rounds of a source, or nil if it has no answers of past moments.
func RoundsOf(src source.Source) *Rounds {
	if src = recordingOf(src); !hasRounds(src) {
		return nil
	}
	return &Rounds{src: src}
}

// Close stops reading. r may be nil.
func (r *Rounds) Close() {
	if r != nil && r.stop != nil {
		r.stop()
		r.stop = nil
	}
}

// open starts to read a chunk.
func (r *Rounds) open(ctx context.Context, chunk *source.Bundle) {
	r.Close()
	r.chunk, r.hasPeeked, r.decoded = chunk, false, 0
	r.next, r.stop = iter.Pull2(func(yield func(source.HistoryMember, error) bool) {
		err := chunk.History(ctx, func(m source.HistoryMember) error {
			switch {
			case m.Kind == oldRoundMember:
				return errOldRounds
			case m.Kind == RoundMember && !yield(m, nil):
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(source.HistoryMember{}, err)
		}
	})
}

// errStopped stops reading a chunk.
var errStopped = errors.New("stopped")

// peek reads the head of the next round of the chunk. ok is false after the last.
func (r *Rounds) peek() (ok bool, err error) {
	if r.hasPeeked {
		return true, nil
	}
	if r.peeked, err, ok = r.next(); err != nil || !ok {
		return false, err
	}
	r.head, _, err = decodeHead(r.peeked.Content)
	r.hasPeeked = err == nil
	return r.hasPeeked, err
}

// decodeUntil decodes the rounds of the chunk up to a revision and a time. A zero time sets no bound.
func (r *Rounds) decodeUntil(revision int64, at time.Time) error {
	for {
		ok, err := r.peek()
		if err != nil || !ok || r.head.Revision > revision || !at.IsZero() && r.peeked.At.After(at) {
			return err
		}
		if err := r.decoder.add(r.peeked.At, r.peeked.Content); err != nil {
			return fmt.Errorf("read node answers of %s: %w", r.peeked.At.Format(time.RFC3339), err)
		}
		r.hasPeeked = false
		r.decoded++
	}
}

const anyRevision = 1<<63 - 1

// seek decodes the rounds up to a moment. It ends at the last round that is not after the moment's time and
// whose metadata is not after the moment's revision. If no such round exists, lacks is the reason. lacks is
// "" if processes were never queried.
func (r *Rounds) seek(ctx context.Context, revision int64, at time.Time) (lacks string, err error) {
	chunks, err := chunksOf(ctx, r.src, revision, at)
	if err != nil {
		return "", err
	}
	// the metadata is still valid
	if lacks, err = r.advance(ctx, chunks, revision, at); err != nil && ctx.Err() == nil {
		r.Close()
		r.chunk, r.decoder = nil, nil
		return err.Error(), nil
	}
	return lacks, err
}

func (r *Rounds) advance(
	ctx context.Context, chunks []*source.Bundle, revision int64, at time.Time,
) (lacks string, err error) {
	chunk := chunks[len(chunks)-1]
	joined := false // the chunk continues the state of the decoder
	switch {
	case r.chunk == chunk:
		joined = true
	case r.chunk != nil && r.chunk == chunks[0]:
		if err := r.decodeUntil(anyRevision, time.Time{}); err != nil {
			return "", err
		}
		joined = true
		r.open(ctx, chunk)
	default:
		r.decoder = &roundDecoder{}
		r.open(ctx, chunk)
	}
	if err := r.decodeUntil(revision, at); err != nil {
		return "", err
	}
	if !joined && r.decoded < 2 && len(chunks) > 1 { // rates and longer-lived answers need the previous chunk
		r.decoder = &roundDecoder{}
		r.open(ctx, chunks[0])
		if err := r.decodeUntil(revision, at); err != nil {
			return "", err
		}
		r.open(ctx, chunk)
		if err := r.decodeUntil(revision, at); err != nil {
			return "", err
		}
	}
	d := r.decoder
	if d.number == 0 {
		if later, err := r.peek(); err != nil || !later {
			return "", err
		}
		return "the processes were first queried later", nil
	}
	if late := at.Sub(d.at); isStale(late, d.head.Every) {
		return fmt.Sprintf("the processes were not queried for %s before that", late.Round(time.Second)), nil
	}
	return "", nil
}

// SnapToRound returns the moment of the last round before a point, for which both metadata and answers are known. It
// returns p if no such round exists.
func (r *Rounds) SnapToRound(ctx context.Context, p meta.Point) (meta.Point, error) {
	var err error
	if r.missingReason, err = r.seek(ctx, p.Revision, p.Moment.Time); err != nil || r.missingReason != "" ||
		!r.known() {
		return p, err
	}
	return meta.Point{Revision: r.decoder.head.Revision, Moment: meta.Moment{Time: r.decoder.at}, Dated: true}, nil
}

// known reports whether a round was decoded.
func (r *Rounds) known() bool { return r.decoder != nil && r.decoder.number > 0 }

// AddState adds the process state at the last sought moment to c, the cluster of that moment. If the state is
// missing, AddState adds a gap.
func (r *Rounds) AddState(c *model.Cluster) *model.Cluster {
	where := r.src.Origin().Location
	if r.missingReason != "" {
		return c.WithGaps(model.Gap{Where: "node answers, in " + where, Reason: r.missingReason})
	}
	if !r.known() {
		return c
	}
	if e := r.decoder.head.Etcd; e != nil {
		c = c.WithEtcd(e)
	}
	records := r.decoder.last()
	if len(records) == 0 {
		return c
	}
	d := live.NewDecoder()
	for i := range records {
		d.Add(records[i])
	}
	for i := range r.decoder.before {
		d.AddBefore(r.decoder.before[i])
	}
	return c.WithRuntime(d.Runtime("recording", where))
}

// withRecorded adds the process state that a recording has for the cluster's moment.
func withRecorded(ctx context.Context, r *Rounds, c *model.Cluster) (*model.Cluster, error) {
	var err error
	if r.missingReason, err = r.seek(ctx, c.Origin.Revision, c.Origin.Taken); err != nil {
		return nil, err
	}
	if c = r.AddState(c); c.Runtime == nil {
		return c, nil
	}
	return withConfigChanges(ctx, r.src, r.decoder.head.Revision, markChanged(ctx, r.src, r.decoder.head.Revision, c)),
		nil
}

// markChanged adds the changes between the revision at which the processes were queried and the cluster's own
// revision. For changed objects, metadata and answers may differ although both are correct.
func markChanged(ctx context.Context, src source.Source, revision int64, c *model.Cluster) *model.Cluster {
	if revision == c.Origin.Revision || !c.Loaded.Has(model.PartCatalog) {
		return c
	}
	before, err := partsAt(ctx, src, source.Header{}, revision, model.PartCatalog)
	if err != nil {
		return c // its chunk was removed
	}
	return c.WithReread(before)
}

// withConfigChanges adds the changes of dynamic keys since model.ConfigChangeWindow before the processes were queried.
// Keys that the processes had not yet applied, or that changed only later, do not count as differences between
// processes and etcd.
func withConfigChanges(ctx context.Context, src source.Source, revision int64, c *model.Cluster) *model.Cluster {
	if c.Runtime.From.IsZero() || !c.Loaded.Has(model.PartConfig) {
		return c
	}
	if earlier, known := revisionBy(ctx, src, c.Runtime.From.Add(-model.ConfigChangeWindow)); known {
		revision = earlier // otherwise it is before the recording
	}
	before, err := partsAt(ctx, src, source.Header{}, revision, model.PartConfig)
	if err != nil {
		return c // its chunk was removed
	}
	return c.WithConfigChanges(model.ConfigChanges(before.Config, c.Config, c.Origin.Taken))
}

// partsAt loads parts of the metadata at a revision. header is a header of the source.
func partsAt(
	ctx context.Context, src source.Source, header source.Header, revision int64, parts model.Part,
) (*model.Cluster, error) {
	past, err := source.PastOf(src)
	if err != nil {
		return nil, err
	}
	snap, err := past.PinAt(ctx, header, revision)
	if err != nil {
		return nil, err
	}
	defer snap.Close()
	return meta.Load(ctx, snap, meta.Want{Parts: parts})
}

// revisionBy returns the last revision written at or before a time, and whether it is known.
func revisionBy(ctx context.Context, src source.Source, at time.Time) (revision int64, known bool) {
	past, err := source.PastOf(src)
	if err != nil {
		return 0, false
	}
	newest, err := src.Pin(ctx)
	if err != nil {
		return 0, false
	}
	defer newest.Close()
	p, err := meta.PointAt(ctx, past, newest.Header(), at)
	return p.Revision, err == nil
}

// chunksOf returns the chunks of a recording with the answers for a revision and a time: the chunk that has it,
// preceded by the chunk that it continues, if any.
func chunksOf(ctx context.Context, src source.Source, revision int64, at time.Time) ([]*source.Bundle, error) {
	if r, ok := src.(*source.Recording); ok {
		return r.Chunks(ctx, revision, at)
	}
	return []*source.Bundle{src.(*source.Bundle)}, nil
}

// hasRounds reports whether a source has the process state of past moments.
func hasRounds(src source.Source) bool {
	b, isBundle := src.(*source.Bundle)
	_, isRecording := src.(*source.Recording)
	return isRecording || isBundle && b.Manifest().History != nil && b.Manifest().History.Recorded
}
