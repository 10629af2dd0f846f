package read

import (
	"testing"

	"kitescope/profile"
)

// TestDemangledName checks that names match the default output of `go tool pprof`.
func TestDemangledName(t *testing.T) {
	for system, want := range map[string]string{
		"_ZN5faiss16fvec_L2sqr_batchEPKfS1_m":                           "faiss::fvec_L2sqr_batch",
		"_ZNSt6vectorIiSaIiEE9push_backERKi":                            "std::vector::push_back",
		"_ZN3foo3bar17h05af221e174051e9E":                               "foo::bar",
		"__ZN3foo3barEv":                                                "foo::bar", // macOS
		"std::vector<int, std::allocator<int> >::push_back(int const&)": "std::vector::push_back",
		"a::f<void (*)(int)>(int) const":                                "a::f const",
		"a::b)(c":                                                       "a::b)(c",
		"main.(*T[...]).f":                                              "main.(*T[...]).f",
		"runtime.mallocgc":                                              "runtime.mallocgc",
		"java.util.HashMap.<init>":                                      "java.util.HashMap.<init>",
		"__memcpy_avx_unaligned":                                        "__memcpy_avx_unaligned",
		"":                                                              "",
	} {
		if got := demangledName(system); got != want {
			t.Errorf("%q: %q, want %q", system, got, want)
		}
	}
}

func TestDemangleKeepsOwnNames(t *testing.T) {
	p := &profile.Profile{
		Functions: []profile.Function{
			{Name: "chosen", SystemName: "_ZN3foo3barEv"}, {Name: "", SystemName: "_ZN3foo3barEv"},
		},
	}
	if q := demangled(p); q.Functions[0].Name != "chosen" || q.Functions[1].Name != "foo::bar" ||
		p.Functions[1].Name != "" {
		t.Errorf("%+v of %+v", q.Functions, p.Functions)
	}
}

func FuzzDemangled(f *testing.F) {
	f.Add("_ZNSt6vectorIiSaIiEE9push_backERKi")
	f.Add("a::f<void (*)(int)>(int) const")
	f.Fuzz(func(_ *testing.T, name string) { demangledName(name) })
}
