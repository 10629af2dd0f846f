// Package rendertest provides helpers for tests of reports, pages and pictures: goldens, parsers of output, and
// hostile names. The caller passes a function that draws a page or picture with a given name. The test fails if
// the name adds anything but text.
package rendertest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// attacks returns names that try to end their context in various languages.
func attacks() []string {
	return []string{
		"<!--", "-->", "]]>", "<![CDATA[", "</script><script>alert(1)</script>", "<!--<script>", "</svg><svg onload=x>",
		"</title></style><b>", `"onload="x`, "'onload='x",
		"javascript:x", "&#60;b&#62;", "<?xml?>", "a\u2028b\u2029c", "\u202ea\u2066", "nul\x00\x1b[31m",
		"bad\xff\xc3\x28\xed\xa0\x80", "\ufffe\uffff",
		strings.Repeat("<b>&\"'", 200_000),
	}
}

// CheckInjection checks that a page or picture with a hostile name has no elements or attributes other than
// one with a harmless name, and that it is at most 1 MiB larger. The keys of forms are file names, whose
// extension selects the parser.
func CheckInjection(t *testing.T, forms map[string]func(w io.Writer, name string) error) {
	t.Helper()
	for form, draw := range forms {
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

// structureOf returns the set of elements on a page, each with its parent and the names of its attributes.
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
