package profiles

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kitescope/inspect/view"
	"kitescope/internal/table"
	"kitescope/profile"
	"kitescope/profile/report"
	"kitescope/render"
	"kitescope/render/rendertest"
)

const second = int64(time.Second)

func cpuHeader() report.Header {
	return report.Header{
		Origin: profile.Origin{Name: "querynode-7.cpu.pb.gz", Format: "pprof", Node: "querynode-7", Role: "querynode"},
		Type:   profile.ValueType{Type: "cpu", Unit: "nanoseconds"},
		Total:  10 * second, Samples: 1000,
		Time: time.Date(2026, 11, 20, 8, 29, 58, 0, time.UTC), Duration: 30 * time.Second,
		BuildIDs: []string{"b5f2"},
	}
}

func sampleTop() *report.Top {
	return &report.Top{Header: cpuHeader(), Entries: []report.Entry{
		{
			Function: "faiss::fvec_L2sqr_batch_4", Class: profile.Native, Flat: 6 * second, Cum: 6 * second,
			FlatSamples: 600, CumSamples: 600,
		},
		{
			Function: rendertest.LongName, File: "/go/src/internal/querynodev2/delegator/delegator.go",
			Class: profile.GoCode, Flat: second, Cum: 9 * second, FlatSamples: 100, CumSamples: 900,
		},
		{
			Function: "runtime.mallocgc", File: "malloc.go", Class: profile.Runtime, Flat: second / 2, Cum: second,
			FlatSamples: 50, CumSamples: 100,
		},
		{
			Function: rendertest.HostileName, Class: profile.Unknown, Flat: 10e6, Cum: 20e6, FlatSamples: 1,
			CumSamples: 2,
		},
		{Function: "main.main", Class: profile.GoCode, Flat: 0, Cum: 10 * second, FlatSamples: 0, CumSamples: 1000},
		{Function: "查询", Class: profile.GoCode, Flat: 1000, Cum: 1000, FlatSamples: 0, CumSamples: 0},
	}}
}

func heapTop() *report.Top {
	return &report.Top{Header: report.Header{
		Origin: profile.Origin{Name: "http://user:secret@10.0.0.7:9091/debug/pprof/heap", Format: "pprof"},
		Type:   profile.ValueType{Type: "inuse_space", Unit: "bytes"}, Total: 12_900_000, Samples: -1,
		Notes: []profile.Note{{What: "1 sample had no stack", Count: 1}, {What: "labels left out", Count: 7}},
	}, Entries: []report.Entry{
		{
			Function: "bufio.NewWriterSize", Class: profile.GoCode, Flat: 12_000_000, Cum: 12_000_000, FlatSamples: -1,
			CumSamples: -1,
		},
		{
			Function: "main.cache", Class: profile.GoCode, Flat: 900_000, Cum: 12_900_000, FlatSamples: -1,
			CumSamples: -1,
		},
	}}
}

func sampleDiff() *report.Comparison {
	base, now := cpuHeader(), cpuHeader()
	base.Origin.Name, base.Origin.Node = "yesterday.pb.gz", ""
	now.Origin.Name, now.Origin.Node = "today.pb.gz", ""
	now.Total, now.Samples = 12*second, 1200
	base.Origin.Merged = 3
	change := func(name string, fb, fa, cb, ca int64, fp, cp float64, fv, cv report.Verdict) report.Change {
		return report.Change{
			Entry: report.Entry{
				Function: name, Class: profile.GoCode, Flat: fa - fb, Cum: ca - cb, FlatSamples: -1, CumSamples: -1,
			},
			FlatBefore: fb, FlatAfter: fa, CumBefore: cb, CumAfter: ca, FlatP: fp, CumP: cp,
			FlatCorrectedP: min(1, 20*fp), CumCorrectedP: min(1, 20*cp), FlatVerdict: fv, CumVerdict: cv,
			FlatEventsBefore: fb / 10e6, FlatEventsAfter: fa / 10e6, CumEventsBefore: cb / 10e6,
			CumEventsAfter: ca/10e6 - 2*int64(render.BoolInt(name == rendertest.HostileName)),
		}
	}
	return &report.Comparison{
		Base: base, New: now, Type: base.Type, Total: 10 * second, OfBase: true, Normalized: true, Factor: 0.8333,
		Hypothesis: report.EqualRates, Level: 0.01,
		Changes: []report.Change{
			change("faiss::fvec_L2sqr_batch_4", 2*second, 5*second, 2*second, 5*second, 1e-12, 1e-12, report.Increased,
				report.Increased),
			change(rendertest.LongName, 3*second, 2*second, 9*second, 8*second, 0.00031, 0.021, report.Decreased,
				report.Noise),
			change("runtime.mallocgc", second, second+10e6, second, second+10e6, 0.71, 0.71, report.Noise,
				report.Noise),
			change("main.main", 0, 0, 10*second, 12*second, math.NaN(), 0.5, report.Undecided, report.Noise),
			change(rendertest.HostileName, 0, 10e6, 0, 10e6, math.NaN(), math.NaN(), report.Undecided,
				report.Undecided),
		},
	}
}

