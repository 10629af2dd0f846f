package render

import (
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"io"
	"sort"
	"strings"

	"kitescope/doc"
	"kitescope/inspect/check"
	"kitescope/inspect/model"
	"kitescope/words"
)

// htmlPage is what the page is made from. Every text in it is harmless already, and the
// template escapes it.
type htmlPage struct {
	Where, State, Judged, Version string
	// Policy is the digest of the one script that the page may run: it copies commands.
	Policy                string
	Counts, Checks, Since string
	Green                 bool
	Findings              []htmlFinding
	Gone                  []htmlGone
	Groups                []htmlReason
	Blind                 []htmlReason
	Accepted              []htmlFinding
	Stale                 []string
	OK                    []htmlCheck
	Facts                 []Fact
	Balance               template.HTML
}

type htmlFinding struct {
	Severity, Glyph, Change, Check, Title, Message, Object, Cost, Impact, With string
	Depth                                                                      int
	Fix                                                                        []htmlStep
	Evidence                                                                   []Fact
	Objects                                                                    []string
	Began                                                                      []Fact
}

// htmlStep is a step of a fix: the command, who reads it, and the sentence.
type htmlStep struct{ Command, Language, Text string }

type (
	htmlGone   struct{ Message, Check, Why string }
	htmlReason struct{ Word, Reason, Checks string }
	htmlCheck  struct{ ID, Title string }
)

// Fact is a line of what is known of a subject, with what said so.
type Fact struct{ Name, Value, Source string }

// writeHTML writes one page that needs nothing but itself.
func writeHTML(w io.Writer, d *Diagnosis, _ *Options) error {
	t, err := template.New("diagnosis").Parse(htmlTemplate)
	if err != nil {
		return err
	}
	out := doc.NewOutput(w, doc.Pieces)
	page := newHTMLPage(d)
	if err := t.Execute(&out, page); err != nil {
		return err
	}
	return out.Flush()
}

// policyOf is the digest of a script that a page's policy allows.
func policyOf(script string) string {
	sum := sha256.Sum256([]byte(script))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

func newHTMLPage(d *Diagnosis) *htmlPage {
	outcomes := d.outcomes()
	counts := tally(outcomes)
	p := &htmlPage{
		Judged: Stamp(d.Report.Now), Version: Harmless(d.Version), Policy: policyOf(copyScript), Counts: CountText(d.Report.Findings), Checks: checksText(d, outcomes),
		Green:   len(d.Report.Findings) == 0 && counts[check.Skipped.String()]+counts[check.Broken.String()] == 0,
		Facts:   clusterFacts(d.Report.Cluster),
		Balance: balancePicture(d.Report.Balance),
	}
	p.Where, p.State = d.headline()
	if d.Since != nil {
		p.Since = d.sinceText()
	}
	for _, b := range check.Tree(d.Report.Findings) {
		p.Findings = append(p.Findings, newHTMLFinding(d, &b))
	}
	for _, f := range d.Report.Accepted {
		p.Accepted = append(p.Accepted, newHTMLFinding(d, &check.Branch{Finding: f}))
	}
	for _, c := range d.gone() {
		p.Gone = append(p.Gone, htmlGone{Harmless(c.Before.Message), c.Before.Check, Harmless(c.Why)})
	}
	for _, u := range d.Report.Unlooked() {
		p.Groups = append(p.Groups, htmlReason{u.Status.String(), Harmless(u.Reason), strings.Join(check.IDs(u.Checks), ", ")})
	}
	for _, o := range outcomes {
		switch {
		case o.Status == check.OK:
			p.OK = append(p.OK, htmlCheck{o.Check.ID, o.Check.Title})
		case o.Status == check.Found && len(o.Unseen) > 0:
			p.Blind = append(p.Blind, htmlReason{"partly blind", strings.Join(HarmlessAll(o.Unseen), "; "), o.Check.ID})
		}
	}
	for _, s := range d.Stale {
		p.Stale = append(p.Stale, Harmless(s.Check+" "+s.Object)+": "+Harmless(s.Reason))
	}
	return p
}

func newHTMLFinding(d *Diagnosis, b *check.Branch) htmlFinding {
	f := htmlFinding{
		Severity: b.Severity.String(), Glyph: SeverityGlyph(b.Severity, false), Change: d.changeText(b.Finding), Check: b.Check, Depth: min(b.Depth, 4), Title: titleOf(d.Report, b.Check),
		Message: Harmless(b.Message), Object: ObjectText(b.Object), Cost: CostText(b.Finding), Impact: Harmless(b.Impact), With: words.Plural(len(b.Objects), "object"),
	}
	for _, s := range b.Steps() {
		f.Fix = append(f.Fix, htmlStep{strings.Join(stepCommand(s), "\n"), languageOf(s), Harmless(string(s.Text))})
	}
	for _, e := range b.Evidence {
		f.Evidence = append(f.Evidence, Fact{Harmless(e.Name), Harmless(e.Value), Harmless(e.Source)})
	}
	for _, line := range d.onsetLines(b.Finding) {
		f.Began = append(f.Began, Fact{Name: line.label, Value: line.text})
	}
	for _, r := range b.Objects {
		f.Objects = append(f.Objects, ObjectText(r))
	}
	return f
}

// clusterFacts are the few figures that tell one cluster from another.
func clusterFacts(c *model.Cluster) []Fact {
	var facts []Fact
	add := func(name, value string, parts model.Part) {
		if !c.Loaded.Has(parts) {
			value = words.UnknownMark
		}
		facts = append(facts, Fact{Name: name, Value: value})
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
	names := make([]string, 0, len(roles))
	for role := range roles {
		names = append(names, role)
	}
	sort.Strings(names)
	for i, role := range names {
		names[i] = count(roles[role]) + " " + Harmless(role)
	}
	add("sessions", OrNone(strings.Join(names, ", ")), model.PartSessions)
	return facts
}
