package read

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/profile"
)

const fixtures = "../../testdata/profiles"

func fixture(name string) string { return filepath.Join(fixtures, name) }

func mustOpen(t testing.TB, name string, o Options) *profile.Profile {
	t.Helper()
	p, err := Open(context.Background(), fixture(name), o)
	if err != nil {
		t.Fatal(err)
	}
	checkSound(t, p)
	return p
}

func mustRead(t testing.TB, text string, o Options) *profile.Profile {
	t.Helper()
	p, err := From(context.Background(), "text", strings.NewReader(text), o)
	if err != nil {
		t.Fatal(err)
	}
	checkSound(t, p)
	return p
}

// checkSound checks the invariants that users of a profile rely on: indexes are in range, and encoding to pprof
// and decoding preserves the sums.
func checkSound(t testing.TB, p *profile.Profile) {
	t.Helper()
	if len(p.Values) != p.Len()*len(p.Types) || p.LabelOf != nil && len(p.LabelOf) != p.Len() {
		t.Fatalf("%d samples with %d values of %d types and %d labels", p.Len(), len(p.Values), len(p.Types),
			len(p.LabelOf))
	}
	for i := range p.Len() {
		for _, at := range p.Stack(i) {
			if l := p.Locations[at]; l.Mapping != profile.NoMapping && int(l.Mapping) >= len(p.Mappings) {
				t.Fatalf("location %d has mapping %d of %d", at, l.Mapping, len(p.Mappings))
			}
			for _, line := range p.LinesOf(at) {
				_ = p.Functions[line.Function]
			}
		}
		_ = p.Labels(i)
	}
	var file bytes.Buffer
	if err := p.Encode(&file); err != nil {
		t.Fatalf("it cannot be written as pprof: %v", err)
	}
	again, err := profile.Decode(context.Background(), &file, profile.Limits{})
	if err != nil {
		t.Fatalf("what was written cannot be read again: %v", err)
	}
	for kind := range p.Types {
		if a, b := p.Total(kind), again.Total(kind); a != b {
			t.Fatalf("%s adds up to %d, and after it was written and read again to %d", p.Types[kind], a, b)
		}
	}
}

// nameOf returns the name of a frame: its functions, innermost first, or its library in brackets.
func nameOf(p *profile.Profile, at uint32) string {
	var names []string
	for _, l := range p.LinesOf(at) {
		names = append(names, p.Functions[l.Function].Name)
	}
	if names == nil {
		if m := p.MappingOf(at); m != nil && m.File != "" {
			return "[" + path.Base(m.File) + "]"
		}
		return unknown
	}
	return strings.Join(names, "<")
}

// stacks folds a profile into values of one type by stack "leaf;caller;...;root".
func stacks(p *profile.Profile, kind int) map[string]int64 {
	folded := map[string]int64{}
	for i := range p.Len() {
		var names []string
		for _, at := range p.Stack(i) {
			names = append(names, nameOf(p, at))
		}
		folded[strings.Join(names, ";")] += p.Value(i, kind)
	}
	return folded
}