// profileReports returns functions that write each kind of report.
func profileReports() map[string]func(b *bytes.Buffer, f render.Format, o render.ReportOptions) error {
	return map[string]func(b *bytes.Buffer, f render.Format, o render.ReportOptions) error{
		"top": func(b *bytes.Buffer, f render.Format, o render.ReportOptions) error {
			return WriteTop(b, sampleTop(), f, o)
		},
		"heap": func(b *bytes.Buffer, f render.Format, o render.ReportOptions) error {
			return WriteTop(b, heapTop(), f, o)
		},
		"empty": func(b *bytes.Buffer, f render.Format, o render.ReportOptions) error {
			return WriteTop(b, &report.Top{}, f, o)
		},
		"diff": func(b *bytes.Buffer, f render.Format, o render.ReportOptions) error {
			return WriteDiff(b, sampleDiff(), f, o)
		},
		"diff-same": func(b *bytes.Buffer, f render.Format, o render.ReportOptions) error {
			return WriteDiff(b, &report.Comparison{Factor: 1}, f, o)
		},
	}
}

func TestGoldenProfiles(t *testing.T) {
	for name, write := range profileReports() {
		rendertest.Report(t, "profile/"+name, render.ReportFormats().Names(), map[string]rendertest.Variant{
			"table": {}, "80": {Width: 80, Limit: 4}, "50": {Width: 50}, "color": {Width: 140, Color: true},
			"wide": {}, "json": {}, "jsonl": {}, "yaml": {}, "csv": {}, "markdown": {Limit: 4},
		}, nil, func(w io.Writer, l rendertest.Variant) error {
			var b bytes.Buffer
			o := render.ReportOptions{
				Options: render.Options{Width: l.Width, ASCII: l.Width == 50, Color: l.Color}, Limit: l.Limit,
			}
			err := write(&b, rendertest.Format(t, render.ReportFormats(), l.Word), o)
			if strings.Contains(b.String(), "secret") {
				t.Errorf("%s as %s shows a password", name, l.Word)
			}
			_, _ = b.WriteTo(w)
			return err
		})
	}
}

