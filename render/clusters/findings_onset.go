package clusters

import (
	"time"

	"kitescope/inspect/check"
	"kitescope/inspect/history"
	"kitescope/inspect/why"
	"kitescope/internal/encode"
	"kitescope/internal/words"
	"kitescope/render"
)

// onset returns the onset of a finding, or nil if it was not computed.
func (d *Diagnosis) onset(f *check.Finding) *why.Onset { return d.Onsets[f] }

// OnsetText returns the onset of a finding as text, e.g. "09:14:10 ±2 s, 12 min before this state". now is the time
// of the report.
func OnsetText(o *why.Onset, now time.Time) string {
	if o.Unknown != "" {
		return "start unknown: " + render.Harmless(o.Unknown)
	}
	text := "revision " + words.Number(o.Revision)
	if !o.Began.IsZero() {
		text = clockTime(o.Began, now)
		if o.Error > time.Second {
			text += " ±" + words.Span(o.Error)
		}
	}
	if o.MaybeOlder {
		return "at least " + text + " (" + o.OlderReason + ")"
	}
	if ago := now.Sub(o.Began); !o.Began.IsZero() && !now.IsZero() && ago >= 0 {
		text += ", " + words.Span(ago) + " before this state"
	}
	return text
}

// clockTime returns the UTC time of day. It includes the date if that differs from the date of now.
func clockTime(t, now time.Time) string {
	if t.UTC().Format(time.DateOnly) == now.UTC().Format(time.DateOnly) {
		return t.UTC().Format(time.TimeOnly)
	}
	return render.Stamp(t)
}

// EventText returns an event in one line, e.g. "09:14:02 config/queryCoord/autoBalance set to false (was true)".
func EventText(e *history.Event, now time.Time) string {
	name := e.Object.Name
	if name == "" {
		name = e.Object.ID
	}
	text := render.Harmless(e.Object.Resource+"/"+name) + " " + render.Harmless(e.Message)
	if e.Time.IsZero() {
		return "revision " + words.Number(e.Revision) + " " + text
	}
	return clockTime(e.Time, now) + " " + text
}

// onsetLines returns the labels and texts of a finding's onset and of the events before it.
func (d *Diagnosis) onsetLines(f *check.Finding) (lines []struct{ label, text string }) {
	o := d.onset(f)
	if o == nil {
		return nil
	}
	add := func(label, text string) { lines = append(lines, struct{ label, text string }{label, text}) }
	add("since", OnsetText(o, d.Report.Now))
	for i := range o.Before {
		add("preceded by", EventText(&o.Before[i], d.Report.Now))
	}
	return lines
}

// writeOnset writes the onset of a finding. It writes nothing if the onset was not computed.
func writeOnset(e *encode.Encoder, o *why.Onset) {
	if o == nil {
		return
	}
	if o.Unknown != "" {
		e.Entry("began_unknown", o.Unknown)
	} else {
		e.Entry("began", o.Began)
		if !o.Began.IsZero() && o.Error >= 0 {
			e.Entry("began_error_seconds", o.Error.Seconds())
		}
		e.Entry("began_revision", o.Revision)
		e.Entry("began_at_least", o.MaybeOlder)
	}
	e.Key("before")
	e.BeginList()
	for i := range o.Before {
		x := &o.Before[i]
		e.BeginObject()
		e.Entry("time", x.Time)
		e.Entry("revision", x.Revision)
		e.Entry("kind", string(x.Kind))
		e.Entry("object", x.Object)
		e.Entry("message", x.Message)
		e.EndObject()
	}
	e.EndList()
}
