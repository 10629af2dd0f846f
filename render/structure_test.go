package render

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"kitescope/profile"
	"kitescope/profile/bench"
	"kitescope/profile/flame"
)

// attacks are names that end what they stand in, in one language or another.
func attacks() []string {
	return []string{
		"<!--", "-->", "]]>", "<![CDATA[", "</script><script>alert(1)</script>", "<!--<script>", "</svg><svg onload=x>", "</title></style><b>", `"onload="x`, "'onload='x",
		"javascript:x", "&#60;b&#62;", "<?xml?>", "a\u2028b\u2029c", "\u202ea\u2066", "nul\x00\x1b[31m", "bad\xff\xc3\x28\xed\xa0\x80", "\ufffe\uffff",
		strings.Repeat("<b>&\"'", 200_000),
	}
}

// TestNamesAreNoStructure holds that a page or a picture of hostile names has the elements and the attributes that
// one of harmless names has, in their order, and that it is bounded.
func TestNamesAreNoStructure(t *testing.T) {
	for form, draw := range map[string]func(w io.Writer, name string) error{
		"flame.svg": func(w io.Writer, name string) error {
			return FlameSVG(w, namedTree(t, name), FlameOptions{Title: name, Subtitle: name, Width: 600})
		},
		"flame.html": func(w io.Writer, name string) error {
			return FlameHTML(w, namedTree(t, name), FlameOptions{Title: name, Subtitle: name})
		},
		"compare.svg": func(w io.Writer, name string) error {
			c := goComparison()
			c.A.Name, c.B.Name = name, name
			for i := range c.Lines {
				c.Lines[i].Metric = bench.Metric{Name: name, Of: name, Unit: "1/s"}
			}
			return WriteComparisonPlot(w, c, "distributions", "svg")
		},
	} {
		var harmless bytes.Buffer
		if err := draw(&harmless, "harmless"); err != nil {
			t.Fatal(err)
		}
		want := structureOf(t, form, harmless.Bytes())
		for _, name := range attacks() {
			var b bytes.Buffer
			if err := draw(&b, name); err != nil {
				t.Fatal(err)
			}
			if b.Len() > harmless.Len()+1<<20 {
				t.Errorf("%s of %.30q has %d bytes", form, name, b.Len())
			}
			for element := range structureOf(t, form, b.Bytes()) {
				if !want[element] {
					t.Errorf("%s of %.30q has %s", form, name, element)
				}
			}
		}
	}
}

// namedTree has 300 frames that a name stands in.
func namedTree(t *testing.T, name string) *flame.Tree {
	t.Helper()
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"})
	for i := range 300 {
		stack := []uint32{b.Frame(strings.Repeat("f", i+1)+name, profile.NoMapping), b.Frame(name, profile.NoMapping)}
		if err := b.Sample(stack, []int64{int64(i + 1)}); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := flame.New(b.Profile(), flame.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// structureOf is what elements with which attributes are on a page, each below which.
func structureOf(t *testing.T, form string, page []byte) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	if strings.HasSuffix(form, ".html") {
		root, err := html.Parse(bytes.NewReader(page))
		if err != nil {
			t.Fatal(err)
		}
		for n := range root.Descendants() {
			if n.Type == html.TextNode {
				continue
			}
			keys := []string{}
			for _, a := range n.Attr {
				keys = append(keys, a.Key)
			}
			slices.Sort(keys)
			of := n.Data
			if n.Type == html.CommentNode {
				of = "a comment"
			}
			found[n.Parent.Data+" > "+of+" "+strings.Join(keys, ",")] = true
		}
		return found
	}
	d := xml.NewDecoder(bytes.NewReader(page))
	path := []string{""}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			keys := []string{}
			for _, a := range x.Attr {
				keys = append(keys, a.Name.Local)
			}
			found[path[len(path)-1]+" > "+x.Name.Local+" "+strings.Join(keys, ",")] = true
			path = append(path, x.Name.Local)
		case xml.EndElement:
			path = path[:len(path)-1]
		case xml.Comment:
			found["a comment"] = true
		}
	}
}
