package builds

import (
	"bytes"
	"io"
	"strconv"

	"kitescope/internal/hints"
	"kitescope/profile/bench"
	"kitescope/profile/trial"
	"kitescope/render"
	"kitescope/render/webpage"
)

// writeTrialPage writes a trial as a page: what it came to, the comparison with its pictures, the control, and how to repeat it.
func writeTrialPage(w io.Writer, r *trial.Report, o *render.Options) error {
	p := &webpage.Page{Window: "PGO trial of " + trialName(r), Headline: TrialSentence(r), Tone: trialTone(r.Verdict()), Under: []string{trialName(r)}}
	p.Facts = []webpage.Fact{{Name: "Build", Value: effectText(r)}}
	for _, c := range r.Cautions {
		p.Facts = append(p.Facts, webpage.Fact{Name: "Caution", Value: c})
	}
	compared := trialComparison(r.Comparison, o)
	blocks := compared.Blocks()
	figures, err := ComparisonFigures(r.Comparison)
	if err != nil {
		return err
	}
	p.Add("What changed", append(blocks, figures...)...)
	if c := r.Comparison.Control; c != nil {
		control := trialComparison(c, o)
		p.Add("The control", append([]webpage.Block{webpage.Prose("The program without PGO against a copy of itself, in pairs between the others: any difference here is noise, not PGO.")}, control.Blocks()...)...)
	}
	p.Add("The programs", trialPrograms(r).HTML())
	p.Add("To repeat it", webpage.Commands([]webpage.Command{{Code: r.Repeat, Language: "shell", Text: "Seed " + strconv.FormatUint(r.Seed, 10) + " orders the runs. Every run is in runs.jsonl: kitescope compare runs.jsonl"}}))
	return render.WritePage(w, p)
}

func trialTone(v bench.Verdict) webpage.Tone {
	switch v {
	case bench.Better:
		return webpage.Good
	case bench.Worse:
		return webpage.Bad
	default: // nothing is shown either way
		return webpage.Neutral
	}
}

// trialPrograms are both programs, side by side.
func trialPrograms(r *trial.Report) *webpage.Table {
	t := &webpage.Table{Heads: []webpage.Cell{{Text: "what"}, {Text: "without PGO"}, {Text: "with PGO"}}}
	for _, x := range []struct {
		name string
		of   func(b *trial.Build) string
	}{
		{"size", func(b *trial.Build) string { return strconv.FormatInt(b.Size, 10) + " B" }},
		{"Go", func(b *trial.Build) string { return b.GoVersion }},
		{"-pgo", func(b *trial.Build) string { return render.OrNone(b.PGO) }},
		{"sha256", func(b *trial.Build) string { return b.SHA256 }},
	} {
		t.Rows = append(t.Rows, []webpage.Cell{{Text: x.name}, {Text: x.of(r.Plain)}, {Text: x.of(r.Packed)}})
	}
	return t
}

// ComparisonFigures are the pictures of a comparison that there is something to draw in.
func ComparisonFigures(c *bench.Comparison) ([]webpage.Block, error) {
	var figures []webpage.Block
	for _, x := range []struct{ kind, name string }{
		{"distributions", "All runs, before and after"}, {"recall", "Queries per second against recall"},
	} {
		var svg bytes.Buffer
		err := PlotComparison(&svg, c, x.kind, "svg")
		if hints.Carried(err) { // there is nothing to draw
			continue
		}
		if err != nil {
			return nil, err
		}
		figures = append(figures, webpage.Figure(x.name, webpage.Inline(svg.String()), ""))
	}
	return figures, nil
}
