package tui

import (
	"cmp"
	"strings"

	"kitescope/inspect/check"
	"kitescope/internal/table"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/clusters"
	"kitescope/tui/draw"
)

// checksKind returns the kind of the page that lists the result of every check for the current cluster.
func checksKind() PageKind {
	return PageKind{Name: "checks", Doc: "Every check: what it found, or why it could not run.", Open: newChecksPage}
}

func newChecksPage(*Model, []string) (Page, error) {
	type result = *check.Result
	col := func(
		name string, kind table.Kind, priority int, text func(r result) string, compare func(a, b result) int,
	) Column[result] {
		return SortedColumn(name, strings.ToUpper(name), kind, priority, text, compare)
	}
	columns := []Column[result]{
		col("check", table.ID, 0, func(r result) string { return r.Check.ID }, nil),
		col("status", table.ID, 0, func(r result) string { return r.Status.Label() }, nil),
		col("findings", table.Int, 1, func(r result) string {
			return draw.NoneIf(words.Number(len(r.Findings)), len(r.Findings) == 0)
		},
			func(a, b result) int { return cmp.Compare(len(b.Findings), len(a.Findings)) }),
		col("severity", table.ID, 3, func(r result) string { return r.Check.Severity.String() },
			func(a, b result) int { return cmp.Compare(b.Check.Severity, a.Check.Severity) }),
		col("about", table.Text, 0, resultText, nil),
	}
	return &TablePage[result]{
		Name: "checks", CommandLine: "diagnose",
		Rows: func(m *Model) ([]result, string) {
			if m.data.judged.report == nil {
				return nil, "…"
			}
			return m.data.judged.report.Results, ""
		},
		List: List[result]{
			Noun: "check", Columns: func(int) []Column[result] { return columns },
			OriginalOrder: "in the order they run",
			MinNameWidth:  44, // sentences are unreadable if they are cut
			Key:           func(r result) string { return r.Check.ID },
			Look:          func(r result) RowLook { return RowLook{Role: resultRole(r)} },
			Open:          func(m *Model, r result) Cmd { return m.Push(newExplainPage(m, r.Check.ID)) },
		},
	}, nil
}

// resultText returns the reasons why a check could not see everything, or else the title of the check.
func resultText(r *check.Result) string {
	if text := strings.Join(words.NonEmpty(append([]string{r.Reason}, r.Unseen...)), "; "); text != "" {
		return words.Sanitize(words.OneLine(text))
	}
	return r.Check.Title
}

func resultRole(r *check.Result) render.Role {
	switch r.Status {
	case check.Found:
		return clusters.SeverityRole(r.Check.Severity)
	case check.Skipped, check.Broken:
		return render.RoleDim
	default:
		return render.RolePlain
	}
}
