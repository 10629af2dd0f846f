package clusters

import (
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"kitescope/inspect/balance"
	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/inspect/view"
	"kitescope/internal/words"
	"kitescope/render"
	"kitescope/render/webpage"
)

// writeHTML writes a page that does not load any other files.
func writeHTML(w io.Writer, d *Diagnosis) error {
	where, _ := d.Headline()
	c := d.Conclude()
	p := &webpage.Page{
		Window: d.title() + " of " + where, Headline: c.Headline, Tone: c.Tone, Under: d.SubheadLines(),
		Facts: c.Facts, Commands: c.Commands, FixFirst: true, Version: d.Version,
	}
	if d.Since != nil {
		p.Under = append(p.Under, d.sinceText())
	}
	d.AddFindings(p)
	if s := d.Report.Balance; s != nil {
		b := &Balance{
			Env:    view.NewEnv(d.Report.Cluster, d.Report.Now),
			Report: &balance.Report{Survey: s, Options: balance.Options{Goal: balance.DefaultGoal}},
		}
		p.Add("Balance", b.overview()...)
	}
	d.AddCluster(p)
	d.AddChecks(p)
	return render.WritePage(w, p)
}

// SubheadLines returns the lines below the headline of a page: the cluster, its state, the results of the checks, and
// the time.
func (d *Diagnosis) SubheadLines() []string {
	where, state := d.Headline()
	return render.NonBlank(where, strings.ReplaceAll(state, "  ", " · "), d.Counts(),
		"Generated at "+d.Report.Now.UTC().Format("2006-01-02 15:04:05 UTC"))
}

// heading returns the message of a finding with a capital letter.
func heading(f *check.Finding) string { return words.Sentence(f.Message, f.Object.Name) }

// AddFindings adds the findings to a page, each followed by its consequences, and then the findings that are gone
// since an older state.
func (d *Diagnosis) AddFindings(p *webpage.Page) {
	var list []webpage.Block
	for _, b := range check.Tree(d.Report.Findings) {
		list = append(list, d.article(&b))
	}
	p.Add("Findings", list...)
	var gone []string
	for _, c := range d.gone() {
		text := c.Before.Message + " (" + c.Before.Check + ")"
		if c.Why != "" {
			text += ": cannot be checked now, " + c.Why
		}
		gone = append(gone, text)
	}
	p.Add("No longer found", webpage.List(gone))
}

// AddCluster adds the figures that identify a cluster: the numbers of objects, rows and sessions, and the size.
func (d *Diagnosis) AddCluster(p *webpage.Page) {
	p.Add("Cluster", webpage.Facts(clusterFacts(d.Report.Cluster)))
}

// AddChecks adds the results of the checks. Checks that could not see everything are visible; checks that found
// nothing are folded.
func (d *Diagnosis) AddChecks(p *webpage.Page) {
	var unseen, ok, accepted []string
	for _, u := range d.Report.NotRun() {
		unseen = append(unseen, u.Status.Label()+": "+u.Reason+": "+strings.Join(check.IDs(u.Checks), ", "))
	}
	for _, o := range d.outcomes() {
		switch {
		case o.Status == check.OK:
			ok = append(ok, o.Check.ID+": "+o.Check.Title)
		case o.Status == check.Found && len(o.Unseen) > 0:
			unseen = append(unseen, "partial data, "+strings.Join(o.Unseen, "; ")+": "+o.Check.ID)
		}
	}
	for _, s := range d.Stale {
		unseen = append(unseen, "baseline: "+s.Check+" "+s.Object+": "+s.Reason)
	}
	for _, f := range d.Report.Accepted {
		accepted = append(accepted, "accepted: "+f.Message+" ("+f.Check+")")
	}
	blocks := []webpage.Block{webpage.List(unseen), webpage.List(accepted)}
	if len(ok) > 0 {
		blocks = append(blocks, webpage.Fold(words.Plural(len(ok), "check")+" found nothing", webpage.List(ok)))
	}
	p.Add("Checks", blocks...)
}

// article returns a finding as a block of a page.
func (d *Diagnosis) article(b *check.Branch) webpage.Block {
	a := webpage.Article{
		Class: "finding " + b.Severity.String() + " depth" + strconv.Itoa(min(b.Depth, 4)),
		Mark:  SeverityGlyph(b.Severity, false) + " " + b.Severity.String(),
		Title: heading(b.Finding), Code: b.Check, CodeTitle: titleOf(d.Report, b.Check),
		About: []string{ObjectText(b.Object)},
	}
	if change := d.changeText(b.Finding); change != "" {
		a.Mark += " [" + change + "]"
	}
	if cost := CostText(b.Finding); cost != "" {
		a.About = append(a.About, "cost "+cost)
	}
	var began []webpage.Fact
	for _, line := range d.onsetLines(b.Finding) {
		began = append(began, webpage.Fact{Name: render.Title(line.label), Value: line.text})
	}
	if len(began) > 0 {
		a.Blocks = append(a.Blocks, webpage.Facts(began))
	}
	if b.Impact != "" {
		a.Blocks = append(a.Blocks, webpage.Lines(webpage.Line{Named: true, Name: "Impact", Text: b.Impact}))
	}
	if steps := Steps(b.Finding); len(steps) > 0 {
		a.Blocks = append(a.Blocks, webpage.Lines(webpage.Line{Named: true, Name: "Fix"}), webpage.Commands(steps))
	}
	if len(b.Evidence) > 0 {
		evidence := webpage.Table{
			Name: "Evidence", Heads: []webpage.Cell{{Text: "Evidence"}, {Text: "Value"}, {Text: "Source"}},
		}
		for _, e := range b.Evidence {
			evidence.Rows = append(evidence.Rows, []webpage.Cell{
				{Text: e.Name}, {Text: e.Value}, {Text: e.Source, Class: "dim"},
			})
		}
		a.Blocks = append(a.Blocks, evidence.HTML())
	}
	if len(b.Objects) > 0 {
		var objects []string
		for _, r := range b.Objects {
			objects = append(objects, ObjectText(r))
		}
		a.Blocks = append(a.Blocks, webpage.Fold(words.Plural(len(objects), "object"), webpage.List(objects)))
	}
	return a.HTML()
}

// clusterFacts returns the figures that identify a cluster.
func clusterFacts(c *model.Cluster) []webpage.Fact {
	var facts []webpage.Fact
	add := func(name, value string, parts model.Part) {
		if !c.Loaded.Has(parts) {
			value = words.UnknownMark
		}
		facts = append(facts, webpage.Fact{Name: name, Value: value})
	}
	count := func(n int) string { return words.Number(int64(n)) }
	totals := c.Totals()
	add("databases", count(max(1, len(c.Databases))), model.PartObjects)
	add("collections", count(len(c.Collections)), model.PartObjects)
	add("loaded", count(len(c.LoadStates)), model.PartServing)
	add("segments", count(totals.Segments), model.PartSegments)
	add("rows", words.Number(totals.Rows), model.PartSegments)
	add("size", words.Bytes(totals.Bytes), model.PartSegments|model.PartLogs)
	roles := make(map[string]int)
	for _, s := range c.Sessions {
		roles[s.Role]++
	}
	names := slices.Sorted(maps.Keys(roles))
	for i, role := range names {
		names[i] = count(roles[role]) + " " + role
	}
	add("sessions", render.OrNone(strings.Join(names, ", ")), model.PartSessions)
	return facts
}
