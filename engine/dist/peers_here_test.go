//go:build peers

package dist

import (
	"bytes"
	"flag"
	"os/exec"
	"testing"
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
