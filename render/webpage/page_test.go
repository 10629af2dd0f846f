package webpage

import (
	"bytes"
	"html"
	"regexp"
	"strings"
	"testing"
)

func full() *Page {
	p := &Page{
		Window: "Case", Headline: "querynode-7 serves 0 of 50 segments", Tone: Bad,
		Under: []string{"by-dev @ etcd:2379"},
		Facts: []Fact{{"Cause", "auto-balance is off", "etcd"}},
		Commands: []Command{
			{Code: "etcdctl put k true", Language: "shell", Text: "Turns it on."},
			{Code: "a\nb", Language: "python"},
			{Text: "Wait."},
		},
		Notes: []string{"estimates"}, Version: "v1",
	}
	t := Table{
		Title: "Nodes", Heads: []Cell{{Text: "NODE"}, {}, {Text: "ROWS", Class: "n"}},
		Rows: [][]Cell{{{Text: "a"}, {}, {Text: "1", Class: "n bad"}}},
	}
	p.Add("Balance", t.HTML(), Prose("done"), "")
	p.Add("Balance", List([]string{"x"}), Cards([]Card{{"p50", "3 ms", "median"}}))
	p.Add("Plot", Figure("QPS by load", Inline(`<svg viewBox="0 0 1 1"></svg>`), ""),
		Fold("more", Facts([]Fact{{"k", "v", ""}})))
	p.Add("Nothing", "", Lines())
	p.Add("Fourth", Prose("x"))
	return p
}

func written(t *testing.T, p *Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPage(t *testing.T) {
	s := written(t, full())
	for _, want := range []string{
		`<h1 class="bad">querynode-7 serves 0 of 50 segments</h1>`, `id="s-balance"`, `id="s-balance-2"`,
		`href="#s-plot"`, "<code>a\nb</code>", `aria-label="pymilvus code"`, `<td class="n bad">1</td>`,
		`<svg aria-hidden="true" viewBox="0 0 1 1"></svg>`,
	} {
		if !strings.Contains(s, want) {
			t.Errorf("page lacks %s", want)
		}
	}
	if strings.Contains(s, "Nothing") {
		t.Error("a section without content is shown")
	}
	if i, j := strings.Index(s, "Turns it on."), strings.Index(s, "estimates"); i < 0 || j < 0 || i > j {
		t.Error("notes come before the answer")
	}
}

// TestHostileTexts checks that untrusted texts stay text: they never become markup, links or terminal control
// sequences.
func TestHostileTexts(t *testing.T) {
	const evil = "</h1><script>alert(1)</script>\x1b[31m\"'`javascript:x"
	p := full()
	p.Window, p.Headline, p.Under, p.Notes, p.Version = evil, evil, []string{evil}, []string{evil}, evil
	p.Facts, p.Commands = []Fact{{evil, evil, evil}}, []Command{{evil, evil, evil}}
	table := Table{
		evil,
		[]Line{{evil, true, evil, evil}},
		evil, evil,
		[]Cell{{Text: evil, Class: evil}},
		[][]Cell{{{Text: evil, Class: evil}}},
	}
	p.Add(evil, table.HTML(), Cards([]Card{{evil, evil, evil}}), Fold(evil, Prose(evil)), Figure(evil, "", ""),
		List([]string{evil}))
	s := written(t, p)
	if strings.Count(s, "<script") != 1 || strings.Contains(s, "\x1b") || strings.Count(s, "<h1") != 1 {
		t.Errorf("hostile text became markup")
	}
}

// TestSelfContained checks that the policy allows the script by its hash, and that the page fetches nothing.
func TestSelfContained(t *testing.T) {
	s := html.UnescapeString(written(t, full()))
	if !regexp.MustCompile(`script-src 'sha256-[A-Za-z0-9+/]{43}='`).MatchString(s) {
		t.Error("the policy does not name the script")
	}
	body := regexp.MustCompile(`(?s)<script>(.*)</script>`).FindStringSubmatch(s)
	if len(body) != 2 || !strings.Contains(s, hash(body[1])) {
		t.Error("the sum in the policy is not that of the script in the page")
	}
	if regexp.MustCompile(`(src|href)="(http|//)|@import|url\(`).MatchString(s) {
		t.Error("the page fetches something")
	}
}

func TestCells(t *testing.T) {
	table := Table{Heads: []Cell{{Text: "a"}}, Rows: [][]Cell{{{Text: "<b>", Head: true}, {Text: "x"}}}}
	got := string(table.HTML())
	for _, want := range []string{
		`<th scope="row">&lt;b&gt;</th>`, `<td>x</td>`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
}
