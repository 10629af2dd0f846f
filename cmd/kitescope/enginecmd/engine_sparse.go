package enginecmd

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/engine/sparse"
)

// sparseFlags are the flags of a search in sparse vectors.
type sparseFlags struct{ bm25 string }

func (f *sparseFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.bm25, "bm25", "", "sparse vectors: k1,b,avgdl of BM25; default 1.2,0.75,100 (Milvus's)")
}

func (f *sparseFlags) options() (*sparse.BM25, error) {
	if f.bm25 == "" {
		return nil, nil
	}
	p := sparse.DefaultBM25()
	parts := strings.Split(f.bm25, ",")
	to := []*float32{&p.K1, &p.B, &p.AvgDL}
	ok := len(parts) == len(to)
	for i := 0; ok && i < len(to); i++ {
		x, err := strconv.ParseFloat(strings.TrimSpace(parts[i]), 32)
		*to[i], ok = float32(x), err == nil
	}
	if !ok {
		return nil, cli.Usagef("--bm25 must be three numbers, k1,b,avgdl, not %q", f.bm25)
	}
	return &p, nil
}
