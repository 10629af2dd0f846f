package clusters

import (
	"strings"

	"kitescope/inspect/check"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/webpage"
)

// Conclusion summarizes a report: the most important finding, its consequences, and its fix.
type Conclusion struct {
	Headline string
	Tone     webpage.Tone
	Facts    []webpage.Fact
	Commands []webpage.Command
	// Finding is nil if no finding needs action.
	Finding *check.Finding
}

// Conclude summarizes a report. A report without findings is good only if all checks could run.
func (d *Diagnosis) Conclude() Conclusion {
	c := d.conclude()
	if d.Preflight == nil {
		var felt []string
		for _, l := range ImpactOf(d.Report).Lines() {
			felt = append(felt, l.Text)
		}
		if len(felt) > 0 {
			c.Facts = append([]webpage.Fact{{Name: "Clients", Value: strings.Join(felt, "; ")}}, c.Facts...)
		}
	}
	return c
}

func (d *Diagnosis) conclude() Conclusion {
	tree := check.Tree(d.Report.Findings)
	if len(tree) == 0 || tree[0].Severity == check.Info {
		return d.noProblems()
	}
	f := tree[0].Finding
	c := Conclusion{Headline: heading(f), Tone: webpage.Warn, Finding: f, Commands: Steps(f)}
	if f.Severity == check.Error {
		c.Tone = webpage.Bad
	}
	add := func(name, value string) {
		if value != "" {
			c.Facts = append(c.Facts, webpage.Fact{Name: name, Value: value})
		}
	}
	add("Impact", f.Impact)
	add("Cost", CostText(f))
	for _, line := range d.onsetLines(f) {
		add(render.Title(line.label), line.text)
	}
	add("Consequences", consequences(tree))
	return c
}

// noProblems returns the conclusion of a report without errors and warnings.
func (d *Diagnosis) noProblems() Conclusion {
	counts := tally(d.outcomes())
	unknown, all := counts[check.Skipped.String()]+counts[check.Broken.String()], len(d.Report.Results)
	c := Conclusion{Headline: "No problems found", Tone: webpage.Good}
	if d.unexplained() {
		c.Headline, c.Tone = "Requests fail, hang or are slow; the checks for that did not run", webpage.Warn
		return c
	}
	if n := len(d.Report.Findings); n > 0 {
		c.Headline = "No errors or warnings, " + words.Plural(n, "info finding")
	}
	if unknown == 0 {
		c.Headline += " by " + words.Plural(all, "check")
		return c
	}
	c.Headline, c.Tone = c.Headline+" by "+words.Number(int64(all-unknown))+" of "+words.Plural(all, "check")+
		"; the others could not run", webpage.Neutral
	return c
}

// consequences returns the messages of the findings that follow from the first finding of a tree: at most two, and
// the number of the rest.
func consequences(tree []check.Branch) string {
	const most = 2
	text, n := "", 0
	for _, b := range tree[1:] {
		if b.Depth == 0 {
			break
		}
		if n++; n > most {
			continue
		}
		if text != "" {
			text += "; "
		}
		text += b.Message
	}
	if n > most {
		text += "; and " + words.Number(int64(n-most)) + " more"
	}
	return text
}

// Steps returns the fix of a finding as commands of a page.
func Steps(f *check.Finding) []webpage.Command {
	var list []webpage.Command
	for _, s := range f.Steps() {
		list = append(list, webpage.Command{
			Code: strings.Join(stepCommand(s), "\n"), Language: languageOf(s), Text: sentence(StepText(s)),
		})
	}
	return list
}
