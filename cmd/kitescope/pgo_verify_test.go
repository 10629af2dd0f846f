package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"kitescope/cmd/kitescope/cli"
	"kitescope/profile/profiletest"
)

// writeBinaries writes the binaries that testdata/script/pgo-verify.txtar uses into dir.
func writeBinaries(t *testing.T, dir string) {
	t.Helper()
	const recorded = "-compiler=gc"
	for name, settings := range map[string][]string{
		"plain": {recorded}, "named": {recorded, "-pgo=/src/default.pgo"},
		"hashed": {recorded, "-pgo=/src/default-0123456789abcdef.pgo"}, "other": nil,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), profiletest.Binary(t, "example.com/service", settings...),
			0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestGoReadsPGOPack checks that the compiler sees the same profile before and after packing.
func TestGoReadsPGOPack(t *testing.T) {
	preprofile := func(in string) string {
		out := filepath.Join(t.TempDir(), "out")
		if said, err := exec.CommandContext(t.Context(), "go", "tool", "preprofile", "-i", in, "-o",
			out).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, file := range []string{"milvus-cpu-hnsw.pb.gz", "t3/querynode3.cpu.pb.gz"} {
		in, out := "../../testdata/profiles/"+file, filepath.Join(t.TempDir(), "x.pgo")
		kitescope(t, cli.ExitOK, "pgo", "pack", in, "-O", out)
		if got, want := preprofile(out), preprofile(in); got != want || len(want) < 1000 {
			t.Errorf("%s: the compiler sees another profile", file)
		}
	}
}
