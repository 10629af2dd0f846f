package report_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	google "github.com/google/pprof/profile"

	"kitescope/profile"
	"kitescope/profile/profiletest"
	"kitescope/profile/report"
)

const fixtures = "../../testdata/profiles"

// pprofTool returns the real `go tool pprof`, with which all results are compared. Short tests skip it, because
// Go compiles it first, which takes a minute of CPU time, and some hundred reports follow.
func pprofTool(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds pprof")
	}
	// The first run may have to build it. After that, -n prints its path.
	_ = exec.CommandContext(t.Context(), "go", "tool", "pprof", "-h").Run() // always exits with an error
	out, err := exec.CommandContext(t.Context(), "go", "tool", "-n", "pprof").Output()
	if err != nil {
		t.Fatalf("go tool -n pprof: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// line is a line of pprof's -top.
type line struct {
	Name          string
	Flat, FlatPct string
	SumPct        string
	Cum, CumPct   string
}

// query is a report: the pprof commands and our options for it.
type query struct {
	commands string // interactive settings, one per line
	options  report.Options
}

func (q query) name() string {
	return strings.ReplaceAll(q.commands, "\n", " ")
}

// settings are the initial commands. They select units that pprof converts exactly.
const settings = "trim=false\nunit=%s\nsample_index=%s\n"

// runPprof runs all questions in one interactive pprof and returns its answers. It checks that pprof's default type
// is wantType.
func runPprof(t *testing.T, tool string, args []string, wantType, unit string, kind int, questions []query) []string {
	t.Helper()
	dir := t.TempDir()
	var script strings.Builder
	fmt.Fprintf(&script, settings, unit, strconv.Itoa(kind))
	for i, q := range questions {
		script.WriteString("focus=\nignore=\nhide=\nshow=\ntagfocus=\nsort=flat\ngranularity=functions\n")
		script.WriteString(q.commands + "\n")
		fmt.Fprintf(&script, "top >%s/%d\n", dir, i)
	}
	cmd := exec.CommandContext(t.Context(), tool, append([]string{"-symbolize=none"}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+dir, "PPROF_TMPDIR="+dir)
	cmd.Stdin = strings.NewReader(script.String())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("pprof %v: %v\n%s", args, err, &stderr)
	}
	if _, greeting, ok := strings.Cut(stderr.String(), "Type: "); wantType != "" &&
		(!ok || !strings.HasPrefix(greeting, wantType+"\n")) {
		t.Errorf("pprof %v shows by default not %s but\n%s", args, wantType, &stderr)
	}
	answers := make([]string, len(questions))
	for i, q := range questions {
		out, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(i)))
		if err != nil {
			t.Fatalf("pprof %v did not answer %q: %v\n%s", args, q.name(), err, &stderr)
		}
		answers[i] = string(out)
	}
	return answers
}

var topLine = regexp.MustCompile(`^ *(\S+) +(\S+%) +(\S+%) +(\S+) +(\S+%)  (.*)$`)

func parseTop(t *testing.T, text string) []line {
	t.Helper()
	_, table, ok := strings.Cut(text, "      flat  flat%   sum%        cum   cum%\n")
	if !ok {
		t.Fatalf("no table in %s", text)
	}
	var lines []line
	for l := range strings.Lines(table) {
		m := topLine.FindStringSubmatch(strings.TrimSuffix(l, "\n"))
		if m == nil {
			t.Fatalf("not a line of pprof -top: %q", l)
		}
		name := strings.TrimSuffix(strings.TrimSuffix(m[6], " (inline)"), " (partial-inline)")
		lines = append(lines, line{name, number(m[1]), m[2], m[3], number(m[4]), m[5]})
	}
	return lines
}

