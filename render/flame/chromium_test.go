//go:build chromium

package flame

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"kitescope/profile/flame"
	"kitescope/render/chromiumtest"
)

var screenshots = flag.String("screenshots", "", "folder for pictures of the pages, to look at")

// openPage opens a page with a flame graph and waits until it is drawn.
func openPage(t *testing.T, file string, width, height int) *chromiumtest.Tab {
	t.Helper()
	return opened(chromiumtest.Start(t), file, width, height)
}

func opened(b *chromiumtest.Browser, file string, width, height int) *chromiumtest.Tab {
	p := b.Open(file, width, height)
	p.Until(`typeof window.flame === "object"`)
	return p
}

// clickFrame clicks the center of the first frame with a name.
func clickFrame(t *testing.T, p *chromiumtest.Tab, name string, times int) {
	t.Helper()
	quoted, _ := json.Marshal(name)
	at, ok := p.Eval("flame.where(" + string(quoted) + ")").(map[string]any)
	if !ok {
		t.Fatalf("%s is not drawn", name)
	}
	p.Click(at["x"].(float64), at["y"].(float64), times)
}

func savePage(t *testing.T, tree *flame.Tree, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, tree, o); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}
