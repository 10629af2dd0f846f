package symbol_test

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kitescope/profile"
	"kitescope/profile/read"
	"kitescope/profile/symbol"
)

const recorded = "../../testdata/profiles/perf"

// cppProfile is of a C++ program whose library libdistance.so was stripped.
func cppProfile(t testing.TB) *profile.Profile {
	t.Helper()
	p, err := read.Open(context.Background(), filepath.Join(recorded, "cpp.txt"), read.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestApplyNamesWhatBinutilsName compares with libdistance.tsv, which addr2line wrote of the library
// before it was stripped.
func TestApplyNamesWhatBinutilsName(t *testing.T) {
	before := cppProfile(t)
	p, report, err := symbol.Apply(context.Background(), before, symbol.Options{Dirs: []string{filepath.Join(recorded, "symbols")}, Demangle: symbol.None})
	if err != nil {
		t.Fatal(err)
	}
	truth, err := os.ReadFile(filepath.Join(recorded, "symbols", "libdistance.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[uint64]string{}
	for line := range strings.Lines(string(truth)) {
		words := strings.Split(strings.TrimSpace(line), "\t")
		address, err := strconv.ParseUint(words[0], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		want[address] = words[1] + " " + words[2]
	}
	got := map[uint64]string{}
	for i := range p.Locations {
		at := uint32(i)
		if m := before.MappingOf(at); m == nil || path.Base(m.File) != "libdistance.so" || before.Locations[i].Lines > 0 {
			continue
		}
		lines := p.LinesOf(at)
		if len(lines) == 0 {
			got[p.Locations[i].Address] = "?"
			continue
		}
		f := p.Functions[lines[len(lines)-1].Function]
		got[p.Locations[i].Address] = f.SystemName + " " + path.Base(f.File) + ":" + strconv.FormatInt(lines[0].Line, 10)
	}
	if len(want) < 20 {
		t.Fatalf("the truth has %d addresses only", len(want))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-addr2line +ours):\n%s", diff)
	}
	var named int
	for _, l := range report.Libraries {
		if named += l.Named; l.Named > 0 && (path.Base(l.File) != "libdistance.so" || l.Unnamed > 0) {
			t.Errorf("named: %+v", l)
		}
	}
	if named != len(want) {
		t.Errorf("the report has %d named, want %d", named, len(want))
	}
}

// TestApplyKeepsNames: frames that have a name are never named anew.
func TestApplyKeepsNames(t *testing.T) {
	before := cppProfile(t)
	after, _, err := symbol.Apply(context.Background(), before, symbol.Options{Dirs: []string{filepath.Join(recorded, "symbols")}})
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for i := range before.Locations {
		old, now := before.LinesOf(uint32(i)), after.LinesOf(uint32(i))
		if len(old) == 0 {
			continue
		}
		named++
		if len(old) != len(now) || before.Functions[old[0].Function] != after.Functions[now[0].Function] {
			t.Errorf("location %d was %v, is %v", i, old, now)
		}
	}
	if named < 50 {
		t.Errorf("%d frames have names", named)
	}
	if len(before.Functions) >= len(after.Functions) || before.Mappings[0] == (profile.Mapping{}) {
		t.Error("nothing was named")
	}
	names := map[string]bool{}
	for _, f := range after.Functions {
		names[f.Name] = true
	}
	for _, want := range []string{"distance::(anonymous namespace)::squared", "distance::(anonymous namespace)::blocks"} {
		if !names[want] {
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
	var id string
	for _, m := range p.Mappings {
		if path.Base(m.File) == "libdistance.so" {
			id = m.BuildID
		}
	}
	if len(id) != 40 {
		t.Fatalf("the build id is %q", id)
	}
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
