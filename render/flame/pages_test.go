//go:build chromium

package flame

import (
	"strings"
	"testing"

	"kitescope/profile"
	"kitescope/profile/flame"
	"kitescope/profile/profiletest"
	"kitescope/render/chromiumtest"
)

const searchFrame = "github.com/milvus-io/milvus/internal/querynodev2.(*QueryNode).Search"

func TestPageZoomsSearchesAndResets(t *testing.T) {
	p := openPage(t, savePage(t, plainTree(t, flame.Options{}), Options{Title: "a service", Subtitle: "cpu, 1 s"}),
		1200, 700)
	if got := p.Eval("flame.state().frames"); got != 14.0 {
		t.Errorf("%v frames, not 14", got)
	}

	clickFrame(t, p, searchFrame, 1)
	p.Until(`flame.state().zoom.endsWith("Search")`)
	if wide := p.Eval(
		`flame.where("runtime.cgocall").width / document.getElementById("graph").clientWidth`,
	).(float64); wide < 0.82 || wide > 0.85 {
		t.Errorf("60 of 72 take %.3f of the width", wide)
	}
	if p.Eval(`flame.where("runtime.gcDrain")`) != nil {
		t.Error("a frame beside the zoom is drawn")
	}
	if crumbs := p.Text("#crumbs"); !strings.Contains(crumbs, "querynodev2.(*QueryNode).Search") {
		t.Errorf("the crumbs are %q", crumbs)
	}

	p.Key("/")
	p.Call("Input.insertText", map[string]any{"text": "faiss|gcdrain"})
	p.Until(`flame.state().found === "2 frames, 80.0%"`)
	p.Key("Enter")
	p.Until(`document.getElementById("detail").textContent.startsWith("faiss::")`)
	p.Key("Enter")
	p.Until(`document.getElementById("detail").textContent.startsWith("runtime.gcDrain")`)
	p.Screenshot(*screenshots, "search")
	p.Key("(")
	p.Until(`flame.state().found === "not a regular expression"`)
	p.Key("Backspace")
	p.Until(`flame.state().found === "2 frames, 80.0%"`)

	p.ClickElement("#reset")
	p.Until(`flame.state().zoom === "" && flame.state().found === "" && flame.where("runtime.gcDrain").width > 200`)

	clickFrame(t, p, "main.main", 1)
	p.Until(`flame.state().zoom === "main.main"`)
	p.Key("Escape")
	p.Until(`flame.state().zoom === ""`)
	p.CheckErrors()
}

func TestPageViews(t *testing.T) {
	p := openPage(t, savePage(t, plainTree(t, flame.Options{}), Options{Title: "a service"}), 1200, 700)
	clickFrame(t, p, "runtime.cgocall", 2)
	p.Until(`flame.state().view === "sandwich"`)
	if p.Eval(
		`flame.where("main.main").y < flame.where("runtime.cgocall").y && flame.where("runtime.cgocall").y < flame.where("faiss::fvec_L2sqr_batch_4").y`,
	) != true {
		t.Error("callers are not above, or callees not below")
	}
	p.Screenshot(*screenshots, "sandwich")
	p.Key("i")
	p.Until(
		`flame.state().view === "inverted" && flame.where("runtime.gcDrain").y < flame.where("runtime.gcBgMarkWorker").y`,
	)
	p.Key("i")
	p.Until(`flame.state().view === "down"`)
	p.Key("F")
	p.Until(`flame.where("runtime.gcDrain").y < flame.where("runtime.gcBgMarkWorker").y`)
	p.Key("v")
	p.Until(`document.querySelectorAll("#table tbody tr").length === 13`)
	if first := p.Text("#table tbody tr"); !strings.Contains(first, "faiss::fvec_L2sqr_batch_4") ||
		!strings.Contains(first, "60.0%") {
		t.Errorf("the first line of the table is %q", first)
	}
	// With the keyboard only: enter the graph, select the largest callee, zoom in, and zoom out.
	p.Key("F")
	p.Key("u")
	p.Eval(`document.getElementById("graph").focus()`)
	for range 2 {
		p.Key("ArrowDown")
	}
	p.Key("Enter")
	p.Until(`flame.state().zoom.length > 0`)
	p.Key("Backspace")
	p.Key("Backspace")
	p.Until(`flame.state().zoom === ""`)
	if legend := p.Text("#legend"); !strings.Contains(legend, "native libknowhere.so 60.0%") ||
		!strings.Contains(legend, "gc 20.0%") {
		t.Errorf("the legend is %q", legend)
	}
	p.CheckErrors()
}