// scan calls f for each line of a fixture.
func scan(t testing.TB, name string, f func(line string)) {
	t.Helper()
	file, err := os.Open(fixture(name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	s := bufio.NewScanner(file)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		f(s.Text())
	}
}

func kindOf(t testing.TB, p *profile.Profile, name string) int {
	t.Helper()
	for i, v := range p.Types {
		if v.Type == name {
			return i
		}
	}
	t.Fatalf("there is no type %s in %v", name, p.Types)
	return 0
}

// TestPerfScriptAgainstStackcollapse compares a perf script with the output of stackcollapse-perf.pl.
func TestPerfScriptAgainstStackcollapse(t *testing.T) {
	p := mustOpen(t, "perf-script-goldmark.txt", Options{})
	got := map[string]int64{}
	for stack, v := range stacks(p, kindOf(t, p, "cpu-clock")) {
		names := strings.Split(stack, ";")
		reversed := []string{"goldmark.base"}
		for _, name := range slices.Backward(names) {
			reversed = append(reversed, name)
		}
		got[strings.Join(reversed, ";")] += v
	}
	want := map[string]int64{}
	scan(t, "goldmark.folded", func(line string) {
		at := strings.LastIndexByte(line, ' ')
		n, err := strconv.ParseInt(line[at+1:], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		want[line[:at]] += n
	})
	if len(want) < 40 {
		t.Fatalf("the truth has %d stacks only", len(want))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stacks (-stackcollapse +ours):\n%s", diff)
	}
	for i := range p.Len() {
		if want := []profile.Label{{Key: profile.CommandLabel, Str: "goldmark.base"}}; !cmp.Equal(p.Labels(i), want) {
			t.Fatalf("labels %v", p.Labels(i))
		}
	}
	// The folded file has the same values, with the command as a frame.
	f := mustOpen(t, "goldmark.folded", Options{})
	if total := f.Total(0); total != p.Total(1) || p.Total(0) != 52 || p.Period != 5025125 {
		t.Errorf("totals %d and %d, %d samples, period %d", total, p.Total(1), p.Total(0), p.Period)
	}
}

var sampleLine = regexp.MustCompile(` ([0-9]+) cpu-clock: *(.*)$`)

// TestPerfScriptSums checks the sums of periods against sums computed with a regular expression.
func TestPerfScriptSums(t *testing.T) {
	for _, name := range []string{
		"perf/cpp.txt", "perf/cpp-flat.txt", "perf/postgres-lookups.txt", "perf/postgres-totals.txt",
		"perf-script-goldmark.txt",
	} {
		var sum, n int64
		scan(t, name, func(line string) {
			if m := sampleLine.FindStringSubmatch(line); m != nil && line[0] != '\t' {
				period, _ := strconv.ParseInt(m[1], 10, 64)
				sum += period
				n++
			}
		})
		p := mustOpen(t, name, Options{})
		if n < 30 || p.Total(0) != n || p.Total(1) != sum {
			t.Errorf("%s: %d samples, %d ns, want %d, %d", name, p.Total(0), p.Total(1), n, sum)
		}
		if p.Origin.Format != "perf script" || p.DefaultType != "cpu-clock" || p.Types[1].Unit != "nanoseconds" ||
			p.Duration <= 0 || p.Origin.Flat {
			t.Errorf("%s: %+v %s %v %s", name, p.Origin, p.DefaultType, p.Types, p.Duration)
		}
	}
}

// leaves returns the sum of values by library and name of the leaf. Leaves without a name are added up by
// library.
func leaves(p *profile.Profile, kind int) map[string]int64 {
	by := map[string]int64{}
	for i := range p.Len() {
		leaf := p.Stack(i)[0]
		file := ""
		if m := p.MappingOf(leaf); m != nil {
			file = path.Base(m.File)
		}
		by[file+" "+nameOf(p, leaf)] += p.Value(i, kind)
	}
	return by
}

// TestPerfReportAgainstPerfScript compares a table that perf added up with the samples that perf printed from
// the same recording.
func TestPerfReportAgainstPerfScript(t *testing.T) {
	o := Options{Mangled: true}
	script := leaves(mustOpen(t, "perf/cpp.txt", o), 1)
	single := leaves(mustOpen(t, "perf/cpp-flat.txt", o), 1)
	if diff := cmp.Diff(script, single); diff != "" {
		t.Errorf("leaves of call chains and of samples without them (-chains +single):\n%s", diff)
	}
	table := mustOpen(t, "perf/cpp-report.txt", o)
	if !table.Origin.Flat || table.Origin.Format != "perf report" {
		t.Errorf("origin %+v", table.Origin)
	}
	report := leaves(table, 0)
	rows := map[string]int{}
	for i := range table.Len() {
		rows[nameOf(table, table.Stack(i)[0])]++
	}
	var total int64
	for _, v := range script {
		total += v
	}
	for name := range maps.Keys(script) {
		// Percentages have two decimals, and each address without a name has a row of its own.
		slack := float64(total) / 20000 * 60
		if _, symbolName, _ := strings.Cut(name, " "); !strings.HasPrefix(symbolName, "[") {
			slack = float64(total)/20000 + 1
		}
		if d := math.Abs(float64(script[name] - report[name])); d > slack {
			t.Errorf("%s: %d in samples, %d in the table", name, script[name], report[name])
		}
	}
	if len(report) != len(script) || len(report) < 30 {
		t.Errorf("%d leaves in samples, %d in the table", len(script), len(report))
	}
}

// TestFoldedSums checks the sums of folded stacks of Milvus.
func TestFoldedSums(t *testing.T) {
	for name, total := range map[string]int64{"milvus-flat.folded": 954, "milvus-hnsw.folded": 779} {
		p := mustOpen(t, name, Options{})
		if p.Total(0) != total || len(p.Types) != 1 || p.Types[0] != samplesType || p.Origin.Format != "folded" {
			t.Errorf("%s: %d %v, want %d", name, p.Total(0), p.Types, total)
		}
		for _, m := range p.Mappings {
			if strings.ContainsAny(m.File, ";") || m.HasFunctions {
				t.Errorf("%s: mapping %+v", name, m)
			}
		}
	}
}

// TestPackedText checks that compressed text is read like plain text, and that MaxText applies.
func TestPackedText(t *testing.T) {
	text, err := os.ReadFile(fixture("perf-script-goldmark.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want := stacks(mustOpen(t, "perf-script-goldmark.txt", Options{}), 1)
	for name, pack := range packers {
		p, err := From(context.Background(), name, bytes.NewReader(pack(t, text)), Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(want, stacks(p, 1)); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
		_, err = From(context.Background(), name, bytes.NewReader(pack(t, text)), Options{MaxText: 10_000})
		if err == nil || !strings.Contains(err.Error(), "decompresses to more than 10000 bytes") {
			t.Errorf("%s with a limit: %v", name, err)
		}
	}
}

// TestPprof checks that pprof files are read by profile.Decode, also if zstd-compressed.
func TestPprof(t *testing.T) {
	p := mustOpen(t, "milvus-cpu-flat.pb.gz", Options{})
	if p.Origin.Format != "pprof" || p.Total(0) != 954 || filepath.Base(p.Origin.Name) != "milvus-cpu-flat.pb.gz" {
		t.Errorf("%+v, %d samples", p.Origin, p.Total(0))
	}
	f, err := os.Open(fixture("milvus-cpu-flat.pb.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unpacked, done, err := unpack(f, []byte(magicGzip), defaultText)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	raw, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	q, err := From(context.Background(), "raw", bytes.NewReader(packers["zstd"](t, raw)), Options{})
	if err != nil || q.Total(0) != 954 {
		t.Errorf("zstd of a raw one: %v", err)
	}
}
