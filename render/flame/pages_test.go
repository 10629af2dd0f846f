//go:build chromium

package flame

import (
	"strings"
	"testing"

	"kitescope/profile"
	"kitescope/profile/flame"
	"kitescope/profile/profiletest"
)

const searchFrame = "github.com/milvus-io/milvus/internal/querynodev2.(*QueryNode).Search"

func TestPageZoomsSearchesAndResets(t *testing.T) {
	p := startBrowser(t).open(savePage(t, plainTree(t, flame.Options{}), Options{Title: "a service", Subtitle: "cpu, 1 s"}), 1200, 700)
	if got := p.eval("flame.state().frames"); got != 14.0 {
		t.Errorf("%v frames, not 14", got)
	}

	p.clickFrame(searchFrame, 1)
	p.until(`flame.state().zoom.endsWith("Search")`)
	if wide := p.eval(`flame.where("runtime.cgocall").width / document.getElementById("graph").clientWidth`).(float64); wide < 0.82 || wide > 0.85 {
		t.Errorf("60 of 72 take %.3f of the width", wide)
	}
	if p.eval(`flame.where("runtime.gcDrain")`) != nil {
		t.Error("a frame beside the zoom is drawn")
	}
	if crumbs := p.text("#crumbs"); !strings.Contains(crumbs, "querynodev2.(*QueryNode).Search") {
		t.Errorf("the crumbs are %q", crumbs)
	}

	p.key("/")
	p.call("Input.insertText", map[string]any{"text": "faiss|gcdrain"})
	p.until(`flame.state().found === "2 frames, 80.0%"`)
	p.key("Enter")
	p.until(`document.getElementById("detail").textContent.startsWith("faiss::")`)
	p.key("Enter")
	p.until(`document.getElementById("detail").textContent.startsWith("runtime.gcDrain")`)
	p.screenshot("search")
	p.key("(")
	p.until(`flame.state().found === "not a regular expression"`)
	p.key("Backspace")
	p.until(`flame.state().found === "2 frames, 80.0%"`)

	p.clickElement("#reset")
	p.until(`flame.state().zoom === "" && flame.state().found === "" && flame.where("runtime.gcDrain").width > 200`)

	p.clickFrame("main.main", 1)
	p.until(`flame.state().zoom === "main.main"`)
	p.key("Escape")
	p.until(`flame.state().zoom === ""`)
	p.quiet()
}

func TestPageViews(t *testing.T) {
	p := startBrowser(t).open(savePage(t, plainTree(t, flame.Options{}), Options{Title: "a service"}), 1200, 700)
	p.clickFrame("runtime.cgocall", 2)
	p.until(`flame.state().view === "sandwich"`)
	if p.eval(`flame.where("main.main").y < flame.where("runtime.cgocall").y && flame.where("runtime.cgocall").y < flame.where("faiss::fvec_L2sqr_batch_4").y`) != true {
		t.Error("callers are not above, or callees not below")
	}
	p.screenshot("sandwich")
	p.key("i")
	p.until(`flame.state().view === "inverted" && flame.where("runtime.gcDrain").y < flame.where("runtime.gcBgMarkWorker").y`)
	p.key("i")
	p.until(`flame.state().view === "down"`)
	p.key("f")
	p.until(`flame.where("runtime.gcDrain").y < flame.where("runtime.gcBgMarkWorker").y`)
	p.key("t")
	p.until(`document.querySelectorAll("#table tbody tr").length === 13`)
	if first := p.text("#table tbody tr"); !strings.Contains(first, "faiss::fvec_L2sqr_batch_4") || !strings.Contains(first, "60.0%") {
		t.Errorf("the first line of the table is %q", first)
	}
	// By keys alone: into the graph, to the largest callee, zoom, out again.
	p.key("f")
	p.key("r")
	p.eval(`document.getElementById("graph").focus()`)
	for range 2 {
		p.key("ArrowDown")
	}
	p.key("Enter")
	p.until(`flame.state().zoom.length > 0`)
	p.key("Backspace")
	p.key("Backspace")
	p.until(`flame.state().zoom === ""`)
	if legend := p.text("#legend"); !strings.Contains(legend, "native libknowhere.so 60.0%") || !strings.Contains(legend, "gc 20.0%") {
		t.Errorf("the legend is %q", legend)
	}
	p.quiet()
}

