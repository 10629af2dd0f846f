package kept

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"kitescope/inspect/live"
	"kitescope/inspect/session/rounds"
	"kitescope/inspect/source"
)

// memo is what was read of a recording, for who goes from moment to moment: chunks are unpacked once, and moments that are close have the
// same round. It holds what is near the last moment, and is not safe for concurrent use.
type memo struct {
	tapes   []*tape     // the last ones that were used, the last behind
	moments []*heldOnto // the same of moments
}

// Bounds of what a memo holds: a moment may be at the beginning of a chunk, and need the one before it.
const (
	maxTapes     = 2
	maxTapeBytes = 96 << 20 // rounds of a chunk; more than one that was recorded has
	maxMoments   = 8
	maxFrames    = 64 << 20 // bytes of decoders that stand at a round
	// frameEvery is how many rounds are between these.
	frameEvery = 32
)

// heldOnto is a moment, and what it was read from.
type heldOnto struct {
	chunk, before *source.Bundle
	n             int
	moment        *moment
}

// rounds lists the rounds of a chunk.
func (k *memo) rounds(ctx context.Context, chunk *source.Bundle) ([]mark, error) {
	t, err := k.tape(ctx, chunk)
	if err != nil {
		return nil, err
	}
	return t.marks, nil
}

// read reads the n-th round of a chunk, with the scrapes of the round before it, for rates, and what was answered last to questions
// that are not asked each time. before is the chunk before it, where the round is the first.
func (k *memo) read(ctx context.Context, chunk, before *source.Bundle, n int) (*moment, error) {
	at := slices.IndexFunc(k.moments, func(h *heldOnto) bool { return h.chunk == chunk && h.before == before && h.n == n })
	if at >= 0 {
		k.moments = toEnd(k.moments, at)
		return k.moments[len(k.moments)-1].moment, nil
	}
	m := &moment{}
	if before != nil {
		t, err := k.tape(ctx, before)
		if err != nil {
			return nil, err
		}
		d, err := t.upTo(ctx, len(t.marks))
		if err != nil {
			return nil, err
		}
		m.before = d.Scrapes()
	}
	t, err := k.tape(ctx, chunk)
	if err != nil {
		return nil, err
	}
	d, err := t.upTo(ctx, n)
	if err != nil {
		return nil, err
	}
	if n > 0 {
		m.before = d.Scrapes()
	}
	if d, err = t.upTo(ctx, n+1); err != nil {
		return nil, err
	}
	round, err := d.Round()
	if err != nil {
		return nil, err
	}
	m.records, m.etcd, m.revision = slices.Concat(round.Records, d.Last(lasting, live.IsTold)), round.Etcd, round.Revision
	if k.moments = append(k.moments, &heldOnto{chunk, before, n, m}); len(k.moments) > maxMoments {
		k.moments = slices.Delete(k.moments, 0, 1)
	}
	return m, nil
}

// tape is that of a chunk.
func (k *memo) tape(ctx context.Context, chunk *source.Bundle) (*tape, error) {
	if at := slices.IndexFunc(k.tapes, func(t *tape) bool { return t.chunk == chunk }); at >= 0 {
		k.tapes = toEnd(k.tapes, at)
		return k.tapes[len(k.tapes)-1], nil
	}
	t, err := newTape(ctx, chunk)
	if err != nil {
		return nil, err
	}
	if k.tapes = append(k.tapes, t); len(k.tapes) > maxTapes {
		k.tapes = slices.Delete(k.tapes, 0, 1)
	}
	return t, nil
}

func toEnd[T any](list []T, at int) []T {
	x := list[at]
	return append(slices.Delete(list, at, at+1), x)
}

// tape is the rounds of a chunk as they were written, and a decoder that has taken some of them in: from one to the next costs what is
// between them, also back, as decoders of before are kept.
type tape struct {
	chunk    *source.Bundle
	marks    []mark
	contents [][]byte // nil where they are too many to hold

	decoder *rounds.Decoder // nil: none, or it is of no use
	taken   int             // rounds that it has taken in
	frames  []frame
}

