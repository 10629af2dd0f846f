package flame

import (
	"io"

	"kitescope/profile/flame"
	"kitescope/render"
)

// Graph is the input of the formats.
type Graph struct {
	Tree *flame.Tree
	// More makes the trees of the other sample types, for the page alone.
	More    func() ([]*flame.Tree, error)
	Options Options
}

// outputs write the formats of flame graphs.
func outputs() map[string]func(w io.Writer, g *Graph) error {
	return map[string]func(w io.Writer, g *Graph) error{
		"html":   writePage,
		"svg":    func(w io.Writer, g *Graph) error { return SVG(w, g.Tree, g.Options) },
		"folded": func(w io.Writer, g *Graph) error { return Folded(w, g.Tree) },
	}
}

// Formats are the formats of flame graphs.
func Formats() render.Formats { return render.FormatsBy(outputs()) }

// Write writes a flame graph in one of Formats.
func Write(w io.Writer, g *Graph, f render.Format) error { return outputs()[f.Name()](w, g) }

func writePage(w io.Writer, g *Graph) error {
	more, err := g.More()
	if err != nil {
		return err
	}
	o := g.Options
	o.More = more
	return HTML(w, g.Tree, o)
}
