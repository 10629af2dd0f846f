package symbol_test

import (
	"testing"

	"kitescope/profile"
	"kitescope/profile/symbol"
)

// TestDemangled: what `go tool pprof` shows with -symbolize=demangle= default, templates and full.
func TestDemangled(t *testing.T) {
	for system, want := range map[string][4]string{
		"_ZN5faiss16fvec_L2sqr_batchEPKfS1_m": {
			"faiss::fvec_L2sqr_batch", "faiss::fvec_L2sqr_batch", "faiss::fvec_L2sqr_batch(float const*, float const*, unsigned long)",
			"_ZN5faiss16fvec_L2sqr_batchEPKfS1_m",
		},
		"_ZNSt6vectorIiSaIiEE9push_backERKi": {
			"std::vector::push_back", "std::vector<int, std::allocator<int> >::push_back", "std::vector<int, std::allocator<int> >::push_back(int const&)",
			"_ZNSt6vectorIiSaIiEE9push_backERKi",
		},
		"_ZN3foo3bar17h05af221e174051e9E": {"foo::bar", "foo::bar", "foo::bar", "_ZN3foo3bar17h05af221e174051e9E"},
		"__ZN3foo3barEv":                  {"foo::bar", "foo::bar", "foo::bar()", "__ZN3foo3barEv"}, // macOS
		// Demangled by who wrote them.
		"std::vector<int, std::allocator<int> >::push_back(int const&)": {
			"std::vector::push_back", "std::vector<int, std::allocator<int> >::push_back", "std::vector<int, std::allocator<int> >::push_back(int const&)",
			"std::vector<int, std::allocator<int> >::push_back(int const&)",
		},
		"a::f<void (*)(int)>(int) const": {"a::f const", "a::f<void > const", "a::f<void (*)(int)>(int) const", "a::f<void (*)(int)>(int) const"},
		"a::b)(c":                        {"a::b)(c", "a::b)(c", "a::b)(c", "a::b)(c"},
		// Not C++.
		"main.(*T[...]).f":         {"main.(*T[...]).f", "main.(*T[...]).f", "main.(*T[...]).f", "main.(*T[...]).f"},
		"runtime.mallocgc":         {"runtime.mallocgc", "runtime.mallocgc", "runtime.mallocgc", "runtime.mallocgc"},
		"java.util.HashMap.<init>": {"java.util.HashMap.<init>", "java.util.HashMap.<init>", "java.util.HashMap.<init>", "java.util.HashMap.<init>"},
		"__memcpy_avx_unaligned":   {"__memcpy_avx_unaligned", "__memcpy_avx_unaligned", "__memcpy_avx_unaligned", "__memcpy_avx_unaligned"},
		"":                         {"", "", "", ""},
	} {
		for mode, want := range want {
			if got := symbol.Demangled(system, symbol.Mode(mode)); got != want {
				t.Errorf("%s of %q: %q, want %q", symbol.Mode(mode), system, got, want)
			}
		}
	}
}

func TestDemangleKeepsWhatWasChosen(t *testing.T) {
	functions := []profile.Function{
		{Name: "chosen", SystemName: "_ZN3foo3barEv"},
		{Name: "_ZN3foo3barEv", SystemName: "_ZN3foo3barEv", StartLine: 3},
		{Name: "", SystemName: "_ZN3foo3barEv"},
		{Name: "plain"},
	}
	p := &profile.Profile{Functions: append([]profile.Function(nil), functions...)}
	q := symbol.Demangle(p, symbol.Simple)
	for i, want := range []string{"chosen", "foo::bar", "foo::bar", "plain"} {
		if got := q.Functions[i]; got.Name != want || got.SystemName != functions[i].SystemName || got.StartLine != functions[i].StartLine {
			t.Errorf("function %d: %+v, want %s", i, got, want)
		}
		if p.Functions[i] != functions[i] {
			t.Errorf("the profile itself was changed: %+v", p.Functions[i])
		}
	}
	if symbol.Demangle(p, symbol.None) != p || symbol.Demangle(q, symbol.Simple) != q {
		t.Error("a profile without anything to do was copied")
	}
}

func TestModeOf(t *testing.T) {
	for _, m := range []symbol.Mode{symbol.Simple, symbol.Templates, symbol.Full, symbol.None} {
		if got, err := symbol.ModeOf(m.String()); err != nil || got != m {
			t.Errorf("%s: %s, %v", m, got, err)
		}
	}
	if m, err := symbol.ModeOf("default"); err != nil || m != symbol.Simple {
		t.Errorf("default: %s, %v", m, err)
	}
	if _, err := symbol.ModeOf("all"); err == nil {
		t.Error("all: no error")
	}
}

func FuzzDemangled(f *testing.F) {
	f.Add("_ZNSt6vectorIiSaIiEE9push_backERKi")
	f.Add("_RNvC6_123foo3bar")
	f.Add("a::f<void (*)(int)>(int) const")
	f.Fuzz(func(t *testing.T, name string) {
		for mode := symbol.Simple; mode <= symbol.None; mode++ {
			symbol.Demangled(name, mode)
		}
	})
}
