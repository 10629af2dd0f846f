package whatif

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseChange(t *testing.T) {
	for text, want := range map[string]Change{
		"index":                   {Index: true},
		"index, balance":          {Index: true, Balanced: true},
		"index,nodes=+2,balance":  {Index: true, Nodes: 2, Balanced: true},
		"ef=32":                   {EF: 32},
		"type=hnsw,m=32":          {Type: "HNSW", M: 32},
		"type=IVF_FLAT":           {Type: "IVF_FLAT"},
		"type=bin_ivf_flat":       {Type: "BIN_IVF_FLAT"},
		"type=flat":               {Type: "FLAT"},
		"efconstruction=360,M=32": {M: 32, EFConstruction: 360},
		"segment-rows=500000":     {SegmentRows: 500_000},
		"segment-rows=500k":       {SegmentRows: 500_000},
		"segment-rows=1.5M":       {SegmentRows: 1_500_000},
		"scale=10,cores=16":       {Scale: 10, Cores: 16},
		"replicas=2":              {Replicas: 2},
	} {
		want.Name = text
		got, err := ParseChange(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: %s", text, d)
		}
	}
}

func TestParseChangeRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "an empty change",
		",index":               "a word is missing",
		"balnce":               "did you mean balance?",
		"indx":                 "did you mean index?",
		"node=+2":              "did you mean nodes?",
		"segment_rows=5":       "did you mean segment-rows?",
		"xyzzy=4":              "available: index, type, m",
		"nodes=2":              "with a plus: nodes=+2",
		"nodes=+0":             "expected 1 to 10000",
		"nodes":                "nodes needs a value: nodes=+N",
		"index=yes":            "index takes no value",
		"index=hnsw":           "index takes no value; did you mean type=HNSW,index",
		"ef=a":                 "expected a whole number",
		"ef=32,ef=64":          "ef given twice",
		"ef=0":                 "1 to 32768",
		"type=DISKANN":         "expected one of HNSW, FLAT, IVF_FLAT, BIN_IVF_FLAT",
		"segment-rows=0":       "expected a number of rows",
		"segment-rows=1.0001k": "expected a number of rows",
		"segment-rows=9e99":    "0 to 1000000000000",
		"scale=NaN":            "expected a number",
		"scale=-3":             "expected 0.000001 to 1000000",
		"cpu-ratio=120":        "cpu-ratio was removed: the model gives nodes cores",
		"grouping=on":          "grouping was removed",
		"type=FLAT,m=8":        "apply to HNSW, not to FLAT",
		"cores=Inf":            "0.1 to 4096",
	} {
		if _, err := ParseChange(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzParseChange(f *testing.F) {
	for _, seed := range []string{
		"index,balance", "nodes=+2,ef=32", "segment-rows=1.5M,scale=1e3", strings.Repeat("x", 300), "type=\x00",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseChange(text)
		if err != nil {
			return
		}
		if again, err := ParseChange(c.Name); err != nil || !cmp.Equal(c, again) {
			t.Errorf("%q: %+v, then %+v, %v", text, c, again, err)
		}
	})
}

func TestWords(t *testing.T) {
	names, docs := Words()
	if len(names) != len(docs) {
		t.Fatal(len(names), len(docs))
	}
	for i, name := range names {
		word, value, _ := strings.Cut(name, "=")
		value = map[string]string{
			"N": "4", "+N": "+4", "X": "4", "PERCENT": "40", "HNSW|FLAT|IVF_FLAT|BIN_IVF_FLAT": "FLAT", "on|off": "on",
		}[value]
		if value != "" {
			word += "=" + value
		}
		c, err := ParseChange(word)
		c.Name = ""
		if err != nil || cmp.Equal(c, Change{}) || docs[i] == "" {
			t.Errorf("%s: %+v, %v, %q", word, c, err, docs[i])
		}
	}
}
