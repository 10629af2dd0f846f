package render

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"

	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/internal/encode"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render/rendertest"
)

// formulas maps cells, including ones that a spreadsheet would evaluate, to their escaped form.
var formulas = map[string]string{
	"=cmd|' /C calc'!A0": "'=cmd|' /C calc'!A0", "@SUM(1)": "'@SUM(1)", "+1+1": "'+1+1", "-2+3": "'-2+3", "-x": "'-x",
	"＝1+1": "'＝1+1", "=": "'=",
	"-5": "-5", "+1e3": "+1e3", "-0.25": "-0.25", "docs": "docs", "a=b": "a=b", "": "", "é": "é",
}

func TestCSVFieldFormulas(t *testing.T) {
	for in, want := range formulas {
		records, err := csv.NewReader(bytes.NewReader(append(appendField([]byte("x,"), []byte(in)), '\n'))).ReadAll()
		if err != nil || len(records) != 1 || records[0][1] != want || EscapeFormula(in) != want {
			t.Errorf("%q: %q, %v, inert %q, want %q", in, records, err, EscapeFormula(in), want)
		}
	}
}

// TestCSVHasNoFormulas checks that names that look like formulas are escaped, in tables of a cluster and in
// findings.
func TestCSVHasNoFormulas(t *testing.T) {
	const evil = "=HYPERLINK(\"http://x\",\"docs\")"
	cluster := model.Build(model.Parts{
		Loaded: model.PartAll, Databases: []*model.Database{{ID: 1, Name: "default"}},
		Collections: []*model.Collection{{ID: 7, Database: 1, Name: evil}},
		Aliases:     []*model.Alias{{Name: "@alias", Collection: 7, Database: 1}},
	})
	var out bytes.Buffer
	for _, name := range []string{"collections", "aliases"} {
		r, err := view.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		g, err := view.Select(r.Table(view.NewEnv(cluster, time.Time{})), view.Query{Show: table.Hidden})
		if err != nil {
			t.Fatal(err)
		}
		if err := WriteCSV(&out, &g.Grid, &Options{NoHeader: true}); err != nil {
			t.Fatal(err)
		}
	}
	r := csv.NewReader(&out)
	r.FieldsPerRecord = -1
	records, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	defused := 0
	for _, record := range records {
		for _, cell := range record {
			if isFormula(cell) {
				t.Errorf("a spreadsheet evaluates %q", cell)
			}
			if strings.HasPrefix(cell, "'") {
				defused++
			}
		}
	}
	if defused < 3 {
		t.Errorf("%d cells defused: %q", defused, records)
	}
}

