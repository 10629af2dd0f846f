//go:build peers

package flat

import (
	"flag"
	"os/exec"
	"path/filepath"
	"testing"

	"kitescope/engine/goldentest"
)

var peers = flag.String("peers", "",
	"a Python with faiss-cpu 1.15.1 and hnswlib 0.8.0 to compare with, beyond the goldens")

func TestMatchesPeers(t *testing.T) {
	out := filepath.Join(t.TempDir(), "goldens.json.gz")
	if b, err := exec.Command(*peers, "testdata/goldens.py", "--full", out).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	checkAll(t, readGoldens(t, out), goldentest.PeerSlack)
}