// TestPageOpensSandwich opens a page that was saved of a sandwich: callers, callees, and everything one key away.
func TestPageOpensSandwich(t *testing.T) {
	b := startBrowser(t)
	p := b.open(savePage(t, plainTree(t, flame.Options{}), Options{Focus: "runtime.cgocall"}), 1200, 700)
	p.until(`flame.state().view === "sandwich"`)
	if p.eval(`flame.where("main.main").y < flame.where("runtime.cgocall").y && flame.where("runtime.cgocall").y < flame.where("faiss::fvec_L2sqr_batch_4").y`) != true {
		t.Error("callers are not above, or callees not below")
	}
	p.key("r")
	p.until(`flame.state().view === "down" && flame.where("runtime.gcDrain").width > 100`)
	p = b.open(savePage(t, plainTree(t, flame.Options{}), Options{Focus: "it was left out"}), 1200, 700)
	p.until(`flame.state().view === "down"`)
}

func TestPageOfADifference(t *testing.T) {
	p := startBrowser(t).open(savePage(t, flameDiff(t), Options{Title: "before and after"}), 1200, 700)
	for _, word := range []string{"noise", "new", "less", "more"} {
		if legend := p.text("#legend"); !strings.Contains(legend, word) {
			t.Errorf("the legend %q lacks %q", legend, word)
		}
	}
	if p.eval(`flame.where("old.thing")`) != nil {
		t.Error("what vanished is drawn")
	}
	p.clickElement("#vanished")
	p.until(`flame.where("old.thing") !== null && flame.state().vanished`)
	if legend := p.text("#legend"); !strings.Contains(legend, "vanished") {
		t.Errorf("the legend is %q", legend)
	}
	at := p.eval(`flame.where("new.thing")`).(map[string]any)
	p.call("Input.dispatchMouseEvent", map[string]any{"type": "mouseMoved", "x": at["x"], "y": at["y"]})
	p.until(`!document.getElementById("tip").hidden`)
	if tip := p.text("#tip"); !strings.Contains(tip, "before 0 (0%)") || !strings.Contains(tip, "new") || !strings.Contains(tip, "significant, p < 0.0001") {
		t.Errorf("the tip is %q", tip)
	}
	p.screenshot("difference")
	p.key("c")
	p.until(`flame.state().scale === "relative"`)
	if legend := p.text("#legend"); !strings.Contains(legend, "four times or more") {
		t.Errorf("the legend is %q", legend)
	}
	p.key("i")
	p.until(`flame.state().view === "inverted" && flame.where("new.thing") !== null`)
	p.quiet()
}

// TestPagesOfMilvus opens pages of real profiles, in both colour schemes, for -screenshots.
func TestPagesOfMilvus(t *testing.T) {
	const dir = "../../testdata/profiles/"
	b := startBrowser(t)
	hnsw, flat := profiletest.Read(t, dir+"milvus-cpu-hnsw.pb.gz"), profiletest.Read(t, dir+"milvus-cpu-flat.pb.gz")
	tree, err := flame.New(hnsw, flame.Options{})
	if err != nil {
		t.Fatal(err)
	}
	samples, err := flame.New(hnsw, flame.Options{SampleIndex: "samples"})
	if err != nil {
		t.Fatal(err)
	}
	p := b.open(savePage(t, tree, Options{Title: "milvus-cpu-hnsw", Subtitle: "cpu, 10 s", More: []*flame.Tree{samples}}), 1400, 900)
	p.screenshot("milvus")
	p.choose("#type", "1")
	p.until(`document.getElementById("detail") && flame.state().frames > 1000`)
	p.key("i")
	p.screenshot("milvus-inverted")
	p.call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]string{"name": "prefers-color-scheme", "value": "dark"}}})
	p.key("r")
	p.key("t")
	p.screenshot("milvus-dark")
	p.clickFrame("runtime.mallocgc", 2)
	p.until(`flame.state().view === "sandwich" && document.getElementById("crumbs").textContent.endsWith("sandwich of runtime.mallocgc")`)
	p.screenshot("milvus-sandwich")
	p.quiet()

	diff, err := flame.NewDiff(flat, hnsw, flame.Options{Normalize: true})
	if err != nil {
		t.Fatal(err)
	}
	p = b.open(savePage(t, diff, Options{Title: "flat against hnsw", Vanished: true}), 1400, 900)
	p.screenshot("milvus-diff")
	p.call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]string{"name": "prefers-color-scheme", "value": "dark"}}})
	p.key("c")
	p.screenshot("milvus-diff-dark")
	p.quiet()
}

