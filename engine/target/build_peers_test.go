//go:build peers

package target

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/cpu"

	"kitescope/engine/dist"
)

// TestPeerGraphs compiles hnswlib as `pip install` does on other CPUs, has it save graphs, and compares what they are made of.
func TestPeerGraphs(t *testing.T) {
	avx512 := []string{"-march=haswell", "-mtune=skylake-avx512", "-DHALVES"}
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512CD {
		avx512 = []string{"-march=skylake-avx512"}
	}
	headers := filepath.Join(filepath.Dir(*peers), "..", "src", "hnswlib-0.8.0", "hnswlib")
	var b strings.Builder
	for _, build := range []struct {
		profile dist.Profile
		flags   []string
	}{
		{dist.HNSWLibIntelAVX512, avx512},
		{dist.HNSWLibIntelAVX2, []string{"-march=haswell"}},
		{dist.HNSWLibAMDAVX2, []string{"-march=znver3", "-mno-vaes", "-mno-vpclmulqdq", "-mno-pku"}},
		{dist.HNSWLibSSE, nil},
	} {
		folder := t.TempDir()
		program := filepath.Join(folder, "builds")
		args := append([]string{"-std=c++14", "-O3", "-fopenmp", "-I", headers, "../dist/testdata/hnswlib_builds.cc", "-o", program}, build.flags...)
		if out, err := exec.CommandContext(t.Context(), "g++", args...).CombinedOutput(); err != nil {
			t.Fatalf("g++ %s: %v\n%s", strings.Join(build.flags, " "), err, out)
		}
		if out, err := exec.CommandContext(t.Context(), program, build.profile.String(), folder).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", build.profile, err, out)
		}
		for _, dim := range []int{7, 20, 33, 100} {
			for _, metric := range []string{"l2", "ip", "cosine"} {
				data, err := os.ReadFile(filepath.Join(folder, fmt.Sprintf("%s-%s-%d.hnsw", build.profile, metric, dim)))
				if err != nil {
					t.Fatal(err)
				}
				sum := sha256.Sum256(data)
				fmt.Fprintln(&b, build.profile, metric, dim, hex.EncodeToString(sum[:]))
			}
		}
	}
	if golden, err := os.ReadFile("testdata/hnswlib_graphs.txt"); err != nil || string(golden) != b.String() {
		t.Errorf("the builds save what testdata/hnswlib_graphs.txt has not: %v\n%s", err, &b)
	}
}
