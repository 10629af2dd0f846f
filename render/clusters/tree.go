package clusters

import (
	"io"
	"slices"
	"strings"

	"kitescope/inspect/view"
	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
)

func treeDocument(n *view.Node, env *view.Env) render.Document {
	return func(e *encode.Encoder) {
		e.BeginObject()
		writeHead(e, "Tree", &env.Cluster.Origin, env.Cluster.Gaps)
		e.Key("item")
		writeNode(e, n)
		e.EndObject()
	}
}

func writeNode(e *encode.Encoder, n *view.Node) {
	fields := n.Fields()
	e.BeginObject()
	e.Entry("kind", n.Kind)
	e.Entry("label", n.Label)
	if !slices.ContainsFunc(fields, func(f view.Field) bool { return f.Column.Name == "id" }) {
		e.Entry("id", n.Ref.ID)
	}
	e.NonZero("unknown", writeFieldsInto(e, fields))
	e.Key("children")
	e.BeginList()
	for _, c := range n.Children {
		writeNode(e, c)
	}
	e.EndList()
	e.EndObject()
}

// branches holds the connectors that a tree is drawn with.
type branches struct{ child, last, through, blank string }

var (
	boxBranches   = branches{"├─ ", "└─ ", "│  ", "   "}
	asciiBranches = branches{"|- ", "`- ", "|  ", "   "}
)

// writeTree draws a tree with one line per node. Lines are never wider than the terminal.
func writeTree(w io.Writer, n *view.Node, o *render.Options) error {
	out := encode.NewOutput(w, encode.Pieces)
	d := treeDrawer{out: &out, painter: render.NewPainter(o), branches: boxBranches, width: o.Width, ellipsis: "…"}
	if o.ASCII {
		d.branches, d.ellipsis = asciiBranches, "~"
	}
	d.draw(n, "", "")
	return out.Flush()
}

type treeDrawer struct {
	out      *encode.Output
	painter  render.Painter
	branches branches
	width    int
	ellipsis string
}

// draw writes a node after the prefix first, and its children after the prefix rest.
func (d *treeDrawer) draw(n *view.Node, first, rest string) {
	line := d.painter.Paint(nil, render.RoleDim, first)
	role := render.RolePlain
	if n.Kind != "segment" {
		role = render.RoleAccent
	}
	line = d.painter.Paint(line, role, render.Harmless(n.Label))
	for _, f := range n.Fields() {
		if text, role := Remark(f); text != "" {
			line = d.painter.Paint(append(line, ' ', ' '), role, text)
		}
	}
	if d.width > 0 {
		line = []byte(render.Fit(string(line), d.width, d.ellipsis))
	}
	d.out.Buf = append(append(d.out.Buf, line...), '\n')
	d.out.Drain()
	for i, c := range n.Children {
		if i == len(n.Children)-1 {
			d.draw(c, rest+d.branches.last, rest+d.branches.blank)
		} else {
			d.draw(c, rest+d.branches.child, rest+d.branches.through)
		}
	}
}

// Remark returns a field as a phrase, e.g. "3000 rows", "Flushed", "indexed 91%". It returns "" if the field is empty
// or has its usual value.
func Remark(f view.Field) (text string, role render.Role) {
	if f.Cell.Absent == table.None ||
		render.EmptyWhenNone(f.Column.Kind) && render.Text(f.Cell, f.Column.Kind) == words.NoneMark {
		return "", render.RolePlain
	}
	if f.Cell.Absent == table.Present &&
		(f.Column.Name == "deleted_rows" && f.Cell.Int == 0 ||
			f.Column.Name == "index_state" && f.Cell.Text == "NotNeeded") {
		return "", render.RolePlain // the usual value
	}
	value, role := render.Text(f.Cell, f.Column.Kind), render.CellRole(f.Cell, f.Column.Kind)
	name := f.Column.Label()
	switch f.Column.Kind {
	case table.Int:
		if f.Cell.Absent == table.Present && f.Cell.Int == 1 {
			name = strings.TrimSuffix(name, "s")
		}
		return value + " " + name, role
	case table.Bytes:
		if f.Cell.Absent == table.Unknown {
			return name + " " + value, role
		}
		return value, role
	case table.State:
		if f.Cell.Absent == table.Unknown {
			return name + " " + value, role
		}
		if f.Column.Name == "index_state" {
			return "index " + value, role
		}
		return value, role
	case table.Text:
		return value, render.RoleDim
	case table.Findings:
		return value, role
	default:
		return name + " " + value, render.RoleDim
	}
}
