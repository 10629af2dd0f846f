// Package clusters writes inspected clusters to an io.Writer: lists, objects with their records, trees, overviews,
// differences, findings, and the balance of query nodes. Lists and reports become a render.Sheet. The width is in
// render.Options.
//
//  1. Grid, Description, Tree, Overview and Diff write values of package view and package diff.
//  2. Findings writes a Diagnosis: a check.Report, and how it is to be shown (findings.go). The impact on clients comes
//     first (impact.go), then the findings (findings_lines.go) with their fixes (fix.go). findings_json.go has the
//     JSON, html.go the page.
//  3. WriteBalance writes the distribution of search work and its plan.
//
// The UI shows the same texts of findings, impact and fixes.
package clusters

import (
	"io"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/render"
)

// Grid writes a list of objects.
func Grid(w io.Writer, g *view.Grid, o render.Options) error {
	return listSheet(g, &o).Write(w, o.Format)
}

// Description writes an object with its sections and the records it was decoded from.
func Description(w io.Writer, d *view.Description, env *view.Env, found *Found, o render.Options) error {
	if o.Format.Documents() {
		return descriptionDocument(d, env, found).Write(w, &o)
	}
	return writeDescription(w, d, env, found, &o)
}

// Tree writes the tree of a collection.
func Tree(w io.Writer, n *view.Node, env *view.Env, o render.Options) error {
	if o.Format.Documents() {
		return treeDocument(n, env).Write(w, &o)
	}
	return writeTree(w, n, &o)
}

// Overview writes the overview of a cluster.
func Overview(w io.Writer, v *view.Overview, found *Found, o render.Options) error {
	if o.Format.Documents() {
		return overviewDocument(v, found).Write(w, &o)
	}
	out := encode.NewOutput(w, encode.Pieces)
	render.WriteLines(&out, overviewLines(v, found, &o), &o)
	return out.Flush()
}

// listSheet returns the sheet of a list.
func listSheet(g *view.Grid, o *render.Options) *render.Sheet {
	c := g.Table.Env().Cluster
	return &render.Sheet{
		Kind: g.Table.Resource().Kind + "List", Options: &render.ReportOptions{Options: *o}, TableOnly: true,
		Items: &g.Grid, Parts: []render.Part{{List: func(table.Show) *table.Grid { return &g.Grid }}},
		About: func(e *encode.Encoder) { writeSource(e, &c.Origin, c.Gaps) },
	}
}

func writeHead(e *encode.Encoder, kind string, origin *model.Origin, gaps []model.Gap) {
	e.Entry("apiVersion", render.APIVersion)
	e.Entry("kind", kind)
	writeSource(e, origin, gaps)
}

// writeSource writes the source of the data and its gaps.
func writeSource(e *encode.Encoder, origin *model.Origin, gaps []model.Gap) {
	e.Key("source")
	writeOrigin(e, origin)
	e.NonZero("incomplete", gaps)
}

func writeOrigin(e *encode.Encoder, o *model.Origin) {
	e.BeginObject()
	e.Entry("kind", o.Kind)
	e.Entry("location", o.Location)
	e.Entry("root", o.Root)
	e.Key("revision")
	if o.Revision == 0 {
		e.Text("")
	} else {
		e.ID(o.Revision)
	}
	e.Entry("taken", o.Taken)
	e.NonZero("taken_is_file_date", o.FileDate)
	e.EndObject()
}

// JudgementOf returns the findings of a report for the tables of its cluster.
func JudgementOf(r *check.Report) *view.Judgement {
	findings := make([]view.Finding, len(r.Findings))
	for i, f := range r.Findings {
		findings[i] = view.Finding{
			Objects: append([]view.Ref{f.Object}, f.Objects...), Severity: view.Severity(f.Severity), Check: f.Check,
		}
	}
	return view.NewJudgement(findings)
}
