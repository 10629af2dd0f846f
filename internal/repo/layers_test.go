package repo_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// layer is a row of the table of layers in docs/ARCHITECTURE.md.
type layer struct {
	name           string
	packages, uses []string
}

var layerRow = regexp.MustCompile(`(?m)^\| \*\*(\w+)\*\* \| ([^|]+) \| ([^|]*)\|$`)

// TestLayers checks the imports of every package against the table: a package may import packages of its own layer
// and of the layers in its row.
func TestLayers(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs/ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	var layers []layer
	for _, m := range layerRow.FindAllStringSubmatch(string(text), -1) {
		l := layer{name: m[1], uses: strings.Fields(strings.ReplaceAll(m[3], ",", " "))}
		for name := range strings.FieldsFuncSeq(m[2], func(r rune) bool { return strings.ContainsRune("`, ", r) }) {
			l.packages = append(l.packages, name)
		}
		layers = append(layers, l)
	}
	if len(layers) < 5 {
		t.Fatalf("only %d layers were found", len(layers))
	}
	layerOf := func(path string) *layer {
		for i := range layers {
			if slices.ContainsFunc(layers[i].packages, func(dir string) bool { return below(path, dir) }) {
				return &layers[i]
			}
		}
		return nil
	}
	for _, p := range moduleTree(t).packages {
		from := layerOf(p.path)
		if from == nil {
			t.Errorf("%s is in no layer", p.path)
			continue
		}
		for _, f := range p.files {
			for _, imported := range f.imports {
				path, ours := strings.CutPrefix(imported.path, module+"/")
				if !ours {
					continue
				}
				switch to := layerOf(path); {
				case testSupport(path) && !testSupport(p.path):
					t.Errorf("%s imports %s, which is for tests", f.path, path)
				case !testSupport(p.path) && to != nil && to.name != from.name && !slices.Contains(from.uses, to.name):
					t.Errorf("%s (%s) may not import %s (%s)", f.path, from.name, path, to.name)
				}
			}
		}
	}
}
