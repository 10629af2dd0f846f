package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"kitescope/cmd/kitescope/cli"
)

// hotProgram is the source of the program that testdata/pgo has profiles of: plain.pb.gz of a build without PGO, pgo.pb.gz
// of one with the pack of the former.
const hotProgram = "testdata/pgo/hot.go.txt"

// hotModule is that program in a module, but for its main: it profiles nothing and imports nothing, as with a profile all that is
// imported is compiled anew.
func hotModule(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	source, err := os.ReadFile(hotProgram)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(source), "\n)\n") // the end of the imports
	functions, _, found := strings.Cut(rest, "func main() {\n")
	if !ok || !found {
		t.Fatalf("%s has no imports, or no main", hotProgram)
	}
	program := "package main\n" + functions + `func main() {
	s := &state{1, 2, 3, 4}
	println(first(s, 1) + second(s, 1) + third(s, 1))
}
`
	for name, text := range map[string]string{"go.mod": "module hot\n\ngo 1.26\n", "main.go": program} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func goBuild(t *testing.T, dir, name string, flags ...string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	cmd := goCommand(t, dir, append(append([]string{"build", "-o", path}, flags...), ".")...)
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build %v: %v\n%s", flags, err, said)
	}
	return path
}

func goCommand(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=") // whatever the tests themselves are built with
	return cmd
}

// goTest builds a test, with nothing in it, of a package that is none of a program.
func goTest(t *testing.T, dir, profile string) string {
	t.Helper()
	lib, path := filepath.Join(dir, "lib"), filepath.Join(dir, "lib.test")
	if err := os.Mkdir(lib, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(lib, "lib_test.go"), []byte("package lib\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if said, err := goCommand(t, lib, "test", "-c", "-o", path, "-pgo="+profile).CombinedOutput(); err != nil {
		t.Fatalf("go test -c: %v\n%s", err, said)
	}
	return path
}

// TestPGOVerifyBinaries builds a program without a profile and with three, and a test, and asks each build.
func TestPGOVerifyBinaries(t *testing.T) {
	dir := hotModule(t)
	plain := goBuild(t, dir, "plain")
	kitescope(t, cli.ExitOK, "pgo", "pack", "--dir", dir, "testdata/pgo/plain.pb.gz")
	packed := kitescope(t, cli.ExitOK, "pgo", "pack", "--dir", dir, "testdata/pgo/plain.pb.gz", "--name-with-hash", "-o", "json")
	var report struct{ Path, Flag string }
	if err := json.Unmarshal([]byte(packed.stdout), &report); err != nil {
		t.Fatal(err)
	}
	pack := filepath.Join(dir, "default.pgo")
	empty := filepath.Join(dir, "empty.pgo")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	found := goBuild(t, dir, "found")
	named := goBuild(t, dir, "named", report.Flag, "-trimpath", "-ldflags=-s -w")
	nothing := goBuild(t, dir, "nothing", "-pgo="+empty)
	for _, test := range []struct {
		name string
		code int
		args []string
		want string
	}{
		{"a test, of which go records no profile", cli.ExitIncomplete, []string{goTest(t, dir, pack)}, "it does not record how it was built"},
		{"without a profile", cli.ExitFindings, []string{plain, "--profile", pack}, "it was built without a profile"},
		{"with a default.pgo", cli.ExitOK, []string{found}, "took effect: 5 of "},
		{"with a hash in the name, stripped", cli.ExitOK, []string{named, "--profile", pack}, "same hash"},
		{"with a hash in the name, and another profile", cli.ExitFindings, []string{named, "--profile", "testdata/pgo/plain.pb.gz"}, "it was built with another profile"},
		{"with a hash in the name, and no profile", cli.ExitIncomplete, []string{named}, "the effect cannot be checked"},
		{"with an empty profile", cli.ExitFindings, []string{nothing}, "the profile is recorded, but it is empty: no effect"},
		{"with an empty profile, held against another", cli.ExitFindings, []string{nothing, "--profile", pack}, "no sign of it: 0 of "},
		{"against the build without", cli.ExitOK, []string{found, "--control", plain}, "took effect"},
		{"a profile of it, too", cli.ExitOK, []string{found, "--running", "testdata/pgo/pgo.pb.gz"}, "in the profile"},
		{"a control that is none", cli.ExitUsage, []string{found, "--control", found}, ""},
		{"no Go program", cli.ExitFailed, []string{"/bin/sh", "--profile", pack}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := kitescope(t, test.code, append([]string{"pgo", "verify"}, test.args...)...)
			if !strings.Contains(e.stdout, test.want) {
				t.Errorf("%s\n%s", e.stdout, e.err)
			}
		})
	}
	// The same path with other contents: what the build names is not what it was built with.
	if err := os.WriteFile(empty, []byte(readFile(t, pack)), 0o600); err != nil {
		t.Fatal(err)
	}
	e := kitescope(t, cli.ExitFindings, "pgo", "verify", nothing)
	if !strings.Contains(e.stdout, "no sign of it: 0 of ") || !strings.Contains(e.stdout, "may have changed since") {
		t.Error(e.stdout)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestPGOVerifyService asks services, which serve a recorded profile.
func TestPGOVerifyService(t *testing.T) {
	pack := filepath.Join(t.TempDir(), "default.pgo")
	kitescope(t, cli.ExitOK, "pgo", "pack", "testdata/pgo/plain.pb.gz", "-O", pack)
	serve := func(file string) string {
		recorded := readFile(t, "testdata/pgo/"+file)
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(recorded)) }))
		t.Cleanup(s.Close)
		return strings.Replace(s.URL, "http://", "http://user:secret@", 1)
	}
	for _, test := range []struct {
		name, file string
		code       int
		args       []string
		want       string
	}{
		{"with PGO", "pgo.pb.gz", cli.ExitOK, []string{"--profile", pack}, "took effect: "},
		{"without", "plain.pb.gz", cli.ExitFindings, []string{"--profile", pack}, "no sign of it: 0 of "},
		{"with PGO, by itself", "pgo.pb.gz", cli.ExitOK, nil, "main.relay is inlined, with calls on "},
		{"without, by itself", "plain.pb.gz", cli.ExitIncomplete, nil, "without the profile it was built with"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := kitescope(t, test.code, append([]string{"pgo", "verify", serve(test.file), "--seconds", "1"}, test.args...)...)
			if !strings.Contains(e.stdout, test.want) || strings.Contains(e.stdout+e.err, "secret") {
				t.Errorf("%s\n%s", e.stdout, e.err)
			}
		})
	}
}

// TestPGOPackIsWhatGoReads: reading and packing changes nothing that the compiler sees.
func TestPGOPackIsWhatGoReads(t *testing.T) {
	preprofile := func(in string) string {
		out := filepath.Join(t.TempDir(), "out")
		if said, err := exec.CommandContext(t.Context(), "go", "tool", "preprofile", "-i", in, "-o", out).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		return readFile(t, out)
	}
	for _, file := range []string{"milvus-cpu-hnsw.pb.gz", "milvus-cpu-flat.pb.gz", "t3/querynode3.cpu.pb.gz"} {
		in, out := "../../testdata/profiles/"+file, filepath.Join(t.TempDir(), "x.pgo")
		kitescope(t, cli.ExitOK, "pgo", "pack", in, "-O", out)
		if got, want := preprofile(out), preprofile(in); got != want || len(want) < 1000 {
			t.Errorf("%s: the compiler sees another profile", file)
		}
	}
}
