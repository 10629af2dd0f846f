package clusters

import (
	"bytes"
	"encoding/csv"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/rendertest"
	"kitescope/render/webpage"
)

// hostile is a name with special characters of every format.
const hostile = "\x1b[31mred\u202e\xff</script><b>&\"'`*_[x](http://x) @all | $a\n# h\t{{.}}]]> --"

// reported returns a check that reports the given findings.
func reported(id string, s check.Severity, findings ...check.Finding) *check.Check {
	return &check.Check{
		ID: id, Title: "What " + id + " finds", Doc: "What `" + id + "` looks at, and why.",
		Remedy: "What to do about it.", Severity: s,
		Parts: model.PartSegments,
		Run: func(p *check.Pass) {
			for _, f := range findings {
				p.Report(f)
			}
		},
	}
}

// testReport returns a report with all kinds of contents: a tree of causes, skipped, failed and partly blind checks,
// and hostile names.
func testReport(t *testing.T) *check.Report {
	t.Helper()
	docs := model.Ref{Resource: "collections", ID: modeltest.Docs.String(), Name: "docs"}
	off := reported("auto-balance-off", check.Warning, check.Finding{
		Severity: check.Warning,
		Object:   model.Ref{Resource: "config", ID: "queryCoord.autoBalance", Name: "queryCoord.autoBalance"},
		Message:  "auto-balance is off while replicas are uneven", Impact: "new nodes stay idle",
		Fix: []check.Step{
			{
				Command: "etcdctl put by-dev/config/queryCoord/autoBalance true", Changes: true, Interrupts: "nothing",
				Within: 5 * time.Minute, Text: "turns auto-balance on",
			},
		},
		Evidence: []check.Evidence{
			{Name: "querycoord.autobalance", Value: "false", Source: "querycoord-1 ShowConfigurations"},
		},
	})
	uneven := reported("uneven", check.Error, check.Finding{
		Severity: check.Error, Object: docs, Cost: 0.293,
		Message: "docs is served unevenly: querynode-3 does 59% of the search work of 3 nodes, querynode-6 nothing " +
			"at all, and has not for 26 minutes",
		Impact: "searches wait for the busiest node: 1.77 times the work of an even spread",
		Fix: []check.Step{
			{
				Command: "from pymilvus import Collection\nCollection(\"docs\").load(_refresh=True)", Python: true,
				Text: "makes QueryCoord build a new target; searches continue",
			},
			{
				Text: "if that does not help, restart QueryCoord", Changes: true,
				Interrupts: "searches until it is back", Within: 2 * time.Minute,
			},
			{Command: "kitescope balance docs --plan", Text: "lists the moves"},
		},
		Evidence: []check.Evidence{
			{Name: "max/mean of search work", Value: "1.77"},
			check.Count("sealed segments of querynode-6", 0, "querynode-6 GetDataDistribution"),
		},
		Objects: []model.Ref{
			{Resource: "nodes", ID: "querynode-3", Name: "querynode-3"},
			{Resource: "nodes", ID: "querynode-6", Name: "querynode-6"},
		},
	})
	uneven.FollowsFrom = []check.Cause{{Check: "auto-balance-off"}}
	slows := check.Slowdown{Request: "search", Phase: "wait_for_workers", Ms: 22, Mean: 56.5}
	slows.Gain.Low, slows.Gain.High = 20.5, 30
	idle := reported("idle-node", check.Warning, check.Finding{
		Severity: check.Warning, Object: model.Ref{Resource: "nodes", ID: "querynode-6", Name: "querynode-6"},
		Message: "querynode-6 is idle", Cost: 0.0004,
		Slows: []check.Slowdown{slows},
	})
	idle.FollowsFrom = []check.Cause{{Check: "uneven"}}
	evil := reported("hostile-name", check.Info, check.Finding{
		Severity: check.Info, Object: model.Ref{Resource: "collections", ID: modeltest.Odd.String(), Name: hostile},
		Message: "collection " + hostile,
		Impact:  hostile,
		Fix: []check.Step{
			{Command: hostile, Text: hostile}, {Command: hostile + "\n" + hostile + "\n```", Python: true},
		}, Evidence: []check.Evidence{{Name: hostile, Value: hostile, Source: hostile}},
		Objects: []model.Ref{{Resource: "users", ID: hostile, Name: hostile}},
	}, check.Finding{Severity: check.Info, Message: "the whole cluster is meant"})
	run := evil.Run
	evil.Run = func(p *check.Pass) {
		p.NoteUnseen("querynode-12: timed out: " + hostile)
		run(p)
	}
	queue := reported("queue-lag", check.Warning)
	queue.Run = func(p *check.Pass) {
		p.Skip("the message queue was not queried: RocksMQ is inside the process " + hostile)
	}
	tso := reported("tso-backwards", check.Error)
	tso.Run = func(p *check.Pass) {
		p.Skip("the message queue was not queried: RocksMQ is inside the process " + hostile)
	}
	broken := reported("broken-check", check.Warning)
	broken.Run = func(*check.Pass) { panic("no such luck " + hostile) }
	return check.Run(modeltest.Served(), modeltest.Now, []*check.Check{
		idle, uneven, off, evil, reported("quiet", check.Error), reported("calm", check.Warning), queue, tso, broken,
	})
}