// frame is a decoder that has taken so many rounds in, and stays there.
type frame struct {
	taken   int
	decoder *rounds.Decoder
}

func newTape(ctx context.Context, chunk *source.Bundle) (*tape, error) {
	t, size := &tape{chunk: chunk}, 0
	err := chunk.History(ctx, func(m source.HistoryMember) error {
		if m.Kind != rounds.Kind {
			return nil
		}
		revision, every, err := rounds.Header(m.Content)
		if err != nil {
			return err
		}
		t.marks = append(t.marks, mark{m.At, revision, every})
		if size += len(m.Content); size <= maxTapeBytes {
			t.contents = append(t.contents, slices.Clone(m.Content))
		} else {
			t.contents = nil
		}
		return nil
	})
	return t, err
}

// upTo is a decoder that has taken n rounds in. It is valid until the next call.
func (t *tape) upTo(ctx context.Context, n int) (*rounds.Decoder, error) {
	if t.decoder == nil || t.taken > n {
		t.rewind(n)
	}
	err := t.between(ctx, t.taken, n, func(at time.Time, content []byte) error {
		if err := t.decoder.Add(at, content); err != nil {
			return fmt.Errorf("read node answers of %s: %w", at.Format(time.RFC3339), err)
		}
		if t.taken++; t.taken%frameEvery == 0 {
			t.keepFrame()
		}
		return nil
	})
	d := t.decoder
	if err != nil {
		t.decoder = nil // it may have been told half of a round
	}
	return d, err
}

// rewind goes back to the last frame that has no more than n rounds.
func (t *tape) rewind(n int) {
	t.decoder, t.taken = nil, 0
	for _, f := range t.frames {
		if f.taken <= n && f.taken > t.taken {
			t.decoder, t.taken = f.decoder, f.taken
		}
	}
	if t.decoder == nil {
		t.decoder = rounds.NewDecoder()
	} else {
		t.decoder = t.decoder.Clone()
	}
}

// keepFrame keeps the decoder as it is now. Where there are too many, those go that are furthest away.
func (t *tape) keepFrame() {
	if slices.ContainsFunc(t.frames, func(f frame) bool { return f.taken == t.taken }) {
		return
	}
	t.frames = append(t.frames, frame{t.taken, t.decoder.Clone()})
	for size := t.frameBytes(); size > maxFrames; size = t.frameBytes() {
		furthest := 0
		for i, f := range t.frames {
			if abs(f.taken-t.taken) > abs(t.frames[furthest].taken-t.taken) {
				furthest = i
			}
		}
		t.frames = slices.Delete(t.frames, furthest, furthest+1)
	}
}

func (t *tape) frameBytes() (sum int64) {
	for _, f := range t.frames {
		sum += f.decoder.Weight()
	}
	return sum
}

func abs(n int) int { return max(n, -n) }

// between calls take with the rounds from one on, before another.
func (t *tape) between(ctx context.Context, from, to int, take func(at time.Time, content []byte) error) error {
	switch {
	case from >= to:
		return nil
	case t.contents == nil:
		return t.unpack(ctx, from, to, take)
	}
	for i := from; i < min(to, len(t.contents)); i++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := take(t.marks[i].at, t.contents[i]); err != nil {
			return err
		}
	}
	return nil
}

// errReached ends a walk.
var errReached = errors.New("reached")

// unpack is between out of the chunk itself.
func (t *tape) unpack(ctx context.Context, from, to int, take func(at time.Time, content []byte) error) error {
	i := 0
	err := t.chunk.History(ctx, func(m source.HistoryMember) error {
		if m.Kind != rounds.Kind {
			return nil
		}
		if i >= from {
			if err := take(m.At, m.Content); err != nil {
				return err
			}
		}
		if i++; i == to {
			return errReached
		}
		return nil
	})
	if errors.Is(err, errReached) {
		return nil
	}
	return err
}
