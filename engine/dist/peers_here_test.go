//go:build peers

package dist

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/cpu"
)

var (
	peers    = flag.String("peers", "", "Python with hnswlib and faiss, to run testdata/float32_peers.py anew")
	knowhere = flag.String("knowhere", "", "libknowhere.so for -peers, to compare with that as well")
)

// TestFloat32AgreesWithPeersRunHere makes the golden file anew, without -knowhere but for its lines.
func TestFloat32AgreesWithPeersRunHere(t *testing.T) {
	args, lines := []string{"testdata/float32_peers.py"}, 1566+32
	if *knowhere != "" {
		args, lines = append(args, *knowhere), 3393+32
	}
	var problem bytes.Buffer
	cmd := exec.Command(*peers, args...)
	cmd.Stderr = &problem
	golden, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &problem)
	}
	checkPeers(t, golden, lines)
}

// TestFloat32AgreesWithPeerBuildsRunHere compiles hnswlib as `pip install` does on other CPUs, and compares what it computes.
func TestFloat32AgreesWithPeerBuildsRunHere(t *testing.T) {
	avx512 := []string{"-march=haswell", "-mtune=skylake-avx512", "-DHALVES"}
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512CD {
		avx512 = []string{"-march=skylake-avx512"}
	}
	headers := filepath.Join(filepath.Dir(*peers), "..", "src", "hnswlib-0.8.0", "hnswlib")
	dir := t.TempDir()
	var golden []byte
	for _, b := range []struct {
		profile Profile
		flags   []string
	}{
		{HNSWLibIntelAVX512, avx512},
		{HNSWLibIntelAVX2, []string{"-march=haswell"}},
		{HNSWLibAMDAVX2, []string{"-march=znver3", "-mno-vaes", "-mno-vpclmulqdq", "-mno-pku"}},
		{HNSWLibSSE, nil},
	} {
		built := filepath.Join(dir, b.profile.String())
		args := append([]string{"-std=c++14", "-O3", "-fopenmp", "-I", headers, "testdata/hnswlib_builds.cc", "-o", built}, b.flags...)
		if out, err := exec.Command("g++", args...).CombinedOutput(); err != nil {
			t.Fatalf("g++ %s: %v\n%s", strings.Join(b.flags, " "), err, out)
		}
		lines, err := exec.Command(built, b.profile.String()).Output()
		if err != nil {
			t.Fatalf("%s: %v", b.profile, err)
		}
		golden = append(golden, lines...)
	}
	checkPeers(t, golden, 4*138*3)
	if kept, err := os.ReadFile("testdata/hnswlib_builds.txt"); err != nil || !bytes.Equal(kept, golden) {
		t.Errorf("the builds compute what testdata/hnswlib_builds.txt has not: %v", err)
	}
}