// TestProfileKeys checks the documented keys of items, and that values are in the unit of the samples.
func TestProfileKeys(t *testing.T) {
	var b bytes.Buffer
	if err := WriteTop(&b, sampleTop(), rendertest.Format(t, render.ReportFormats(), "json"),
		render.ReportOptions{Limit: 2}); err != nil {
		t.Fatal(err)
	}
	var top struct {
		APIVersion, Kind string
		Matched          int
		Items            []map[string]any
	}
	if err := json.Unmarshal(b.Bytes(), &top); err != nil {
		t.Fatal(err)
	}
	got := map[string]any{}
	for _, key := range []string{"function", "flat", "cum", "flat_percent", "cum_percent"} {
		got[key] = top.Items[0][key]
	}
	want := map[string]any{
		"function": "faiss::fvec_L2sqr_batch_4", "flat": 6e9, "cum": 6e9, "flat_percent": 60.0, "cum_percent": 60.0,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if top.APIVersion != render.APIVersion || top.Kind != "ProfileTop" || top.Matched != 6 || len(top.Items) != 2 {
		t.Errorf("envelope: %+v", top)
	}
}

func TestProfileValues(t *testing.T) {
	for _, tt := range []struct {
		value int64
		unit  string
		want  string
	}{
		{0, "nanoseconds", "0"},
		{1_480_000_000, "nanoseconds", "1.48 s"},
		{-250_000_000, "nanoseconds", "-250 ms"},
		{12_900_000, "bytes", "12.30 MiB"},
		{7200, "seconds", "2 h"},
		{5, "count", "5"},
		{5, "objects", "5 objects"},
		{math.MinInt64, "nanoseconds", "-2562047.79 h"},
		{3, "\x1b[31m", " \\x1b[31m"},
	} {
		got := Scaled(tt.value, tt.unit)
		if tt.unit[0] == 0x1b {
			got = strings.TrimPrefix(got, "3")
		}
		if got != tt.want {
			t.Errorf("%d %s: %q, want %q", tt.value, tt.unit, got, tt.want)
		}
	}
	table := newScale("nanoseconds", 10*second, func(yield func(int64) bool) { yield(second) })
	if got := table.text(1000); got != "<0.01 s" {
		t.Errorf("what is something is shown as %q", got)
	}
}

func TestParseReportFormat(t *testing.T) {
	for _, word := range append(rendertest.Words(render.ReportFormats().Names()), "", "text") {
		if _, err := render.ReportFormats().Parse(word); err != nil {
			t.Error(err)
		}
	}
	_, err := render.ReportFormats().Parse("svg")
	unknown, ok := errors.AsType[*view.UnknownError](err)
	if !ok || len(unknown.Known) != len(render.ReportFormats().Names()) {
		t.Errorf("svg: %v", err)
	}
	if (render.Format{}).Name() != "table" || (render.Format{}).Structured() {
		t.Error("the zero format is not the table")
	}
}

// TestReportQueries checks that queries of lists apply to the output for people and for scripts.
func TestReportQueries(t *testing.T) {
	for name, tt := range map[string]struct {
		schema              *table.Schema
		where, sort, column string
		write               func(b *bytes.Buffer, f render.Format, o render.ReportOptions) error
	}{
		"top": {TopSchema(render.ReportOptions{}), "cum_percent>0", "-function", "file", profileReports()["top"]},
		"diff": {
			DiffSchema(render.ReportOptions{}), "flat_after>=0", "-function", "flat_before", profileReports()["diff"],
		},
	} {
		where, err := table.ParseSelection(tt.schema, []string{tt.where})
		if err != nil {
			t.Fatal(err)
		}
		o := render.ReportOptions{
			Limit: 3,
			Query: table.Query{Where: where, Sort: []string{tt.sort}, Columns: []string{"function", tt.column}},
		}
		var lines, people bytes.Buffer
		for word, b := range map[string]*bytes.Buffer{"csv": &lines, "table": &people} {
			if err := tt.write(b, rendertest.Format(t, render.ReportFormats(), word), o); err != nil {
				t.Fatal(err)
			}
		}
		records, err := csv.NewReader(&lines).ReadAll()
		if err != nil || len(records) < 3 || len(records) > 4 ||
			!slices.Equal(records[0], []string{"function", tt.column}) {
			t.Fatalf("%s: %v, %v", name, records, err)
		}
		title := strings.ToUpper(strings.ReplaceAll(tt.column, "_", " "))
		_, list, ok := strings.Cut(people.String(), title+"\n")
		if !ok || !slices.IsSortedFunc(records[1:], func(a, b []string) int { return strings.Compare(b[0], a[0]) }) {
			t.Errorf("%s: no %s, or out of order:\n%s%v", name, title, people.String(), records)
		}
		for _, r := range records[1:] {
			first, rest, _ := strings.Cut(list, "\n")
			if list = rest; !strings.HasPrefix(first, r[0]) {
				t.Errorf("%s: people read %q where scripts read %q", name, first, r)
			}
		}
	}
}
