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

// At says of which moment a cluster is loaded. The zero value is the newest one.
type At struct {
	text     string
	revision int64
	when     table.When
}

// AtForms are the forms of a moment, for help.
const AtForms = table.WhenForms + ", rev:24519"

// IsZero reports whether the newest moment is meant: none is named, or "now".
func (a *At) IsZero() bool { return a.text == "" || a.text == "now" }

// Named reports whether any moment is: as a bound, "now" is one.
func (a *At) Named() bool { return a.text != "" }

// String implements pflag.Value.
func (a *At) String() string { return a.text }

// Type implements pflag.Value.
func (a *At) Type() string { return "time" }

// Set implements pflag.Value: a revision, a time as filters take it, or "now".
func (a *At) Set(text string) (err error) {
	*a = At{text: text}
	if n, ok := strings.CutPrefix(text, "rev:"); ok {
		if a.revision, err = strconv.ParseInt(n, 10, 64); err != nil || a.revision <= 0 {
			return fmt.Errorf("%q is not a revision", n)
		}
		return nil
	}
	if a.when, err = table.ParseWhen(text); err != nil {
		return errors.New("want one of: " + AtForms)
	}
	return nil
}

// Revision is the one that is named, 0 if none is.
func (a *At) Revision() int64 { return a.revision }

// Timed reports whether a time is meant, in whatever form.
func (a *At) Timed() bool { return a.Named() && a.revision == 0 }

// When is the time that is meant, where the newest moment of a source is end; zero where none is.
func (a *At) When(end time.Time) time.Time {
	if !a.Timed() {
		return time.Time{}
	}
	t, _ := a.when.In(end)
	return t
}

// Point finds the revision that is meant, where the newest moment is end.
func (a *At) Point(ctx context.Context, past source.Past, newest source.Header, end time.Time) (meta.Point, error) {
	if a.revision > 0 {
		return meta.PointOf(ctx, past, newest, a.revision)
	}
	if end.IsZero() && a.when.FromNow() {
		return meta.Point{}, hints.Errorf("name a revision: rev:N", "read the past of %s: it is not known when it was taken", newest.Origin.Location)
	}
	return meta.PointAt(ctx, past, newest, a.When(end))
}

// then is a source as it was at a moment. It is no more live than a file is: nobody can be asked how it was then.
type then struct {
	past source.Past
	at   At
	told func(meta.Point)
}

var _ source.Source = (*then)(nil)

// Origin is that of the source.
func (t *then) Origin() source.Origin { return t.past.Origin() }

// Close closes the source.
func (t *then) Close() error { return t.past.Close() }

// Recording is the source where it has more of each moment than metadata, nil where it does not.
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
	if t.at.Timed() && t.Recording() != nil { // what processes said is of that time, whenever something was written before it
		h.Taken = t.at.When(newest.Header().Taken)
	}
	return &dated{snap, h}, nil
}

// dated is a snapshot of which the time is known.
type dated struct {
	source.Snapshot
	header source.Header
}

// Header implements source.Snapshot.
func (d *dated) Header() source.Header { return d.header }

// Then is a source as it was at a moment; the source itself where that is the newest.
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