// diagnoses returns the diagnoses of the golden files, by name.
func diagnoses(t *testing.T) map[string]*Diagnosis {
	t.Helper()
	r := testReport(t)
	accepted, stale := (&check.Baseline{Entries: []check.Entry{
		{Check: "idle-node", Object: "nodes/querynode-6"},
		{Check: "quiet", Object: "collections/default/docs", Note: "ticket 7"},
	}}).Apply(r, nil)
	older := modeltest.Served()
	older.Origin.Location = "yesterday.kite"
	before := check.Run(older, modeltest.Now, []*check.Check{
		reported("idle-node", check.Warning),
		reported("uneven", check.Error, check.Finding{
			Severity: check.Warning, Object: r.Findings[1].Object, Message: "docs is a little uneven",
		}),
		reported("auto-balance-off", check.Warning, *r.Findings[0]),
		reported("calm", check.Warning, check.Finding{
			Severity: check.Warning, Object: model.Ref{Resource: "nodes", ID: "querynode-3"},
			Message: "querynode-3 was not calm",
		}),
		reported("broken-check", check.Warning, check.Finding{Severity: check.Warning, Message: "seen when it worked"}),
	})
	healthy := check.Run(modeltest.Served(), modeltest.Now, []*check.Check{
		reported("quiet", check.Error), reported("calm", check.Warning),
	})
	healthy.Unsettled = []model.CollectionID{4711, 4712}
	offline := reported("live-only", check.Error)
	offline.Needs = check.NeedDistribution
	return map[string]*Diagnosis{
		"full":     {Report: r, Bar: check.Threshold{FailOn: check.Error}, All: true, Version: "0.3.0"},
		"baseline": {Report: accepted, Stale: stale, Bar: check.Threshold{FailOn: check.Warning}, Version: "0.3.0"},
		"since": {
			Report: r, Since: check.Since(before, r), Bar: check.Threshold{FailOn: check.Warning}, Version: "0.3.0",
		},
		"began":   {Report: r, Onsets: onsets(r), Bar: check.Threshold{FailOn: check.Error}, Version: "0.3.0"},
		"healthy": {Report: healthy, Bar: check.Threshold{FailOn: check.Error}},
		"unknown": {
			Report: check.Run(modeltest.Small(), modeltest.Now, []*check.Check{offline}),
			Bar:    check.Threshold{Never: true},
		},
	}
}

