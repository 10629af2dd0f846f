package symbol_test

import (
	"context"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/profile"
	"kitescope/profile/symbol"
)

const recorded = "../../testdata/profiles/perf"

// truth returns the functions that addr2line found at addresses of libdistance.so before it was stripped.
func truth(t testing.TB) map[uint64]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(recorded, "symbols", "libdistance.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[uint64]string{}
	for line := range strings.Lines(string(text)) {
		words := strings.Split(strings.TrimSpace(line), "\t")
		address, err := strconv.ParseUint(words[0], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		want[address] = words[1]
	}
	if len(want) < 20 {
		t.Fatalf("the truth has %d addresses only", len(want))
	}
	return want
}

// distanceID is the build id of libdistance.so.debug.
const distanceID = "d30ae340040b56a55941a30416108be6f1675d03"

// cppProfile has unnamed frames of the stripped libdistance.so, mapped where the kernel maps it, and one named frame in it.
func cppProfile(t testing.TB) *profile.Profile {
	t.Helper()
	const base = 0x7f0000000000
	p := &profile.Profile{
		Mappings: []profile.Mapping{
			{Start: base + 0x1000, Limit: base + 0x2000, Offset: 0x1000, File: "/opt/libdistance.so", BuildID: distanceID},
			{Start: 0x400000, Limit: 0x500000, File: "/bin/other"},
		},
		Functions: []profile.Function{{Name: "kept", SystemName: "kept"}},
		Lines:     []profile.Line{{Function: 0, Line: 7}},
	}
	for _, address := range slices.Sorted(maps.Keys(truth(t))) {
		p.Locations = append(p.Locations, profile.Location{Mapping: 0, Address: base + address})
		p.Locations = append(p.Locations, profile.Location{Mapping: 0, Address: base + address, Lines: 1})
	}
	p.Locations = append(p.Locations, profile.Location{Mapping: 1, Address: 0x400123})
	return p
}

// TestApplyNamesWhatBinutilsName compares with what addr2line said; frames that have a name keep it.
func TestApplyNamesWhatBinutilsName(t *testing.T) {
	before, want := cppProfile(t), truth(t)
	p, report, err := symbol.Apply(context.Background(), before, symbol.Options{Dirs: []string{filepath.Join(recorded, "symbols")}, Demangle: symbol.None})
	if err != nil {
		t.Fatal(err)
	}
	got := map[uint64]string{}
	for i := range p.Locations {
		at := uint32(i)
		lines := p.LinesOf(at)
		switch {
		case before.Locations[i].Lines > 0:
			if f := p.Functions[lines[0].Function]; f.Name != "kept" || lines[0].Line != 7 {
				t.Errorf("a frame with a name became %+v", f)
			}
		case before.Locations[i].Mapping == 1:
			if len(lines) > 0 {
				t.Error("a frame of a file that is not there has a name")
			}
		case len(lines) == 1:
			got[p.Locations[i].Address&0xffff] = p.Functions[lines[0].Function].SystemName
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-addr2line +ours):\n%s", diff)
	}
	if named, unnamed := report.Named(); named != len(want) || unnamed != 1 || len(before.Functions) != 1 {
		t.Errorf("the report: %+v", report)
	}
	p, _, err = symbol.Apply(context.Background(), before, symbol.Options{Dirs: []string{filepath.Join(recorded, "symbols")}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"distance::(anonymous namespace)::squared", "distance::(anonymous namespace)::blocks"} {
		if !slices.ContainsFunc(p.Functions, func(f profile.Function) bool { return f.Name == want }) {
			t.Errorf("%s is not there", want)
		}
	}
}

// TestApplyRefuses: a library of the same name and another build id is no source of names.
func TestApplyRefuses(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(recorded, "symbols", "libdistance.so.debug"))
	if err != nil {
		t.Fatal(err)
	}
	p := cppProfile(t)
	id := p.Mappings[0].BuildID
	write := func(name string, data []byte) string {
		dir := t.TempDir()
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	raw := make([]byte, 20)
	for i := range raw {
		n, _ := strconv.ParseUint(id[2*i:2*i+2], 16, 8)
		raw[i] = byte(n)
	}
	other := []byte(strings.Replace(string(data), string(raw), strings.Repeat("\xab", 20), 1))
	for name, c := range map[string]struct {
		dir     string
		named   bool
		problem string
	}{
		"another build id": {write("libdistance.so", other), false, "libdistance.so is refused: its build id is " + strings.Repeat("ab", 20) + ", the profile's " + id},
		"another name":     {write(".build-id/"+id[:2]+"/"+id[2:]+".debug", data), true, ""},
		"nothing":          {t.TempDir(), false, "no file with the build id " + id},
		"damaged":          {write("libdistance.so", append([]byte(nil), data[:len(data)/2]...)), false, ""},
		"text":             {write("libdistance.so", []byte("\x7fELF but not really")), false, "no file with the build id " + id},
	} {
		_, report, err := symbol.Apply(context.Background(), p, symbol.Options{Dirs: []string{c.dir}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		found := false
		for _, l := range report.Libraries {
			if path.Base(l.File) == "libdistance.so" {
				found = true
				if (l.Named > 0) != c.named || !strings.Contains(l.Problem, c.problem) || c.named != (l.Problem == "") {
					t.Errorf("%s: %+v", name, l)
				}
			}
		}
		if !found {
			t.Errorf("%s: the report does not mention the library", name)
		}
	}
	if _, _, err := symbol.Apply(context.Background(), p, symbol.Options{Dirs: []string{filepath.Join(t.TempDir(), "none")}}); err == nil {
		t.Error("a folder that is not there was accepted")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := symbol.Apply(ctx, p, symbol.Options{Dirs: []string{t.TempDir()}}); err == nil {
		t.Error("it went on after it was cancelled")
	}
}
