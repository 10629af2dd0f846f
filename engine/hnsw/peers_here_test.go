//go:build peers

package hnsw_test

import (
	"flag"
	"os/exec"
	"testing"

	"kitescope/engine/goldentest"
)

var peers = flag.String("peers", "",
	"a Python with hnswlib 0.8.0 and faiss 1.15: compare with what they answer, over more cases")

func TestSearchMatchesLocalPeers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if out, err := exec.Command(*peers, "testdata/peers.py", dir, "full").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	testPeers(t, dir, goldentest.PeerSlack)
}