func findingsFormat(t *testing.T, word string) render.Format {
	t.Helper()
	f, err := FindingsFormats().Parse(word)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func written(t *testing.T, d *Diagnosis, word string, o render.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Findings(&b, d, findingsFormat(t, word), render.ReportOptions{Options: o}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGoldenFindings(t *testing.T) {
	for name, d := range diagnoses(t) {
		golden(t, "findings/"+name, func(w io.Writer, word string) error {
			_, err := w.Write(written(t, d, word, render.Options{Width: 80}))
			return err
		})
	}
	d := diagnoses(t)["full"]
	for _, word := range []string{"wide", "markdown", "html"} {
		rendertest.Golden(t, "findings/full."+word, written(t, d, word, render.Options{}))
	}
	rendertest.Golden(t, "findings/full.color", written(t, d, "table", render.Options{Width: 80, Color: true}))
	rendertest.Golden(t, "findings/full.ascii", written(t, d, "wide", render.Options{Width: 60, ASCII: true}))
}

// TestFindingsAreHarmless checks that no output contains control characters, direction marks or invalid UTF-8 from
// names, and that lines are not too long.
func TestFindingsAreHarmless(t *testing.T) {
	for name, d := range diagnoses(t) {
		for _, word := range rendertest.Words(FindingsFormats().Names()) {
			for _, w := range []int{0, 40, 80, 120} {
				text := string(written(t, d, word, render.Options{Width: w}))
				if !utf8.ValidString(text) {
					t.Errorf("%s as %s is no UTF-8", name, word)
				}
				if i := strings.IndexFunc(text, func(r rune) bool {
					return r != '\n' && (unicode.IsControl(r) || words.Hidden(r))
				}); i >= 0 {
					t.Errorf("%s as %s has a control character: %q", name, word,
						text[max(0, i-20):min(len(text), i+20)])
				}
				if w == 0 || word != "table" {
					continue
				}
				for line := range strings.SplitSeq(text, "\n") {
					if n := render.Width([]byte(line)); n > w && !isCommand(line) {
						t.Errorf("%s as %s at %d: a line of %d: %q", name, word, w, n, line)
					}
				}
			}
		}
	}
}

// TestFindingsParse parses the structured formats and checks that each has every finding with its full texts.
func TestFindingsParse(t *testing.T) {
	d := diagnoses(t)["full"]
	rendertest.Agree(t, "findings", FindingsFormats().Names(), func(w io.Writer, word string) error {
		_, err := w.Write(written(t, d, word, render.Options{}))
		return err
	})
	rows, err := csv.NewReader(bytes.NewReader(written(t, d, "csv", render.Options{}))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.Index(rows[0], "message")
	var want, got []string
	for _, f := range d.Report.Findings {
		want = append(want, render.Harmless(f.Message))
	}
	for _, row := range rows[1:] {
		got = append(got, render.Harmless(row[at]))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// isCommand reports whether a line belongs to a command, which is never wrapped.
func isCommand(line string) bool {
	text := strings.TrimPrefix(strings.TrimLeft(line, " "), "fix       ")
	return strings.HasPrefix(text, "$ ") || strings.HasPrefix(text, ">>> ")
}

// TestHTMLComplete checks that the page is well-formed except for its doctype, that its only script is the one
// in its policy, that it loads nothing, and that names cannot open an element.
func TestHTMLComplete(t *testing.T) {
	for name, d := range diagnoses(t) {
		text := string(written(t, d, "html", render.Options{}))
		before, rest, _ := strings.Cut(text, "<script>")
		_, after, _ := strings.Cut(rest, "</script>")
		text = regexp.MustCompile(`href="#[a-z0-9-]*"`).ReplaceAllString(before+after, "") // links to headings
		for _, forbidden := range []string{
			"<script", "</script", "<b>", "src=", "href=", "@import", "url(", "ZgotmplZ",
		} {
			if strings.Contains(text, forbidden) {
				t.Errorf("%s has %s", name, forbidden)
			}
		}
		rendertest.ElementsClose(t, name, text)
	}
}

// TestUnknownIsNotHealthy checks that a report is never good if a check could not run.
func TestUnknownIsNotHealthy(t *testing.T) {
	all := diagnoses(t)
	good := goodCode()
	for _, name := range []string{"unknown", "full", "since", "baseline"} {
		d := all[name]
		text := string(written(t, d, "table", render.Options{Color: true}))
		for line := range strings.SplitSeq(text, "\n") {
			if strings.Contains(line, "finding") && strings.Contains(line, "; ") && strings.HasPrefix(line, good) {
				t.Errorf("%s: the summary is green: %q", name, line)
			}
		}
		if tone := d.Conclude().Tone; tone == webpage.Good {
			t.Errorf("%s: the page is green", name)
		}
	}
	if text := string(written(t, all["healthy"], "table", render.Options{Color: true})); !strings.Contains(text,
		good+"no findings; 2 checks ok") {
		t.Errorf("a healthy cluster is not good: %q", text)
	}
}

// goodCode returns the color code of a good state.
func goodCode() string {
	p := render.NewPainter(&render.Options{Color: true})
	code, _, _ := strings.Cut(string(p.Paint(nil, render.RoleGood, "|")), "|")
	return code
}

func TestFails(t *testing.T) {
	all := diagnoses(t)
	for name, want := range map[string]bool{
		"full": true, "baseline": true, "since": true, "healthy": false, "unknown": false,
	} {
		if got := all[name].Bar.Failing(all[name].Report, all[name].Since); got != want {
			t.Errorf("%s fails: %t", name, got)
		}
	}
	d := *all["since"]
	var failing []string
	for _, f := range d.Report.Findings {
		if d.Bar.Fails(f, d.Since) {
			failing = append(failing, f.Check+" "+d.changeText(f))
		}
	}
	if diff := cmp.Diff([]string{"uneven worse", "idle-node new"}, failing); diff != "" {
		t.Error(diff)
	}
}

func TestFindingsFormats(t *testing.T) {
	if _, err := FindingsFormats().Parse("jsn"); err == nil || !strings.Contains(err.Error(), "did you mean json") {
		t.Errorf("a misspelt format gives %v", err)
	}
	for _, name := range FindingsFormats().Names() {
		name = strings.TrimSuffix(name, "=")
		if !strings.Contains(FindingsFormats().Doc(), "  "+name+" ") {
			t.Errorf("%s is not explained", name)
		}
	}
	if f := (render.Format{}); f.Name() != "table" || f.Structured() {
		t.Error("the zero format is not table")
	}
}

// TestChanges checks the output of --watch when findings appear, get worse and go, and when checks can no longer run.
func TestChanges(t *testing.T) {
	quiet := reported("uneven", check.Error)
	blind := &check.Check{ID: "uneven", Title: "x", Needs: check.NeedDistribution, Run: quiet.Run}
	small := reported("small", check.Info, check.Finding{Severity: check.Info, Message: "docs is small"})
	hidden := &check.Check{ID: "small", Title: "x", Needs: check.NeedDistribution, Run: quiet.Run}
	slow := reported("slow", check.Warning, check.Finding{
		Severity: check.Warning, Message: "docs is slow", Fix: []check.Step{{Text: "see to its cause"}},
	})
	slow.FollowsFrom = []check.Cause{{Check: "uneven"}}
	rounds := [][]*check.Check{
		{quiet, small},
		{
			reported("uneven", check.Error, check.Finding{
				Severity: check.Warning, Message: "docs is uneven " + hostile,
				Fix: []check.Step{{Text: "move segments"}}, Cost: 0.1,
			}),
			small,
		},
		{
			reported("uneven", check.Error, check.Finding{
				Severity: check.Error,
				Message:  "docs is very uneven, so uneven that this line has to go on below itself",
				Fix:      []check.Step{{Command: "kitescope balance docs --plan", Text: "lists the moves"}}, Cost: 0.4,
			}),
			small, slow,
		},
		{blind, hidden},
		{blind, hidden},
		{quiet, reported("small", check.Info)},
	}
	for _, word := range []string{"table", "wide", "jsonl"} {
		var hold check.Hold
		var tracker check.Tracker
		var b bytes.Buffer
		for i, checks := range rounds {
			at := modeltest.Now.Add(time.Duration(i) * time.Minute)
			r, unable := hold.Next(check.Run(modeltest.Small(), at, checks))
			changes, blind := tracker.Next(r)
			d := &WatchReport{Report: r, Changes: changes, Blind: blind, Unable: unable}
			if err := Changes(&b, d, findingsFormat(t, word), render.Options{Width: 80}); err != nil {
				t.Fatal(err)
			}
		}
		rendertest.Golden(t, "findings/changes."+word, b.Bytes())
	}
}

func TestExplain(t *testing.T) {
	cause := reported("auto-balance-off", check.Warning)
	x := &check.Check{
		ID: "uneven", Title: "Nodes share the work of a replica unevenly", Severity: check.Error,
		Parts: model.PartSegments | model.PartServing, Needs: check.NeedDistribution,
		FollowsFrom: []check.Cause{{Check: "auto-balance-off"}},
		Doc: "\nThe **work** of each node: rows times dimensions, as `kitescope balance` has it. This is\n" +
			"one paragraph that is longer than a line of a terminal.\n\nA finding is\n" +
			"- a node that has more than 1.3 times the mean, where there are more segments than nodes, so that it " +
			"could be otherwise;\n- a node without any.\n\n1. first\n2. second\n",
		Remedy: "Set it:\n\n```\netcdctl put x   y\n```\n\nor move segments by hand:\n\n" +
			"    kitescope balance   --plan\n",
	}

	effect := reported("idle-node", check.Warning)
	effect.FollowsFrom = []check.Cause{{Check: "uneven"}}
	all := []*check.Check{cause, x, effect}
	for name, o := range map[string]render.Options{"60": {Width: 60}, "json": {Format: format(t, "json")}} {
		var b bytes.Buffer
		if err := Explain(&b, x, all, o); err != nil {
			t.Fatal(err)
		}
		rendertest.Golden(t, "explain/one."+name, b.Bytes())
		b.Reset()
		if err := Checks(&b, all, o.Format, render.ReportOptions{Options: o}); err != nil {
			t.Fatal(err)
		}
		rendertest.Golden(t, "explain/all."+name, b.Bytes())
	}
}
