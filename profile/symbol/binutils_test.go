package symbol

import (
	"bytes"
	"context"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kitescope/profile"
)

const source1 = `
static inline __attribute__((always_inline)) int twice(int x) { return x * 2 + 1; }
static inline __attribute__((always_inline)) int four(int x) {
  return twice(x) +
         twice(x ^ 3);
}
__attribute__((noinline)) int first(int n) {
  int s = 0;
  for (int i = 0; i < n; i++)
    s += four(i) % 7;
  return s;
}
static __attribute__((noinline)) int second(int n) { return first(n) + twice(n); }
int third(int n) { return second(n) * second(n + 1); }
`

// built are files that the tools of this machine made, as people build libraries.
var built = []struct {
	name string
	args []string
}{
	{"library", []string{"-fPIC", "-shared"}},
	{"program at any address", []string{"-fPIE", "-pie"}},
	{"program at one address", []string{"-fno-pie", "-no-pie"}},
	{"prelinked library", []string{"-fPIC", "-shared", "-Wl,-Ttext-segment=0x10000000"}},
	{"library of one segment", []string{"-fPIC", "-shared", "-Wl,-z,noseparate-code"}},
	{"library by gold", []string{"-fPIC", "-shared", "-fuse-ld=gold"}},
	{"library without lines", []string{"-fPIC", "-shared", "-g0"}},
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Skipf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// TestAgainstBinutils names every address of code of files that gcc makes here, mapped as the kernel
// would map them, and compares with addr2line.
func TestAgainstBinutils(t *testing.T) {
	for _, tool := range []string{"gcc", "strip", "objcopy", "addr2line"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	for _, b := range built {
		t.Run(b.name, func(t *testing.T) {
			dir := t.TempDir()
			c, full := filepath.Join(dir, "x.c"), filepath.Join(dir, "full", "libx.so")
			for _, sub := range []string{"full", "both", "debug", "stripped"} {
				if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			text := source1
			if !strings.Contains(strings.Join(b.args, " "), "-shared") {
				text += "int main(int n, char **v) { return third(n); }\n"
			}
			if err := os.WriteFile(c, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			run(t, "gcc", append([]string{"-O2", "-g", "-Wl,--build-id", "-o", full, c}, b.args...)...)
			for _, to := range []string{"both", "debug"} {
				run(t, "objcopy", "--only-keep-debug", full, filepath.Join(dir, to, "x.debug"))
			}
			for _, to := range []string{"both", "stripped"} {
				run(t, "strip", "-o", filepath.Join(dir, to, "libx.so"), full)
			}
			e, err := elf.Open(full)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			m, addresses := mapped(t, e)
			want := addr2line(t, full, addresses)
			dropPadding(t, full, want)
			for _, from := range []string{"full", "both", "debug"} {
				got, problem := names(t, filepath.Join(dir, from), m, addresses)
				if from == "debug" && problem != "" && strings.Contains(problem, "put the library itself beside it") {
					continue // it says so, and names nothing
				}
				compare(t, from, want, got)
			}
			// What is exported is in the dynamic symbols.
			got, _ := names(t, filepath.Join(dir, "stripped"), m, addresses)
			named := 0
			for a, name := range got {
				if name == "" {
					continue
				}
				named++
				if name != want[a] {
					t.Errorf("stripped: %x is %q, addr2line says %q", a, name, want[a])
				}
			}
			if e.Type == elf.ET_DYN && strings.HasPrefix(b.args[0], "-fPIC") && named < 20 {
				t.Errorf("stripped: %d addresses have a name", named)
			}
		})
	}
}

// mapped are the code of a file as the kernel maps it, in two parts, and all its addresses in the file's terms.
func mapped(t *testing.T, e *elf.File) (mappings []profile.Mapping, addresses []uint64) {
	t.Helper()
	bias := uint64(0x7f0000000000)
	if e.Type == elf.ET_EXEC {
		bias = 0
	}
	text := e.Section(".text")
	for a := text.Addr; a < text.Addr+text.Size; a++ {
		addresses = append(addresses, a)
	}
	for _, p := range e.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			skew := p.Vaddr % page
			m := profile.Mapping{
				Start: bias + p.Vaddr - skew, Offset: p.Off - skew, Limit: (bias + p.Vaddr + p.Memsz + page - 1) &^ (page - 1),
				File: "/opt/app/libx.so", BuildID: noteOf(e),
			}
			mappings = append(mappings, m)
		}
	}
	if len(mappings) != 1 || mappings[0].BuildID == "" {
		t.Fatalf("mappings %+v", mappings)
	}
	return mappings, addresses
}

// names returns the names that Apply gives to addresses.
func names(t *testing.T, dir string, mappings []profile.Mapping, addresses []uint64) (map[uint64]string, string) {
	t.Helper()
	b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"})
	m := mappings[0]
	at := b.Mapping(m)
	e, err := elf.Open(first(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	bias := uint64(0x7f0000000000)
	if e.Type == elf.ET_EXEC {
		bias = 0
	}
	for _, a := range addresses {
		if err := b.Sample([]uint32{b.Location(at, a+bias)}, []int64{1}); err != nil {
			t.Fatal(err)
		}
	}
	p, report, err := Apply(context.Background(), b.Profile(), Options{Dirs: []string{dir}, Demangle: None})
	if err != nil {
		t.Fatal(err)
	}
	got := map[uint64]string{}
	for i := range p.Locations {
		for _, l := range p.LinesOf(uint32(i)) {
			got[p.Locations[i].Address-bias] = p.Functions[l.Function].Name
		}
	}
	return got, report.Libraries[0].Problem
}

func first(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(found) == 0 {
		t.Fatal(dir, err)
	}
	return found[0]
}

// addr2line returns the function that each address is in: of inlined calls the outermost.
func addr2line(t *testing.T, file string, addresses []uint64) map[uint64]string {
	t.Helper()
	var in bytes.Buffer
	for _, a := range addresses {
		fmt.Fprintf(&in, "%x\n", a)
	}
	cmd := exec.Command("addr2line", "-a", "-f", "-i", "-e", file)
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	want := map[uint64]string{}
	var at uint64
	odd := false
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "0x"):
			if _, err := fmt.Sscanf(line, "0x%x", &at); err != nil {
				t.Fatal(err)
			}
			odd = true
		case odd: // a function, followed by its place
			want[at], odd = line, false
		default:
			odd = true
		}
	}
	return want
}

// dropPadding takes out addresses between functions, for which addr2line returns the function before, and functions without a size.
func dropPadding(t *testing.T, file string, want map[uint64]string) {
	t.Helper()
	inside := map[uint64]bool{}
	for line := range strings.Lines(run(t, "nm", "-S", file)) {
		var from, size uint64
		if n, _ := fmt.Sscanf(line, "%x %x", &from, &size); n == 2 {
			for a := from; a < from+size; a++ {
				inside[a] = true
			}
		}
	}
	for a := range want {
		if !inside[a] {
			delete(want, a)
		}
	}
}

func compare(t *testing.T, from string, want, got map[uint64]string) {
	t.Helper()
	same, wrong := 0, 0
	for a, w := range want {
		if got[a] == w {
			same++
		} else if wrong++; wrong < 6 {
			t.Errorf("%s: %x is %q, addr2line says %q", from, a, got[a], w)
		}
	}
	if wrong > 0 || same < 80 {
		t.Errorf("%s: %d addresses differ, %d are the same", from, wrong, same)
	}
}