func TestDiffPage(t *testing.T) {
	p := openPage(t, savePage(t, flameDiff(t), Options{Title: "before and after"}), 1200, 700)
	for _, word := range []string{"noise", "new", "less", "more"} {
		if legend := p.Text("#legend"); !strings.Contains(legend, word) {
			t.Errorf("the legend %q lacks %q", legend, word)
		}
	}
	p.Until(`flame.where("old.thing") !== null && flame.state().vanished`)
	if legend := p.Text("#legend"); !strings.Contains(legend, "vanished") {
		t.Errorf("the legend is %q", legend)
	}
	at := p.Eval(`flame.where("new.thing")`).(map[string]any)
	p.Call("Input.dispatchMouseEvent", map[string]any{"type": "mouseMoved", "x": at["x"], "y": at["y"]})
	p.Until(`!document.getElementById("tip").hidden`)
	if tip := p.Text("#tip"); !strings.Contains(tip, "before 0 (0%)") || !strings.Contains(tip, "new") ||
		!strings.Contains(tip, "significant, p < 0.0001") {
		t.Errorf("the tip is %q", tip)
	}
	p.Screenshot(*screenshots, "difference")
	p.Key("c")
	p.Until(`flame.state().scale === "relative"`)
	if legend := p.Text("#legend"); !strings.Contains(legend, "four times or more") {
		t.Errorf("the legend is %q", legend)
	}
	p.Key("i")
	p.Until(`flame.state().view === "inverted" && flame.where("new.thing") !== null`)
	p.CheckErrors()
}

// TestPagesOfMilvus opens pages of real profiles in both color schemes, for -screenshots.
func TestPagesOfMilvus(t *testing.T) {
	const dir = "../../testdata/profiles/"
	b := chromiumtest.Start(t)
	hnsw, flat := profiletest.Read(t, dir+"milvus-cpu-hnsw.pb.gz"), profiletest.Read(t, dir+"milvus-cpu-flat.pb.gz")
	tree, err := flame.New(hnsw, flame.Options{})
	if err != nil {
		t.Fatal(err)
	}
	samples, err := flame.New(hnsw, flame.Options{SampleIndex: "samples"})
	if err != nil {
		t.Fatal(err)
	}
	p := b.Open(savePage(t, tree,
		Options{Title: "milvus-cpu-hnsw", Subtitle: "cpu, 10 s", More: []*flame.Tree{samples}}), 1400, 900)
	p.Screenshot(*screenshots, "milvus")
	p.Choose("#type", "1")
	p.Until(`document.getElementById("detail") && flame.state().frames > 1000`)
	p.Key("i")
	p.Screenshot(*screenshots, "milvus-inverted")
	p.Call("Emulation.setEmulatedMedia",
		map[string]any{"features": []any{map[string]string{"name": "prefers-color-scheme", "value": "dark"}}})
	p.Key("u")
	p.Key("v")
	p.Screenshot(*screenshots, "milvus-dark")
	clickFrame(t, p, "runtime.mallocgc", 2)
	p.Until(
		`flame.state().view === "sandwich" && document.getElementById("crumbs").textContent.endsWith("sandwich of runtime.mallocgc")`,
	)
	p.Screenshot(*screenshots, "milvus-sandwich")
	p.CheckErrors()

	diff, err := flame.NewDiff(flat, hnsw, flame.Options{Normalize: true})
	if err != nil {
		t.Fatal(err)
	}
	p = b.Open(savePage(t, diff, Options{Title: "flat against hnsw"}), 1400, 900)
	p.Screenshot(*screenshots, "milvus-diff")
	p.Call("Emulation.setEmulatedMedia",
		map[string]any{"features": []any{map[string]string{"name": "prefers-color-scheme", "value": "dark"}}})
	p.Key("c")
	p.Screenshot(*screenshots, "milvus-diff-dark")
	p.CheckErrors()
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
	p := openPage(t, savePage(t, tree, Options{Title: "two nodes"}), 1200, 700)
	p.Until(`flame.where("querynode-8").width > 1.9 * flame.where("querynode-7").width`)
	p.Screenshot(*screenshots, "nodes")
	p.Choose("#node", "all")
	p.Until(`flame.where("querynode-8") === null && flame.state().frames === 14`)
	one := p.Eval(
		`[...document.querySelectorAll("#node option")].find(o => o.textContent === "querynode-7").value`,
	).(string)
	p.Choose("#node", one)
	p.Until(`flame.state().frames === 14`)
	clickFrame(t, p, "main.main", 1)
	p.Until(`document.getElementById("detail").textContent.includes("720 ms (72%)")`)
	p.ClickElement("#reset")
	p.Until(`flame.where("querynode-8") !== null`)
	p.CheckErrors()
}

// TestLargePage checks that a page with the maximum number of frames stays responsive, regardless of the depth of
// its stacks.
func TestLargePage(t *testing.T) {
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"})
	for i := range 3000 {
		var stack []uint32
		for d := range 60 {
			stack = append(stack,
				b.Frame("example.com/part.(*Type).Method"+strings.Repeat("x", (i*i/7+d*d*i/31)%97), profile.NoMapping))
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
	p := openPage(t, savePage(t, tree, Options{Title: "large"}), 1400, 900)
	if frames := p.Eval("flame.state().frames").(float64); frames < 20_000 {
		t.Errorf("only %v frames", frames)
	}
	for action, limit := range map[string]float64{
		`document.getElementById("search").value = "x{50}"; document.getElementById("search").dispatchEvent(new Event("input"))`: 200,
		`window.dispatchEvent(new Event("resize"))`:                        500,
		`document.dispatchEvent(new KeyboardEvent("keydown", {key: "i"}))`: 5000,
	} {
		took := p.Eval(
			`(() => { const t = performance.now(); ` + action + `; return performance.now() - t; })()`,
		).(float64)
		t.Logf("%.0f ms: %s", took, action)
		if took > limit {
			t.Errorf("%s took %.0f ms", action, took)
		}
	}
	p.CheckErrors()
}
