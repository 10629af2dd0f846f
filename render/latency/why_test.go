package latency_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"kitescope/inspect/check"
	"kitescope/inspect/impact"
	"kitescope/inspect/latency"
	"kitescope/inspect/model"
	"kitescope/inspect/model/modeltest"
	"kitescope/inspect/why"
	"kitescope/render"
	show "kitescope/render/latency"
	"kitescope/render/rendertest"
)

// whyReport returns four reasons: a finding that explains most of a search, a finding that only gives a bound, hot
// functions, and a phase without an explanation.
func whyReport() *show.WhyReport {
	r := report()
	search, insert := r.Budgets[0], r.Budgets[1]
	strong := &check.Finding{
		Check: "consistency-wait", Severity: check.Warning,
		Object:  model.Ref{Resource: "collections", ID: "1", Name: "docs"},
		Message: "a search of docs waits 150 of 200 ms for consistency",
		Fix:     check.Fix(check.Do("ask for Bounded: %s", "docs")),
	}
	slow := &check.Finding{
		Check: "wal-append-slow", Severity: check.Error,
		Object:  model.Ref{Resource: "nodes", ID: "proxy-9", Name: "proxy-9\x1b[2J"},
		Message: "the queue takes writes late",
	}
	late := &check.Finding{Check: "late-writes", Severity: check.Warning, Message: "an insert waits 6 of 8 ms"}
	return &show.WhyReport{
		Latency: r.Latency, Where: r.Where, Version: r.Version, At: r.At,
		Answers: []*why.Answer{
			{Budget: search, Reasons: []why.Reason{
				{
					Phase: search.Root.Find(latency.ConsistencyWait), Finding: strong,
					Gain: latency.Interval{Low: 140, High: 150}, OtherPhases: []latency.Name{latency.Unexplained},
				},
				{
					Phase: search.Root.Find(latency.KernelSealed), Gain: latency.Interval{High: 29.6}, Bound: true,
					Frames: []why.Frames{
						{
							Process: "querynode-3",
							Hottest: []model.HotFrame{
								{Function: "fvec_L2sqr", Part: 0.71}, {Function: "runtime.cgocall", Part: 0.1},
							},
						},
					},
				},
				{Phase: search.Root.Children[2], Gain: latency.Interval{High: 20}, Bound: true},
			}},
			{
				Budget: insert,
				Reasons: []why.Reason{
					{
						Phase: insert.Root.Find(latency.WALAppend), Finding: slow, Effect: late,
						Gain: latency.Interval{High: 6},
					},
				},
			},
		},
	}
}

func whyWritten(t *testing.T, r *show.WhyReport, format string, o render.ReportOptions) string {
	t.Helper()
	f, err := show.WhyFormats().Parse(format)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := show.WriteWhy(&b, r, f, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestWhyFormats(t *testing.T) {
	looks := map[string]rendertest.Variant{"80": {Width: 80}, "wide": {}, "json": {}}
	rendertest.Report(t, "why", show.WhyFormats().Names(), looks, nil, func(w io.Writer, l rendertest.Variant) error {
		b := whyReport()
		if l.Word == "json" || l.Word == "yaml" {
			b.Report = clientReport()
		}
		_, err := io.WriteString(w,
			whyWritten(t, b, l.Word, render.ReportOptions{Options: render.Options{Width: l.Width}}))
		return err
	})
}

// clientReport returns a report of a cluster whose inserts fail because its storage is full.
func clientReport() *check.Report {
	cause := &check.Finding{
		Check: "storage-read-only", Severity: check.Error, Message: "the storage is full",
		Impact: "No file is written.", Fix: check.Fix(check.Do("free some space")),
	}
	return &check.Report{Cluster: modeltest.Served(), Findings: []*check.Finding{
		cause,
		{
			Check: "requests-failing", Severity: check.Error,
			Object:  model.Ref{Resource: "requests", ID: "storage", Name: "inserts"},
			Message: "inserts fail: the storage refuses",
			Impact:  "Inserts: 56 of 56 failed in 15 s.", Requests: []impact.Request{impact.Insert}, Cause: cause.Key(),
			Fix: check.Fix(check.Do("see the storage")),
		},
		{Check: "clock-regression", Severity: check.Error, Message: "the clock is wrong"},
	}}
}

// TestWhyClientFindings checks that failing requests come first, below their cause and with its fix, and that no other
// finding is included.
func TestWhyClientFindings(t *testing.T) {
	for name, b := range map[string]*show.WhyReport{
		"with others":   whyReport(),
		"nothing ended": {Latency: &latency.Latency{Window: latency.Window{Why: "over 10s"}}},
	} {
		b.Report = clientReport()
		text := whyWritten(t, b, "table", render.ReportOptions{Options: render.Options{Width: 80}})
		cause, effect, fix := strings.Index(text, "error the storage is full"),
			strings.Index(text, "error inserts fail: the storage refuses"), strings.Index(text, "free some space")
		if cause < 0 || effect < cause || fix < cause || strings.Contains(text, "clock") ||
			strings.Contains(text, "see the storage") || strings.Contains(text, "no search, query or write ended") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}

// TestWhyText checks that the first line has the reason.
func TestWhyText(t *testing.T) {
	text := whyWritten(t, whyReport(), "table", render.ReportOptions{Options: render.Options{Width: 80}})
	if !strings.HasPrefix(text, "a search of docs waits 150 of 200 ms for consistency; without that about 50 ms\n") {
		t.Errorf("the first line is %.100q", text)
	}
	none := &show.WhyReport{Latency: &latency.Latency{Window: latency.Window{Why: "over 10s"}}}
	if text := whyWritten(t, none, "table", render.ReportOptions{}); !strings.HasPrefix(text,
		"no search, query or write ended in that time\n") {
		t.Errorf("of nothing: %q", text)
	}
}

// TestWhyFix checks that the instructions of a fix are wrapped but its commands are not, because they are copied.
func TestWhyFix(t *testing.T) {
	b := whyReport()
	with := func(s check.Step) string {
		b.Answers[0].Reasons[0].Finding.Fix = []check.Step{s}
		return whyWritten(t, b, "table", render.ReportOptions{Options: render.Options{Width: 80}})
	}
	const prose = "see the CPU limit of the proxies and whether they are throttled, and what else runs on their " +
		"machines"
	if text := with(check.Do(prose)); strings.Contains(text, prose) {
		t.Errorf("%s is not broken:\n%s", prose, text)
	}
	const command = "kitescope diagnose --only index-not-loaded,index-missing,index-failed,index-stuck --window 60s"
	if text := with(check.Shell(check.Kitescope(
		"diagnose --only index-not-loaded,index-missing,index-failed,index-stuck --window 60s",
	))); !strings.Contains(text, "$ "+command+"\n") {
		t.Errorf("%s is broken:\n%s", command, text)
	}
}
