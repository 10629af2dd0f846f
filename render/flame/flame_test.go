package flame

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/color"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/profile"
	"kitescope/profile/flame"
	"kitescope/render/rendertest"
)

// flameProfile returns the profile of a small service: Go code, its runtime, a native library, and a hostile
// name.
func flameProfile(t testing.TB, scale int64, extra ...string) *profile.Profile {
	t.Helper()
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"}, profile.ValueType{
		Type: "cpu", Unit: "nanoseconds",
	})
	b.Meta().Period, b.Meta().PeriodType = 1e7, profile.ValueType{Type: "cpu", Unit: "nanoseconds"}
	binary := b.Mapping(profile.Mapping{File: "/opt/milvus/bin/milvus", HasFunctions: true})
	native := b.Mapping(profile.Mapping{File: "/opt/milvus/lib/libknowhere.so", HasFunctions: true})
	stacks := append([]string{
		"main.main;github.com/milvus-io/milvus/internal/querynodev2.(*QueryNode).Search;runtime.cgocall;faiss::fvec_L2sqr_batch_4 60",
		"main.main;github.com/milvus-io/milvus/internal/querynodev2.(*QueryNode).Search;runtime.mallocgc 10",
		"main.main;github.com/milvus-io/milvus/internal/querynodev2.(*QueryNode).Search;</script><img/src=x;evil\x1b[31m 2",
		"runtime.gcBgMarkWorker;runtime.gcDrain 20",
		"runtime.mcall;runtime.schedule;runtime.findRunnable;runtime.futex 8",
	}, extra...)
	for _, line := range stacks {
		cut := strings.LastIndexByte(line, ' ')
		var value int64
		if _, err := fmt.Sscan(line[cut+1:], &value); err != nil {
			t.Fatal(err)
		}
		var locations []uint32
		names := strings.Split(line[:cut], ";")
		for _, name := range slices.Backward(names) {
			mapping, file := binary, name[:4]+".go"
			if strings.HasPrefix(name, "faiss::") {
				mapping, file = native, "distances.cpp"
			}
			locations = append(locations,
				b.Location(mapping, 0,
					profile.Line{
						Function: b.Function(profile.Function{Name: name, SystemName: name, File: "/src/" + file}),
					}))
		}
		if err := b.Sample(locations, []int64{value * scale, value * scale * 1e7}); err != nil {
			t.Fatal(err)
		}
	}
	return b.Profile()
}

func plainTree(t testing.TB, o flame.Options) *flame.Tree {
	t.Helper()
	tree, err := flame.New(flameProfile(t, 1), o)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func flameDiff(t testing.TB) *flame.Tree {
	t.Helper()
	p := flameProfile(t, 1, "main.main;new.thing 100")
	tree, err := flame.NewDiff(flameProfile(t, 2, "main.main;old.thing 50"), p, flame.Options{Normalize: true})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func sameAsGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rendertest.Update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestFlameGoldens(t *testing.T) {
	tree, diff := plainTree(t, flame.Options{}), flameDiff(t)
	o := Options{Title: "querynode-7 <b>", Subtitle: "cpu, 1s", Width: 600, Version: "v1"}
	dark := o
	dark.Dark = true
	for name, write := range map[string]func(io.Writer) error{
		"service.svg": func(w io.Writer) error { return SVG(w, tree, o) },
		"diff.svg":    func(w io.Writer) error { return SVG(w, diff, dark) },
		"service.html": func(w io.Writer) error {
			var b bytes.Buffer
			err := HTML(&b, tree, o)
			_, _ = w.Write(pageWithoutScript(&b))
			return err
		},
		"diff.html": func(w io.Writer) error {
			var b bytes.Buffer
			err := HTML(&b, diff, o)
			_, _ = w.Write(pageWithoutScript(&b))
			return err
		},
		"service.folded": func(w io.Writer) error { return Folded(w, tree) },
		"diff.folded":    func(w io.Writer) error { return Folded(w, diff) },
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			sameAsGolden(t, name, b.Bytes())
		})
	}
}

// pageWithoutScript removes the style, the script and their digests from a page, because they have their own
// source files.
func pageWithoutScript(page *bytes.Buffer) []byte {
	b := regexp.MustCompile(`(?s)<style>.*?</style>|<script>.*?</script>`).ReplaceAll(page.Bytes(), nil)
	return regexp.MustCompile(`sha256-[^']*`).ReplaceAll(b, []byte("sha256-"))
}

func TestFlameSVGIsXML(t *testing.T) {
	for _, tree := range []*flame.Tree{plainTree(t, flame.Options{}), flameDiff(t)} {
		var b bytes.Buffer
		if err := SVG(&b, tree, Options{Title: "\x00\ufffe<&\"'"}); err != nil {
			t.Fatal(err)
		}
		var titles []string
		d := xml.NewDecoder(&b)
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if start, ok := token.(xml.StartElement); ok {
				if !slices.Contains([]string{"svg", "style", "rect", "g", "title", "text"}, start.Name.Local) {
					t.Errorf("there is a <%s>", start.Name.Local)
				}
				if start.Name.Local == "title" {
					var s string
					if err := d.DecodeElement(&s, &start); err != nil {
						t.Fatal(err)
					}
					titles = append(titles, s)
				}
			}
		}
		if !slices.ContainsFunc(titles, func(s string) bool { return strings.Contains(s, "</script><img/src=x") }) {
			t.Errorf("the hostile name is not among the titles: %q", titles)
		}
	}
}

