package tui

import (
	"io"
	"slices"
	"strings"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/internal/shellquote"
	"kitescope/internal/words"
	"kitescope/tui/draw"
)

// detailPage describes one object: its fields, the objects that belong to it, and its decoded records.
type detailPage struct {
	Pane
	ref     model.Ref
	label   string
	env     *view.Env // the Env that content was built from
	busy    bool      // a description is in flight; a refresh waits for it
	content detailContent
	// findings are the findings that the lines were built with.
	findings []*check.Finding
}

// detailContent is the content of a detail page. It is built outside the event loop.
type detailContent struct {
	objectText
	table view.Table // nil if the object is gone
	row   int
	lost  bool // the object was deleted; this is its last known state
}

func newDetailPage(ref model.Ref) *detailPage {
	return &detailPage{ref: ref, label: refName(ref)}
}

func (d *detailPage) Scope() Scope  { return InDetail }
func (d *detailPage) Crumb() string { return draw.Cut(d.label, 40) }

func (d *detailPage) Body(m *Model, w, h int) []string {
	if d.env == nil {
		d.set(nil, 0)
		return []string{"", "   " + m.Styles.Dim.On("…")}
	}
	if findings := m.findingsAbout(d.ref); d.madeFor != w || !slices.Equal(findings, d.findings) {
		d.findings = findings
		d.layOut(m, w)
	}
	return d.draw(m.Styles, w, h)
}

func (d *detailPage) layOut(m *Model, w int) {
	switch {
	case d.content.Description == nil:
		d.set([]draw.TextLine{{Text: ""}, {Text: d.goneText(), Look: draw.LookDim}}, w)
	case d.content.lost:
		lines := []draw.TextLine{
			{Text: "▲ " + d.goneText() + "; its last known state is below", Look: draw.LookWarn}, {},
		}
		d.set(append(lines, d.contentLines(m, w)...), w)
	default:
		d.set(append(findingLines(m, d.findings, w), d.contentLines(m, w)...), w)
	}
}

func (d *detailPage) contentLines(m *Model, w int) []draw.TextLine {
	return d.content.lines(KeyOf(m, ActRelated), w)
}

func (d *detailPage) goneText() string {
	text := d.ref.Resource + " " + words.Sanitize(d.ref.ID)
	if d.label != words.Sanitize(d.ref.ID) {
		text += " (" + d.label + ")"
	}
	return text + " is gone from the metadata"
}

func (d *detailPage) Can(m *Model, a Action) string {
	o := &d.content
	switch a {
	case ActOwner, ActRelated, ActTree:
		if o.table == nil || o.lost {
			return "the object is gone"
		}
	}
	switch a {
	case ActOwner:
		if _, ok := o.table.Owner(o.row); !ok {
			return "a " + o.table.Resource().Singular + " has no owner"
		}
	case ActTree:
		if collectionOf(o.table, o.row) == 0 {
			return "a " + o.table.Resource().Singular + " belongs to no collection"
		}
	}
	return d.Pane.Can(m, a)
}

func (d *detailPage) Act(m *Model, a Action) Cmd {
	o := &d.content
	switch a {
	case ActOwner:
		owner, _ := o.table.Owner(o.row)
		return m.goTo(owner)
	case ActRelated:
		m.Menu = relatedMenu(m, o.table, o.row)
		return nil
	case ActTree:
		return openTree(m, collectionOf(o.table, o.row))
	case ActSave:
		return Save(m, FileName(d.ref.Resource, d.ref.ID)+".txt", TextWriter(d.plain()))
	}
	return d.Pane.Act(m, a)
}

func (d *detailPage) Refresh(m *Model) Cmd {
	if m.data.cluster == nil || d.busy || d.env == m.data.env {
		return nil
	}
	r := m.resource(d.ref.Resource)
	if r == nil {
		d.env = m.data.env
		return nil
	}
	d.busy = true
	return describe(describeQuery{d, r, m.data.env})
}

// describeQuery holds the inputs for describing an object outside the event loop.
type describeQuery struct {
	page     *detailPage
	resource *view.Resource
	env      *view.Env
}

func (q *describeQuery) run() detailContent {
	t := q.resource.Table(q.env)
	row := view.RowOf(t, q.page.ref.ID)
	if row < 0 {
		return detailContent{}
	}
	o := detailContent{table: t, row: row, objectText: objectTextOf(t, row)}
	return o
}

// describedMsg delivers the result of a describeQuery.
type describedMsg struct {
	query  describeQuery
	object detailContent
}

func (r describedMsg) Apply(m *Model) Cmd {
	d := r.query.page
	d.busy = false
	d.env, d.madeFor = r.query.env, 0
	if r.object.Description == nil && d.content.Description != nil {
		d.content.lost = true
	} else {
		d.content = r.object
	}
	if r.object.Description != nil && r.object.Description.Ref.Name != "" {
		d.label = refName(r.object.Description.Ref)
	}
	return d.Refresh(m)
}

func (d *detailPage) Object(*Model) (model.Ref, bool) { return d.ref, true }

func (d *detailPage) Command(m *Model) string {
	r := m.resource(d.ref.Resource)
	if r == nil {
		return ""
	}
	return shellquote.Shell("describe", r.Singular).Arg(d.ref.ID).Word("--records").String()
}

// TextWriter returns a function that writes text with exactly one newline at the end.
func TextWriter(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, strings.TrimRight(text, "\n")+"\n")
		return err
	}
}
