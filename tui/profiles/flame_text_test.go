package profiles

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestShortName(t *testing.T) {
	for name, want := range map[string]string{
		"runtime.mallocgc":     "runtime.mallocgc",
		"[libknowhere.so]":     "[libknowhere.so]",
		"[/usr/lib/libc.so.6]": "[/usr/lib/libc.so.6]",
		"github.com/milvus-io/milvus/pkg/util/conc.(*Pool[...]).Submit.func1": "conc.(*Pool[...]).Submit.func1",
		"a/b.F[go.shape.struct { x/y.Z }]":                                    "b.F[go.shape.struct { x/y.Z }]",
		"faiss::IndexHNSW::search(long, float const*, long, float*, long*)":   "faiss::IndexHNSW::search",
		"(anonymous namespace)::run(int)":                                     "(anonymous namespace)::run",
		"knowhere::Lambda::operator()(int) const":                             "knowhere::Lambda::operator()",
		"/go/pkg/mod/x/y.go":                                                  "/go/pkg/mod/x/y.go",
		"java/util/HashMap.get":                                               "HashMap.get",
		"":                                                                    "",
		"/":                                                                   "/",
		"a/":                                                                  "a/",
	} {
		if got := shortName(name); got != want {
			t.Errorf("shortName(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestAmounts(t *testing.T) {
	for _, x := range []struct {
		v    int64
		unit string
		want string
	}{
		{0, "nanoseconds", "0 s"},
		{1, "nanoseconds", "1.00 ns"},
		{9_994, "nanoseconds", "9.99 µs"},
		{4_180_000_000, "nanoseconds", "4.18 s"},
		{-95_000_000, "nanoseconds", "-95.0 ms"},
		{90_000, "milliseconds", "1.50 min"},
		{math.MinInt64, "nanoseconds", "-106752 d"},
		{28 << 20, "bytes", "28.0 MiB"},
		{1_234_567, "count", "1,234,567"},
		{math.MinInt64, "count", "-9,223,372,036,854,775,808"},
		{7, "widgets\x1b", `7 widgets\x1b`},
	} {
		if got := amount(x.v, x.unit); got != x.want {
			t.Errorf("amount(%d, %q) = %q, want %q", x.v, x.unit, got, x.want)
		}
	}
	got := []string{
		relativeText(0, 0), relativeText(0, 5), relativeText(5, 0), relativeText(100, 148), relativeText(1000, 1001),
		relativeText(1, 900), relativeText(10000, 10001), points(0.01), points(-3), pValueText(math.NaN()),
		pValueText(0.0001), pValueText(0.25),
	}
	want := []string{
		"-", "new", "gone", "+48%", "+0.1%", "x900", "±0%", "±0", "-3.0", "p unknown", "p < 0.001", "p 0.250",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
