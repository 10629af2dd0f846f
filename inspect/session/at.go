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

// IsSet reports whether a is set. "now" counts as set, because it is a valid bound.
func (a *At) IsSet() bool { return a.text != "" }

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

// IsTime reports whether a is a time in any form.
func (a *At) IsTime() bool { return a.IsSet() && a.revision == 0 }

// When returns the time of a, or the zero time if a is not a time. end is the newest moment of the source, to which
// relative times refer.
func (a *At) When(end time.Time) time.Time {
	if !a.IsTime() {
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

// pastSource is a source at a past moment. It is not live, because processes cannot report their past state.
type pastSource struct {
	past    source.Past
	at      At
	onPoint func(meta.Point)
}

var _ source.Source = (*pastSource)(nil)

// Origin returns the origin of the underlying source.
func (t *pastSource) Origin() source.Origin { return t.past.Origin() }

// Close closes the underlying source.
func (t *pastSource) Close() error { return t.past.Close() }

// Recording returns the underlying source if it has more than metadata for past moments. Otherwise it returns nil.
func (t *pastSource) Recording() source.Source {
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
func (t *pastSource) Pin(ctx context.Context) (source.Snapshot, error) {
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
	if t.onPoint != nil {
		t.onPoint(p)
	}
	h := meta.HeaderAt(snap.Header(), newest.Header(), p.Moment)
	// select answers by this time, not by the time of the last write before it
	if t.at.IsTime() && t.Recording() != nil {
		h.Taken = t.at.When(newest.Header().Taken)
	}
	return &datedSnapshot{snap, h}, nil
}

// datedSnapshot is a snapshot with its own header, which has the known time.
type datedSnapshot struct {
	source.Snapshot
	header source.Header
}

// Header implements source.Snapshot.
func (d *datedSnapshot) Header() source.Header { return d.header }

// SourceAt returns src as of a moment, or src itself for the newest moment. It returns an error if src has no past.
func (l *Loader) SourceAt(src source.Source, at At) (source.Source, error) {
	if at.IsZero() {
		return src, nil
	}
	past, err := source.PastOf(src)
	if err != nil {
		return nil, err
	}
	return &pastSource{past: past, at: at, onPoint: l.OnMoment}, nil
}
