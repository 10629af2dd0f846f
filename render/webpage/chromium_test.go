//go:build chromium

package webpage

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kitescope/render/chromiumtest"
)

var (
	pages       = flag.String("pages", "", "folder with the pages to look at: tools/e2e/pages.sh writes them")
	axe         = flag.String("axe", "", "axe.min.js of axe-core")
	screenshots = flag.String("screenshots", "", "folder for pictures of the pages, to look at")
)

// violation is a violation that axe-core reports.
type violation struct {
	ID, Impact, Help string
	Nodes            []struct {
		HTML   string
		Target []any
	}
}

// TestPagesInBrowser checks that every page is accessible to screen readers and keyboards (axe-core finds no
// violations) in both schemes, and fits the screen, from phones up.
func TestPagesInBrowser(t *testing.T) {
	script, err := os.ReadFile(*axe)
	if err != nil {
		t.Fatalf("%v: name axe-core with -axe", err)
	}
	files, err := filepath.Glob(filepath.Join(*pages, "*.html"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no pages in %q: name a folder with -pages", *pages)
	}
	b := chromiumtest.Start(t) // shared by all pages
	for _, file := range files {
		for _, width := range []int{375, 1600} {
			for _, scheme := range []string{"light", "dark"} {
				name := strings.TrimSuffix(filepath.Base(file), ".html") + "-" +
					map[int]string{375: "375", 1600: "1600"}[width] + "-" + scheme
				t.Run(name, func(t *testing.T) {
					p := b.Open("", width, 900)
					p.Call("Emulation.setEmulatedMedia",
						map[string]any{
							"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}},
						})
					p.Show(file)
					p.Screenshot(*screenshots, name)
					if wide := p.Eval("document.documentElement.scrollWidth").(float64); wide > float64(width) {
						t.Errorf("it scrolls sideways: %v pixels of %d", wide, width)
					}
					p.Eval(string(script) + "; 0")
					p.Eval(`axe.run().then(r => { window.found = r.violations }); 0`)
					p.Until("Array.isArray(window.found)")
					var found []violation
					if err := json.Unmarshal([]byte(p.Eval("JSON.stringify(window.found)").(string)), &found); err !=
						nil {
						t.Fatal(err)
					}
					for _, v := range found {
						t.Errorf("%s (%s): %s: %d times, first %s", v.ID, v.Impact, v.Help, len(v.Nodes),
							v.Nodes[0].HTML)
					}
					p.CheckErrors()
				})
			}
		}
	}
}
