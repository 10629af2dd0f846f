package target

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"kitescope/engine"
	"kitescope/engine/goldentest"
)

// TestVerifyHoldsCodesAgainstVectors takes files of faiss: of coded rows the codes are compared with those of the vectors.
func TestVerifyHoldsCodesAgainstVectors(t *testing.T) {
	var goldens struct {
		Rows  map[string][]byte
		Files []struct {
			Name, Rows string
			Dim        int
			Scale      float32
			IDs        []int64
			File       []byte
		}
	}
	goldentest.ReadJSON(t, indexFiles+"codes.json.gz", &goldens)
	for _, g := range goldens.Files {
		if strings.Contains(g.Name, "ties") || g.Scale != 1 {
			continue
		}
		path := filepath.Join(t.TempDir(), "index")
		if err := os.WriteFile(path, g.File, 0o600); err != nil {
			t.Fatal(err)
		}
		x, err := Open(t.Context(), path, Hint{})
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		rows := goldens.Rows[g.Rows]
		v, err := engine.FromFloat32s(g.Dim, unsafe.Slice((*float32)(unsafe.Pointer(&rows[0])), len(rows)/4))
		if err != nil {
			t.Fatal(err)
		}
		stored := func(v *engine.Vectors) Check {
			r, err := x.Verify(t.Context(), v, VerifyPlan{IDs: g.IDs})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range r.Checks {
				if c.Name == "stored vectors" {
					return c
				}
			}
			t.Fatalf("%s: %+v", g.Name, r.Checks)
			return Check{}
		}
		if c := stored(v); c.Outcome != Passed || c.Detail != "150 have the codes of the vectors" {
			t.Errorf("%s: %+v", g.Name, c)
		}
		for i := range g.Dim {
			v.Float32(4)[i] *= -2
			v.Float32(5)[i] *= -2
		}
		if c := stored(v); c.Outcome != Failed || c.Detail != "2 of 150 differ, the first is row 4" {
			t.Errorf("%s, two vectors changed: %+v", g.Name, c)
		}
	}
}

// TestVerifyTakesAFactorOfRefinement: the recall of coarse codes is what their refinement makes it.
func TestVerifyTakesAFactorOfRefinement(t *testing.T) {
	var goldens struct {
		Files []struct {
			Name       string
			Dim        int
			Rows, File []byte
		}
	}
	goldentest.ReadJSON(t, "../index/testdata/graphs/knowhere.json.gz", &goldens)
	seen := 0
	for _, g := range goldens.Files {
		if !strings.HasPrefix(g.Name, "PQ_") || !strings.HasSuffix(g.Name, "_L2_8_floats_fp32") {
			continue
		}
		seen++
		path := filepath.Join(t.TempDir(), "index")
		if err := os.WriteFile(path, g.File, 0o600); err != nil {
			t.Fatal(err)
		}
		x, err := Open(t.Context(), path, Hint{})
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		v, err := engine.FromFloat32s(g.Dim, unsafe.Slice((*float32)(unsafe.Pointer(&g.Rows[0])), len(g.Rows)/4))
		if err != nil {
			t.Fatal(err)
		}
		recall := func(refine float32, said string) float64 {
			p := verifyPlan()
			p.RefineK = refine
			r, err := x.Verify(t.Context(), v, p)
			if err != nil {
				t.Fatal(err)
			}
			if c := r.Checks[len(r.Checks)-1]; c.Name != "recall" || !strings.Contains(c.Detail, said) {
				t.Errorf("%s: %+v", g.Name, c)
			}
			return r.Recall.Mean
		}
		if few, many := recall(0, " at ef 40, 30 queries"), recall(8, " at ef 40, refine_k 8, 30 queries"); few >= many || many < 0.95 {
			t.Errorf("%s: recall %g, and %g where 8 times k are compared again", g.Name, few, many)
		}
	}
	if seen == 0 {
		t.Error("no such index")
	}
}