func TestPageByNode(t *testing.T) {
	var parts []*profile.Profile
	for i, name := range []string{"querynode-7", "querynode-8"} {
		p := flameProfile(t, int64(i+1))
		p.Origin.Node = name
		parts = append(parts, p)
	}
	merged, err := profile.Merge(parts, profile.MergeOptions{Nodes: true})
	if err != nil {
		t.Fatal(err)
	}
	tree, err := flame.New(merged, flame.Options{Nodes: true})
	if err != nil {
		t.Fatal(err)
	}
	p := startBrowser(t).open(savePage(t, tree, Options{Title: "two nodes"}), 1200, 700)
	p.until(`flame.where("querynode-8").width > 1.9 * flame.where("querynode-7").width`)
	p.screenshot("nodes")
	p.choose("#node", "all")
	p.until(`flame.where("querynode-8") === null && flame.state().frames === 14`)
	one := p.eval(`[...document.querySelectorAll("#node option")].find(o => o.textContent === "querynode-7").value`).(string)
	p.choose("#node", one)
	p.until(`flame.state().frames === 14`)
	p.clickFrame("main.main", 1)
	p.until(`document.getElementById("detail").textContent.includes("720ms (72.0%)")`)
	p.clickElement("#reset")
	p.until(`flame.where("querynode-8") !== null`)
	p.quiet()
}

// TestLargePage: a page of as many frames as fit stays quick, however deep its stacks are.
func TestLargePage(t *testing.T) {
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"})
	for i := range 3000 {
		var stack []uint32
		for d := range 60 {
			stack = append(stack, b.Frame("example.com/part.(*Type).Method"+strings.Repeat("x", (i*i/7+d*d*i/31)%97), profile.NoMapping))
		}
		if err := b.Sample(stack, []int64{1}); err != nil {
			t.Fatal(err)
		}
	}
	deep := b.Frame("deep", profile.NoMapping)
	stack := make([]uint32, 5000)
	for i := range stack {
		stack[i] = deep
	}
	if err := b.Sample(stack, []int64{500}); err != nil {
		t.Fatal(err)
	}
	tree, err := flame.New(b.Profile(), flame.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := startBrowser(t).open(savePage(t, tree, Options{Title: "large"}), 1400, 900)
	if frames := p.eval("flame.state().frames").(float64); frames < 20_000 {
		t.Errorf("only %v frames", frames)
	}
	for action, limit := range map[string]float64{
		`document.getElementById("search").value = "x{50}"; document.getElementById("search").dispatchEvent(new Event("input"))`: 200,
		`window.dispatchEvent(new Event("resize"))`:                        500,
		`document.dispatchEvent(new KeyboardEvent("keydown", {key: "i"}))`: 5000,
	} {
		took := p.eval(`(() => { const t = performance.now(); ` + action + `; return performance.now() - t; })()`).(float64)
		t.Logf("%.0f ms: %s", took, action)
		if took > limit {
			t.Errorf("%s took %.0f ms", action, took)
		}
	}
	p.quiet()
}
