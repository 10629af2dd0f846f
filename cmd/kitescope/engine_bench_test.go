package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kitescope/cmd/kitescope/cli"
	"kitescope/engine/goldentest"
)

// TestEngineBenchRefines: the recall of coarse codes is what their refinement makes it, and a point says with which; what search refuses is
// refused.
func TestEngineBenchRefines(t *testing.T) {
	var goldens struct {
		Files []struct {
			Name          string
			Dim           int
			Queries, File []byte
		}
	}
	goldentest.ReadJSON(t, "../../engine/index/testdata/graphs/knowhere.json.gz", &goldens)
	file, queries := filepath.Join(t.TempDir(), "pq"), filepath.Join(t.TempDir(), "q.fvecs")
	for _, g := range goldens.Files {
		if g.Name != "PQ_2x3x4_L2_8_floats_fp32" {
			continue
		}
		var rows []byte
		for q := g.Queries; len(q) > 0; q = q[4*g.Dim:] {
			rows = append(binary.LittleEndian.AppendUint32(rows, uint32(g.Dim)), q[:4*g.Dim]...)
		}
		for path, data := range map[string][]byte{file: g.File, queries: rows} {
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	type point struct {
		EF      int
		RefineK float64 `json:"refine_k"`
		Recall  float64
	}
	bench := func(flags ...string) (points []point) {
		document := struct{ Items any }{&points}
		kitescopeJSON(t, &document, append([]string{"engine", "bench", file, "--queries", queries, "--k", "3", "--rounds", "1", "--truth", "exact", "-o", "json"}, flags...)...)
		return points
	}
	few, many := bench("--ef", "5,10", "--refine-k", "1"), bench("--ef", "5,10", "--refine-k", "8")
	for i, ef := range []int{5, 10} {
		f, m := few[i], many[i]
		if f.EF != ef || f.RefineK != 1 || m.RefineK != 8 || f.Recall >= m.Recall || m.Recall != 1 {
			t.Errorf("%+v, and %+v where 8 times k are compared again", f, m)
		}
	}
	if p := bench("--ef", "5"); p[0].RefineK != 0 {
		t.Errorf("%+v", p)
	}
	for said, flags := range map[string][]string{
		"--refine-k must be 1 or more, not 0.5":     {"--refine-k", "0.5"},
		"--reorder-k applies to a SCANN index":      {"--reorder-k", "9"},
		"--rbq-bits-query must be 0 to 8, not 9":    {"--rbq-bits-query", "9"},
		"--rbq-bits-query applies to an IVF_RABITQ": {"--rbq-bits-query", "0"},
		"--refine-factor applies to an index of s":  {"--refine-factor", "2"},
	} {
		for _, command := range []string{"search", "bench"} {
			if e := kitescope(t, cli.ExitUsage, append([]string{"engine", command, file, "--queries", queries}, flags...)...); !strings.Contains(e.err, said) {
				t.Errorf("engine %s %v: %s", command, flags, e.err)
			}
		}
	}
}