// TestMarkdownOfNames checks that names do not become links, headings or lists in Markdown, with or without
// brackets.
func TestMarkdownOfNames(t *testing.T) {
	for in, want := range map[string]string{
		"[x](http://e)": "`[x](http://e`)", "see http://e.org/a": "see `http://e.org/a`", "WWW.e.org": "`WWW.e.org`",
		"mailto:a@b":  "`mailto:a@b`",
		"<img src=x>": "&lt;img src=x>", "a|b": `a\|b`, "10:30": "10:30", "v2.3.5": "v2.3.5",
		"a`[x](http://e)|": "a\\`\\[x\\](http&#58;//e)\\|",
		// Text that Slack and Jira would display literally.
		"by-dev @ demo://by-dev": "by-dev @ `demo://by-dev`", "items_hnsw_l2": "items_hnsw_l2", "~19 ms": "~19 ms",
		"<0.1%": "<0.1%", "(nodes/a_b, x)": "(nodes/a_b, x)",
		"_x_ *y* (node-*), ~~z~~": "`_x_` `*y*` (`node-*`), `~~z~~`", "@all: $x$": "`@all`: `$x$`",
		"R&D a & b &lt;": "`R&D` a & b `&lt`;",
	} {
		if got := MarkdownText(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"- x": `\- x`, "+ x": `\+ x`, "===": `\===`, "1. x": `1\. x`, "12) x": `12\) x`, "12 x": "12 x", "# x": "`#` x",
		"> x": "`>` x", "": "",
	} {
		if got := mdBlock(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestHiddenByProperties checks every rune: invisible ones never reach a terminal unescaped, and JSON and YAML
// preserve them.
func TestHiddenByProperties(t *testing.T) {
	var all strings.Builder
	for r := rune(0xa0); r <= unicode.MaxRune; r++ {
		unseen := unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Bidi_Control, unicode.Join_Control,
			unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point)
		if unseen != (Harmless(string(r)) != string(r)) && (r < 0xd800 || r > 0xdfff) {
			t.Errorf("%U: %s", r, Harmless(string(r)))
		}
		if unseen {
			all.WriteRune(r)
		}
	}
	var fromJSON, fromYAML string
	quoted := words.AppendJSON(nil, all.String())
	if err := json.Unmarshal(quoted, &fromJSON); err != nil || fromJSON != all.String() {
		t.Error("JSON changes what is not seen:", err)
	}
	if err := yaml.Unmarshal(words.AppendYAML(nil, all.String()), &fromYAML); err != nil || fromYAML != all.String() {
		t.Error("YAML changes what is not seen:", err)
	}
	for _, c := range string(quoted) {
		if words.Hidden(c) {
			t.Fatalf("%U stands in JSON", c)
		}
	}
}

// TestSheetsAreHarmless checks that a report of hostile texts is safe in every format. All reports are written
// from a Sheet.
func TestSheetsAreHarmless(t *testing.T) {
	const evil = "a\x1b[2J\u202e\u0085\xff\u2028\ab"
	rows := []string{evil}
	list := table.New(table.Schema{Name: evil, Singular: "thing", Handle: "text"}, rows, []table.ColumnOf[string]{
		{Column: table.Column{Name: "text", Title: evil}, Cell: table.Of},
		{Column: table.Column{Name: "state", Title: "STATE", Kind: table.State}, Cell: table.Of},
		Key("shown", table.Text, table.Of).WithTitle("SHOWN"+evil, 0, func(s string) string { return s }),
		Key("looking", table.Text, table.Of).WithTitle("LOOKING", 0, func(s string) string { return s }).WithRole(func(
			string,
		) Role {
			return RoleBad
		}),
		table.DisplayColumn("drawn", evil, 0, func(s string) string { return s }),
		Key("list", table.List, func(s string) table.Cell { return table.OfList([]string{s, s}) }).WideOnly(),
		Key("pairs", table.Pairs, func(s string) table.Cell { return table.OfList([]string{s, s}) }).WideOnly(),
	})
	lines := []Line{
		{Text: evil, After: []Piece{{Text: evil}}},
		{Role: RoleBad, Text: strings.Repeat(evil+" ", 9)},
		{Text: evil, NoWrap: true},
	}
	for _, word := range rendertest.Words(ListFormats().Names()) {
		for _, width := range []int{0, 30} {
			for _, asIs := range []bool{false, true} {
				s := &Sheet{
					Kind: evil, Options: &ReportOptions{Options: Options{Width: width}}, TableOnly: asIs, Head: lines,
					Foot: lines,
					Parts: []Part{
						{Head: lines, List: func(show table.Show) *table.Grid { return table.All(list, show) }},
					},
					About: func(e *encode.Encoder) { e.Entry("name", evil) }, Items: table.All(list, table.Hidden),
				}
				var b bytes.Buffer
				if err := s.Write(&b, rendertest.Format(t, ListFormats(), word)); err != nil {
					t.Fatal(err)
				}
				for _, r := range b.String() {
					if r != '\n' && (unicode.IsControl(r) || r == unicode.ReplacementChar || words.Hidden(r)) {
						t.Errorf("%s of %d cells lets %U through: %q", word, width, r, b.String())
						break
					}
				}
			}
		}
	}
}
