package builds

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"kitescope/profile/pgo"
	"kitescope/render"
	"kitescope/render/rendertest"
)

func packReports() []*PackReport {
	samples, cpu := int64(497), 4.97
	m := &pgo.Manifest{
		File: "default.pgo", Bytes: 28672, SHA256: strings.Repeat("0123456789abcdef", 4), SampleType: "cpu/nanoseconds",
		Block: []string{"main.(*writer).flush"}, Calls: 1423, HotCalls: 949, CallWeight: 2_400_000_000,
		Nodes: []string{"querynode-1"}, GoVersions: []string{"go1.26.8"}, BuildIDs: []string{"b1"},
		Sources: []pgo.ManifestSource{
			{
				Name: "before/querynode-1.cpu.pb.gz", Node: "querynode-1", SHA256: "ab12",
				Started: time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC), Seconds: 30,
				Samples: &samples, CPUSeconds: &cpu, GoVersion: "go1.26.8", BuildID: "b1", Weight: 1_000_000_000,
			},
			{Name: "=other|\x1b[31m.pb.gz", Weight: 1_000_000_000},
		},
		Judgement: &pgo.ManifestJudgement{
			Verdict: "worth building", Reason: "88% of the time is spent in compiled Go code",
		},
	}
	pack := &pgo.Pack{Manifest: m, SHA256: m.SHA256}
	return []*PackReport{
		{
			Pack: pack, Path: "cmd/default.pgo", ManifestPath: "cmd/default.pgo.json", Outcome: "replaced",
			Notes: []string{"1 of 2 profiles have fewer than 100 samples"},
		},
		{
			Pack: pack, Path: "default-0123456789abcdef.pgo", ManifestPath: "default-0123456789abcdef.pgo.json",
			Outcome: "written", Flag: "-pgo=default-0123456789abcdef.pgo",
		},
	}
}

func verifications() []*pgo.Verification {
	took := &pgo.Verification{
		Name: "./service",
		Build: &pgo.Build{
			Main: "example.com/service", GoVersion: "go1.26.8", BuildID: "b1", PGO: "/src/default-0123456789abcdef.pgo",
			Hash: "0123456789abcdef", Recorded: true,
		},
		Given: &pgo.GivenProfile{
			Name: "default.pgo", SHA256: strings.Repeat("0123456789abcdef", 4), Assumed: true,
			Manifest: &pgo.Manifest{
				Sources: make([]pgo.ManifestSource, 2), Nodes: []string{"a", "b"}, GoVersions: []string{"go1.26.8"},
				BuildIDs: []string{"b0"},
			},
		},
		Effect: pgo.Used, Reason: "it was built with /src/default-0123456789abcdef.pgo", Match: pgo.MatchHash,
		Manifest: "matches",
	}
	none := &pgo.Verification{
		Name: "./plain", Build: &pgo.Build{Main: "main", GoVersion: "go1.26.8", Recorded: true},
		Effect: pgo.NotUsed, Reason: "it was built without a profile", Hint: "a default.pgo is used by itself",
	}
	unknown := &pgo.Verification{
		Name: "=service\x1b[31m|x", Build: &pgo.Build{},
		Given:  &pgo.GivenProfile{Name: "x.pgo", SHA256: "00", Err: errors.New("it is cut")},
		Effect: pgo.EffectUnknown, Reason: "it does not record how it was built", Notes: []string{"x.pgo: it is cut"},
	}
	return []*pgo.Verification{took, none, unknown}
}

func TestWritePGOReports(t *testing.T) {
	for _, format := range []string{"table", "json", "csv", "markdown"} {
		var packs, verified bytes.Buffer
		for _, r := range packReports() {
			if err := WritePack(&packs, r, rendertest.Format(t, render.ReportFormats(), format),
				render.ReportOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		for _, v := range verifications() {
			if err := WriteVerification(&verified, v, rendertest.Format(t, render.ReportFormats(), format),
				render.ReportOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		for name, text := range map[string][]byte{"pack": packs.Bytes(), "verification": verified.Bytes()} {
			if bytes.ContainsRune(text, 0x1b) {
				t.Errorf("%s of a %s: a control character reaches the terminal", format, name)
			}
			if format == "table" || format == "json" {
				rendertest.Golden(t, "pgo/"+name+"."+format, text)
			}
		}
	}
}
