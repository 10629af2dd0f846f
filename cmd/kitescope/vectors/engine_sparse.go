package vectors

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"kitescope/cmd/kitescope/cli"
	"kitescope/engine"
	"kitescope/engine/sparse"
)

// sparseFlags are what a search of sparse vectors may ask for.
type sparseFlags struct {
	drop, ratio     float64
	refine          int
	algorithm, bm25 string
}

func (f *sparseFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.Float64Var(&f.drop, "drop-ratio", 0, "sparse vectors: share of the query's values to leave out, the smallest (drop_ratio_search)")
	fl.IntVar(&f.refine, "refine-factor", 0, "sparse vectors: with --drop-ratio, compare so many times k again with the whole query; default: the library's")
	fl.Float64Var(&f.ratio, "max-score-ratio", 0, "sparse vectors: stretch the bounds by which rows are skipped (dim_max_score_ratio), 0.5 to 1.3; default 1.05")
	fl.StringVar(&f.algorithm, "algorithm", "", "sparse vectors: "+strings.Join(sparse.Algorithms(), ", ")+"; default: the library's")
	fl.StringVar(&f.bm25, "bm25", "", "sparse vectors: k1,b,avgdl of BM25; default 1.2,0.75,100 (Milvus's)")
	_ = cmd.RegisterFlagCompletionFunc("algorithm", cli.Fixed(sparse.Algorithms()...))
}

func (f *sparseFlags) params() (engine.SparseParams, error) {
	p := engine.SparseParams{DropRatio: float32(f.drop), MaxScoreRatio: float32(f.ratio), RefineFactor: f.refine}
	switch {
	case !(f.drop >= 0 && f.drop < 1):
		return p, cli.Usagef("--drop-ratio must be 0 to less than 1, not %g", f.drop)
	case f.ratio != 0 && !(f.ratio >= 0.5 && f.ratio <= 1.3):
		return p, cli.Usagef("--max-score-ratio must be 0.5 to 1.3, not %g", f.ratio)
	case f.refine < 0 || f.refine > engine.MaxRefineFactor:
		return p, cli.Usagef("--refine-factor must be 1 to %d, not %d", engine.MaxRefineFactor, f.refine)
	}
	return p, nil
}

func (f *sparseFlags) options() (*sparse.Algorithm, *sparse.BM25, error) {
	var algorithm *sparse.Algorithm
	if f.algorithm != "" {
		a, ok := sparse.ParseAlgorithm(strings.ToUpper(f.algorithm))
		if !ok {
			return nil, nil, cli.Usagef("--algorithm must be %s, not %q", strings.Join(sparse.Algorithms(), ", "), f.algorithm)
		}
		algorithm = &a
	}
	if f.bm25 == "" {
		return algorithm, nil, nil
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
		return nil, nil, cli.Usagef("--bm25 must be three numbers, k1,b,avgdl, not %q", f.bm25)
	}
	return algorithm, &p, nil
}
