package session

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"kitescope/inspect/meta"
	"kitescope/inspect/source"
	"kitescope/internal/hints"
	"kitescope/internal/table"
)

// At is the moment at which a cluster is loaded. The zero value is the newest moment.
type At struct {
	text     string
	revision int64
	when     table.When
}

// AtForms lists the accepted forms of a moment, for help texts.
const AtForms = table.WhenForms + ", rev:24519"

// IsZero reports whether a is the newest moment: unset or "now".
func (a *At) IsZero() bool { return a.text == "" || a.text == "now" }

// Named reports whether a is set. "now" counts as set, because it is a valid bound.
func (a *At) Named() bool { return a.text != "" }

// String implements pflag.Value.
func (a *At) String() string { return a.text }

// Type implements pflag.Value.
func (a *At) Type() string { return "time" }

// Set implements pflag.Value. It parses a revision, a time in the forms of filters, or "now".
func (a *At) Set(text string) (err error) {
	*a = At{text: text}
	if n, ok := strings.CutPrefix(text, "rev:"); ok {
		if a.revision, err = strconv.ParseInt(n, 10, 64); err != nil || a.revision <= 0 {
			return fmt.Errorf("%q is not a revision", n)
		}
		return nil
	}
	if a.when, err = table.ParseWhen(text); err != nil {
		return errors.New("expected one of: " + AtForms)
	}
	return nil
}

// Revision returns the revision, or 0 if a is not a revision.
func (a *At) Revision() int64 { return a.revision }

// Timed reports whether a is a time in any form.
func (a *At) Timed() bool { return a.Named() && a.revision == 0 }

// When returns the time of a, or the zero time if a is not a time. end is the newest moment of the source, to which
// relative times refer.
func (a *At) When(end time.Time) time.Time {
	if !a.Timed() {
		return time.Time{}
	}
	t, _ := a.when.In(end)
	return t
}

// Point returns the revision at the moment a. end is the time of the newest revision. It returns an error if end is
// unknown and a is a time relative to it.
func (a *At) Point(ctx context.Context, past source.Past, newest source.Header, end time.Time) (meta.Point, error) {
	if a.revision > 0 {
		return meta.PointOf(ctx, past, newest, a.revision)
	}
	if end.IsZero() && a.when.FromNow() {
		return meta.Point{}, hints.Errorf("name a revision: rev:N",
			"read the past of %s: unknown when it was taken", newest.Origin.Location)
	}
	return meta.PointAt(ctx, past, newest, a.When(end))
}

// then is a source at a past moment. It is not live, because processes cannot report their past state.
type then struct {
	past source.Past
	at   At
	told func(meta.Point)
}

var _ source.Source = (*then)(nil)

// Origin returns the origin of the underlying source.
func (t *then) Origin() source.Origin { return t.past.Origin() }

// Close closes the underlying source.
func (t *then) Close() error { return t.past.Close() }

// Recording returns the underlying source if it has more than metadata for past moments. Otherwise it returns nil.
func (t *then) Recording() source.Source {
	switch s := t.past.(type) {
	case *source.Recording:
		return s
	case *source.Bundle:
		if s.Manifest().History.Recorded {
			return s
		}
	}
	return nil
}

// Pin pins the revision of the moment.
func (t *then) Pin(ctx context.Context) (source.Snapshot, error) {
	newest, err := t.past.Pin(ctx)
	if err != nil {
		return nil, err
	}
	defer newest.Close()
	p, err := t.at.Point(ctx, t.past, newest.Header(), newest.Header().Taken)
	if err != nil {
		return nil, err
	}
	snap, err := t.past.PinAt(ctx, newest.Header(), p.Revision)
	if err != nil {
		return nil, err
	}
	if t.told != nil {
		t.told(p)
	}
	h := meta.HeaderAt(snap.Header(), newest.Header(), p.Moment)
	if t.at.Timed() && t.Recording() != nil { // select answers by this time, not by the time of the last write before it
		h.Taken = t.at.When(newest.Header().Taken)
	}
	return &dated{snap, h}, nil
}

// dated is a snapshot with its own header, which has the known time.
type dated struct {
	source.Snapshot
	header source.Header
}

// Header implements source.Snapshot.
func (d *dated) Header() source.Header { return d.header }

// Then returns src as of a moment, or src itself for the newest moment. It returns an error if src has no past.
func (l *Loader) Then(src source.Source, at At) (source.Source, error) {
	if at.IsZero() {
		return src, nil
	}
	past, err := source.PastOf(src)
	if err != nil {
		return nil, err
	}
	return &then{past: past, at: at, told: l.AsOf}, nil
}