// TestFlamePageIsClosed checks that a page cannot fetch anything, and that no name can end the element that
// contains the data.
func TestFlamePageIsClosed(t *testing.T) {
	var b bytes.Buffer
	o := Options{
		Title: "</title><script>alert(1)</script>", Subtitle: "\"><img src=x onerror=alert(1)>", Version: "<x>",
	}
	if err := HTML(&b, plainTree(t, flame.Options{}), o); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	if n := strings.Count(page, "<script"); n != 2 {
		t.Errorf("there are %d scripts, not the data and ours", n)
	}
	if strings.Contains(page, "<img") || strings.Contains(page, "\x1b") {
		t.Error("a name became an element, or a control character is left")
	}
	for _, external := range []string{
		"http:", "https:", "//cdn", "@import", "url(", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write",
		"eval(", "fetch(", "XMLHttp", "WebSocket",
	} {
		if strings.Contains(page, external) {
			t.Errorf("the page has %q", external)
		}
	}
	if !strings.Contains(page, `content="default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-`) {
		t.Error("there is no policy")
	}
	if strings.Contains(page, " style=") || strings.Contains(page, " onclick=") {
		t.Error("the page has attributes that its policy forbids")
	}
}

func TestFlamePicturesStaySmall(t *testing.T) {
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"})
	for i := range 1500 {
		var stack []uint32
		for d := range 40 {
			stack = append(stack,
				b.Frame(fmt.Sprintf("example.com/service/%s/part%d.(*Type[...]).Method%d", strings.Repeat("long", 20),
					(i*7+d*d)%3000, d), profile.NoMapping))
		}
		if err := b.Sample(stack, []int64{int64(1 + i%17)}); err != nil {
			t.Fatal(err)
		}
	}
	tree, err := flame.New(b.Profile(), flame.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(tree.Frames) < 25_000 {
		t.Fatalf("the tree has only %d frames", len(tree.Frames))
	}
	for name, write := range map[string]func(io.Writer, *flame.Tree, Options) error{"html": HTML, "svg": SVG} {
		var out bytes.Buffer
		if err := write(&out, tree, Options{Title: "large"}); err != nil {
			t.Fatal(err)
		}
		if out.Len() >= 2_000_000 {
			t.Errorf("%s has %d bytes", name, out.Len())
		}
		if name == "html" && !bytes.Contains(out.Bytes(), []byte(`"pruned":`)) {
			t.Error("the page does not say what was left out")
		}
	}
	if tree.Pruned != 0 {
		t.Error("drawing changed the tree")
	}
}

func TestEmptyFlameGraphs(t *testing.T) {
	tree, err := flame.New(profile.NewBuilder(profile.ValueType{Type: "cpu", Unit: "nanoseconds"}).Profile(),
		flame.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, write := range map[string]func(io.Writer, *flame.Tree, Options) error{"html": HTML, "svg": SVG} {
		var b bytes.Buffer
		if err := write(&b, tree, Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if name == "svg" && !strings.Contains(b.String(), "There are no samples") {
			t.Error("the picture does not say that there is nothing")
		}
	}
}

func TestFlameLabel(t *testing.T) {
	const name = "github.com/milvus-io/milvus/internal/querynodev2.(*QueryNode).Search"
	for _, test := range []struct {
		name string
		room int
		want string
	}{
		{name, 100, name},
		{name, 40, "querynodev2.(*QueryNode).Search"},
		{name, 10, "querynode…"},
		{name, 2, ""},
		{"+ " + name, 12, "+ querynode…"},
		{"github.com/panjf2000/ants/v2.(*goWorker).run", 30, "ants/v2.(*goWorker).run"},
		{"std::map<a/b>::find", 10, "std::map<…"},
		{"ab", 2, "ab"},
	} {
		if got := Label(test.name, test.room); got != test.want {
			t.Errorf("%q in %d: %q, not %q", test.name, test.room, got, test.want)
		}
	}
}

// TestFlameContrast checks the contrast of text on all fills, and that the sides of a difference differ in
// brightness or hue.
func TestFlameContrast(t *testing.T) {
	for _, dark := range []bool{false, true} {
		p := NewPalette(plainTree(t, flame.Options{}), dark)
		c := flameRamps(dark)
		fills := map[string]color.RGBA{"rest": c.rest, "noise": c.noise}
		for _, g := range append(classGroups(), libraryShades()...) {
			fills[fmt.Sprint(g.name, g.light)] = g.color(dark)
		}
		for i := range 21 {
			x := float64(i-10) / 10
			fills[fmt.Sprint("change ", x)] = p.diverging(x)
		}
		for name, fill := range fills {
			a, b := luminance(fill), luminance(p.Text(fill))
			if contrast := (max(a, b) + 0.05) / (min(a, b) + 0.05); contrast < 4.5 {
				t.Errorf("dark %v, %s: contrast %.2f of %s on %s", dark, name, contrast, hexText(p.Text(fill)),
					hexText(fill))
			}
		}
		if less, more := p.diverging(-1), p.diverging(1); less.B <= less.R || more.R <= more.B {
			t.Errorf("less is %s, more %s", hexText(less), hexText(more))
		}
	}
}
