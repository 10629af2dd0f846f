package clusters

import (
	"encoding/xml"
	"io"
	"strconv"
	"strings"

	"kitescope/inspect/check"
	"kitescope/internal/encode"
	"kitescope/internal/words"
	"kitescope/render"
)

// The elements of JUnit's reports, as Jenkins, GitLab and others read them: one suite, one
// case a check. A case has at most one of failure, error and skipped.
type (
	junitSuites struct {
		XMLName xml.Name `xml:"testsuites"`
		Name    string   `xml:"name,attr"`
		junitSums
		Suite junitSuite `xml:"testsuite"`
	}
	junitSums struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Skipped  int `xml:"skipped,attr"`
		Time     int `xml:"time,attr"`
	}
	junitSuite struct {
		Name      string `xml:"name,attr"`
		Timestamp string `xml:"timestamp,attr,omitempty"`
		junitSums
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase     `xml:"testcase"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Time    int           `xml:"time,attr"`
		Skipped *junitProblem `xml:"skipped"`
		Error   *junitProblem `xml:"error"`
		Failure *junitProblem `xml:"failure"`
		Out     *junitText    `xml:"system-out"`
	}
	junitProblem struct {
		Type    string `xml:"type,attr,omitempty"`
		Message string `xml:"message,attr"`
		Text    string `xml:",cdata"` // keeps line breaks as they are
	}
	junitText struct {
		Text string `xml:",cdata"`
	}
)

// writeJUnit writes a test case for each check. It fails by the findings that make the run
// fail; others are told in its output, so that the report and the exit code agree.
func writeJUnit(w io.Writer, d *Diagnosis, _ *render.Options) error {
	c := d.Report.Cluster
	where, state := d.headline()
	s := junitSuite{Name: "kitescope " + d.command(), Properties: []junitProperty{
		{"cluster", where}, {"state", state}, {"kitescope", render.Harmless(d.Version)}, {"source", render.Harmless(c.Origin.Kind)},
	}}
	if p := d.Preflight; p != nil {
		s.Properties = append(s.Properties, junitProperty{"from", render.Harmless(p.From)}, junitProperty{"to", render.Harmless(p.To)}, junitProperty{"back", strconv.FormatBool(p.Back)})
	}
	if !d.Report.Now.IsZero() {
		s.Timestamp = d.Report.Now.UTC().Format("2006-01-02T15:04:05")
	}
	for _, o := range d.outcomes() {
		x := d.testCase(&o)
		s.Tests++
		switch {
		case x.Failure != nil:
			s.Failures++
		case x.Error != nil:
			s.Errors++
		case x.Skipped != nil:
			s.Skipped++
		}
		s.Cases = append(s.Cases, x)
	}
	out := encode.NewOutput(w, encode.Pieces)
	out.Buf = append(out.Buf, xml.Header...)
	text, err := xml.MarshalIndent(junitSuites{Name: s.Name, junitSums: s.junitSums, Suite: s}, "", "  ")
	if err != nil {
		return err
	}
	out.Buf = append(append(out.Buf, text...), '\n')
	return out.Flush()
}

func (d *Diagnosis) testCase(o *outcome) junitCase {
	x := junitCase{Class: "kitescope." + d.command(), Name: o.Check.ID}
	switch o.Status {
	case check.Skipped:
		x.Skipped = &junitProblem{Message: render.Harmless(o.Reason)}
	case check.Broken:
		x.Error = &junitProblem{Type: "check failed", Message: render.Harmless(o.Reason)}
	default:
	}
	var failing, others []*check.Finding
	worst := check.Info
	for _, f := range o.findings {
		if d.Bar.Fails(f, d.Since) {
			failing = append(failing, f)
			worst = max(worst, f.Severity)
		} else {
			others = append(others, f)
		}
	}
	if len(failing) > 0 {
		message := render.Harmless(failing[0].Message)
		if n := len(failing); n > 1 {
			message += " (and " + words.Plural(n-1, "more finding") + ")"
		}
		x.Failure = &junitProblem{Type: worst.String(), Message: message, Text: xmlText(d.plainText(failing))}
	}
	told := ""
	if len(others) > 0 {
		told = "findings that do not fail the run:\n" + d.plainText(others)
	}
	if o.accepted > 0 {
		told += words.Plural(o.accepted, "finding") + " accepted by the baseline\n"
	}
	if len(o.Unseen) > 0 {
		told += "not looked at: " + strings.Join(render.HarmlessAll(o.Unseen), "; ") + "\n"
	}
	if told != "" {
		x.Out = &junitText{xmlText(told)}
	}
	return x
}

// xmlText leaves out what no XML may hold; control characters are escaped before.
func xmlText(s string) string {
	return strings.Map(func(r rune) rune {
		if r == 0xfffe || r == 0xffff {
			return 0xfffd
		}
		return r
	}, s)
}

// plainText tells findings in full, without layout.
func (d *Diagnosis) plainText(findings []*check.Finding) string {
	var b strings.Builder
	for i, f := range findings {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(f.Severity.String() + ": " + render.Harmless(f.Message) + "\n")
		line := func(name, text string) {
			if text != "" {
				b.WriteString("  " + name + ": " + text + "\n")
			}
		}
		line("object", ObjectText(f.Object))
		line("since the older state", d.changeText(f))
		line("cost", CostText(f))
		line("follows from", render.Harmless(f.Cause))
		line("impact", render.Harmless(f.Impact))
		for _, x := range FixLines(f) {
			line("fix", x.Prompt+x.Text)
		}
		for k := range f.Evidence {
			line("evidence", EvidenceText(&f.Evidence[k]))
		}
	}
	return b.String()
}
