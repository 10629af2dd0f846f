package flame

import (
	"io"

	"kitescope/profile/flame"
	"kitescope/render"
)

// Graph is the input of all formats.
type Graph struct {
	Tree *flame.Tree
	// More returns the trees of the other sample types. Only the page uses them.
	More    func() ([]*flame.Tree, error)
	Options Options
}

// outputs maps format names to functions that write a flame graph.
func outputs() map[string]func(w io.Writer, g *Graph) error {
	return map[string]func(w io.Writer, g *Graph) error{
		"html":   writePage,
		"svg":    func(w io.Writer, g *Graph) error { return SVG(w, g.Tree, g.Options) },
		"folded": func(w io.Writer, g *Graph) error { return Folded(w, g.Tree) },
	}
}

// Formats returns the formats of flame graphs.
func Formats() render.Formats { return render.FormatsBy(outputs()) }

// Write writes a flame graph in a format from Formats.
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