// number removes the unit.
func number(s string) string { return strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyzB") }

// percentage formats a share as pprof does (google/pprof internal/measurement: Percentage).
func percentage(h *report.Header, value int64) string {
	ratio := math.Abs(h.Percent(value))
	switch {
	case ratio >= 99.95 && ratio <= 100.05:
		return "100%"
	case ratio >= 1:
		return fmt.Sprintf("%.2f%%", ratio)
	default:
		return fmt.Sprintf("%.2g%%", ratio)
	}
}

func linesOf(h *report.Header, entries []report.Entry) []line {
	var lines []line
	var sum int64
	for _, e := range entries {
		sum += e.Flat
		lines = append(lines, line{
			e.Function, strconv.FormatInt(e.Flat, 10), percentage(h, e.Flat), percentage(h, sum),
			strconv.FormatInt(e.Cum, 10), percentage(h, e.Cum),
		})
	}
	return lines
}

func decode(t testing.TB, file string) *profile.Profile {
	t.Helper()
	return profiletest.Read(t, file)
}

// unitOf returns the value of pprof's -unit for which it prints values unconverted.
func unitOf(unit string) string {
	switch unit {
	case "nanoseconds":
		return "ns"
	case "bytes":
		return "b"
	}
	return "count"
}

func rx(s string) *regexp.Regexp { return regexp.MustCompile(s) }

// unordered clears the running sums and sorts the lines, because pprof lists lines that look the same in a
// different order each time.
func unordered(lines []line) []line {
	lines = slices.Clone(lines)
	for i := range lines {
		lines[i].SumPct = ""
	}
	key := func(l line) string { return l.Name + " " + l.Flat + " " + l.Cum }
	slices.SortFunc(lines, func(a, b line) int { return strings.Compare(key(a), key(b)) })
	return lines
}

// queries returns the reports to compare for each fixture.
func queries(all bool) []query {
	q := []query{
		{commands: ""},
		{commands: "sort=cum", options: report.Options{SortCum: true}},
		{commands: "granularity=lines", options: report.Options{By: profile.ByLine}},
		{commands: "granularity=addresses", options: report.Options{By: profile.ByAddress}},
		{commands: "granularity=files", options: report.Options{By: profile.ByFile}},
		{
			commands: "granularity=files\nsort=cum\nfocus=runtime",
			options:  report.Options{By: profile.ByFile, SortCum: true, Filter: profile.Filter{Focus: rx("runtime")}},
		},
		{commands: "focus=runtime", options: report.Options{Filter: profile.Filter{Focus: rx("runtime")}}},
	}
	if !all {
		return q
	}
	return append(q, []query{
		{
			commands: "focus=mallocgc|libknowhere|proto",
			options:  report.Options{Filter: profile.Filter{Focus: rx("mallocgc|libknowhere|proto")}},
		},
		{commands: "ignore=grpc", options: report.Options{Filter: profile.Filter{Ignore: rx("grpc")}}},
		{
			commands: "focus=proxy\nignore=mallocgc",
			options:  report.Options{Filter: profile.Filter{Focus: rx("proxy"), Ignore: rx("mallocgc")}},
		},
		{commands: "hide=runtime", options: report.Options{Filter: profile.Filter{Hide: rx("runtime")}}},
		{
			commands: `hide=libknowhere|\(\*P`,
			options:  report.Options{Filter: profile.Filter{Hide: rx(`libknowhere|\(\*P`)}},
		},
		{commands: "show=runtime", options: report.Options{Filter: profile.Filter{Show: rx("runtime")}}},
		{commands: "show=libgomp|milvus", options: report.Options{Filter: profile.Filter{Show: rx("libgomp|milvus")}}},
		{
			commands: "hide=gc\nshow=runtime",
			options:  report.Options{Filter: profile.Filter{Hide: rx("gc"), Show: rx("runtime")}},
		},
		{
			commands: "granularity=lines\nsort=cum\nignore=mallocgc",
			options:  report.Options{By: profile.ByLine, SortCum: true, Filter: profile.Filter{Ignore: rx("mallocgc")}},
		},
	}...)
}

// compare compares pprof's answers with our reports.
func compare(t *testing.T, p *profile.Profile, kind int, questions []query, answers []string) {
	t.Helper()
	for i, q := range questions {
		q.options.SampleIndex = strconv.Itoa(kind)
		top, err := report.NewTop(p, q.options)
		if err != nil {
			t.Errorf("%s: %v", q.name(), err)
			continue
		}
		want, got := parseTop(t, answers[i]), linesOf(&top.Header, top.Entries)
		if q.options.By == profile.ByFile {
			want, got = unordered(want), unordered(got)
		}
		if !slices.Equal(want, got) {
			t.Errorf("%s of %s: pprof says -, we say +\n%.3000s", q.name(), p.Types[kind], cmp.Diff(want, got))
		}
	}
}

func TestTopEqualsPprof(t *testing.T) {
	t.Parallel()
	tool := pprofTool(t)
	files, err := filepath.Glob(fixtures + "/*.pb.gz")
	if err != nil || len(files) < 11 {
		t.Fatalf("fixtures: %v %v", files, err)
	}
	clusters, _ := filepath.Glob(fixtures + "/t[357]/*.cpu.pb.gz")
	if len(clusters) < 20 {
		t.Fatalf("fixtures of clusters: %v", clusters)
	}
	for i, file := range append(files, clusters...) {
		t.Run(strings.TrimPrefix(file, fixtures+"/"), func(t *testing.T) {
			t.Parallel()
			p := decode(t, file)
			main, err := p.KindOf("")
			if err != nil {
				t.Fatal(err)
			}
			for kind, valueType := range p.Types {
				if i > len(files) && kind != main {
					continue // all nodes of a cluster have the same types
				}
				q := queries(i < len(files) && kind == len(p.Types)-1)
				compare(t, p, kind, q,
					runPprof(t, tool, []string{file}, p.Types[main].Type, unitOf(valueType.Unit), kind, q))
			}
		})
	}
}

// TestNodesEqualPprof checks that reports by node equal pprof's, which treats the label as a tag.
func TestNodesEqualPprof(t *testing.T) {
	tool := pprofTool(t)
	var all []*google.Profile
	for _, node := range []string{"querynode1", "querynode2", "querynode3"} {
		data, err := os.ReadFile(filepath.Join(fixtures, "t5", node+".cpu.pb.gz"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := google.ParseData(data)
		if err != nil {
			t.Fatal(err)
		}
		p.SetLabel(profile.NodeLabel, []string{node})
		all = append(all, p)
	}
	merged, err := google.Merge(all)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "merged.pb.gz")
	var out bytes.Buffer
	if err := merged.Write(&out); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	q := []query{
		{},
		{
			commands: "tagfocus=node=^querynode1$",
			options:  report.Options{Filter: profile.Filter{Nodes: []string{"querynode1"}}},
		},
		{
			commands: "tagfocus=node=^querynode[23]$\nhide=runtime",
			options: report.Options{
				Filter: profile.Filter{Nodes: []string{"querynode3", "querynode2"}, Hide: rx("runtime")},
			},
		},
	}
	compare(t, decode(t, file), 1, q, runPprof(t, tool, []string{file}, "cpu", "ns", 1, q))
}
