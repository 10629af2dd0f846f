package faulttest

import (
	"fmt"
	"slices"
	"strings"

	"kitescope/inspect/check"
)

// topRanks is the lowest rank at which a fault counts as detected.
const topRanks = 2

// Verdict is the result of a case.
type Verdict struct {
	Case *Case
	// Problems lists the differences from the expectations of the case.
	Problems []string
	// Rank is the rank, from 1, of the finding marked top among those that the edits caused. With several it
	// is the best rank. It is 0 if there was none.
	Rank int
	// Found is the finding at Rank.
	Found *check.Finding
	// Alarms holds findings of severity warning or above that the case does not explain.
	Alarms []*check.Finding
	// Findings lists all findings and skipped checks, one per line.
	Findings []string
	// ran holds the checks that ran and were not skipped.
	ran map[string]bool
}

// Detected reports whether the fault was among the first topRanks findings.
func (v *Verdict) Detected() bool { return v.Rank > 0 && v.Rank <= topRanks }

// Ran reports whether a check ran on the case's cluster and was not skipped.
func (v *Verdict) Ran(id string) bool { return v.ran[id] }

// judging is the state of one comparison.
type judging struct {
	*Verdict
	report *check.Report
	known  map[string]bool // keys of findings of the unedited base
	base   []*check.Finding
	names  names
	wanted map[*check.Finding]bool
}

func (j *judging) problem(format string, args ...any) {
	j.Problems = append(j.Problems, fmt.Sprintf(format, args...))
}

// Judge compares a report with the expectations of a case.
func (c *Case) Judge(b *Base, r *check.Report) *Verdict {
	j := &judging{
		Verdict: &Verdict{Case: c, ran: make(map[string]bool)}, report: r,
		known: make(map[string]bool), base: b.Report.Findings, names: names{b.Cluster},
		wanted: make(map[*check.Finding]bool),
	}
	for _, f := range b.Report.Findings {
		j.known[f.Key()] = true
	}
	j.checkResults()
	for _, w := range c.Want {
		j.checkWant(w)
	}
	j.findAlarms()
	for _, w := range c.Forbidden {
		j.checkForbidden(w)
	}
	j.checkUnknown()
	return j.Verdict
}

// checkResults checks the invariants of all results and findings.
func (j *judging) checkResults() {
	for _, x := range j.report.Results {
		j.ran[x.Check.ID] = x.Status == check.OK || x.Status == check.Found
		switch {
		case x.Status == check.Broken:
			j.problem("%s failed: %s", x.Check.ID, x.Reason)
		case x.Status == check.Skipped && x.Reason == "":
			j.problem("%s is skipped without a reason", x.Check.ID)
		case x.Status == check.OK && len(x.Unseen) > 0:
			j.problem("%s is ok though it did not see %s", x.Check.ID, strings.Join(x.Unseen, "; "))
		}
	}
	j.list()
	keys := make(map[string]bool)
	for _, f := range j.report.Findings {
		switch {
		case f.Message == "" || len(f.Evidence) == 0 || (f.Object.Resource == "") != (f.Object.ID == ""):
			j.problem("%s has no message, no evidence or half an object: %+v", f.Key(), *f)
		case f.Severity > check.Info && (len(f.Steps()) == 0 || f.Impact == ""):
			j.problem("%s does not say what it costs or what to do", f.Key())
		case keys[f.Key()]:
			j.problem("%s is found twice", f.Key())
		case f.Cost < 0 || f.Cost > 1:
			j.problem("%s costs %v, not 0 to 1", f.Key(), f.Cost)
		}
		keys[f.Key()] = true
	}
}

// list fills Findings with all findings and skipped checks.
func (j *judging) list() {
	for i, f := range j.report.Findings {
		text := fmt.Sprintf("%d. %s", i+1, describe(f))
		if f.Cause != "" {
			text += " <- " + f.Cause
		}
		if j.known[f.Key()] {
			text += " (the base's own)"
		}
		j.Findings = append(j.Findings, text)
	}
	for _, x := range j.report.Results {
		if x.Status == check.Skipped {
			j.Findings = append(j.Findings, "skipped "+x.Check.ID+": "+x.Reason)
		}
	}
}

// match returns the findings that match a line, and its expanded object.
func (j *judging) match(all []*check.Finding, w Want) (list []*check.Finding, object string) {
	object, err := j.names.expand(w.Object)
	if err != nil {
		j.problem("line %d: %v", w.Line.Number, err)
		return nil, object
	}
	resource, id, _ := strings.Cut(object, "/")
	for _, f := range all {
		if f.Check == w.Check && (object == "" || about(f, resource, id)) &&
			(w.Severity < 0 || int(f.Severity) == w.Severity) {
			list = append(list, f)
		}
	}
	return list, object
}

// about reports whether a finding is about an object or lists it in Objects.
func about(f *check.Finding, resource, id string) bool {
	if f.Object.Resource == resource && (f.Object.ID == id || f.Object.Name == id) {
		return true
	}
	for _, o := range f.Objects {
		if o.Resource == resource && (o.ID == id || o.Name == id) {
			return true
		}
	}
	return false
}

func (j *judging) checkWant(w Want) {
	words, err := j.expandAll(w.Words)
	if err != nil {
		j.problem("line %d: %v", w.Line.Number, err)
		return
	}
	without := func(f *check.Finding) bool {
		return !w.explained(f.Cause) ||
			slices.ContainsFunc(words, func(x string) bool { return !strings.Contains(f.Message, x) })
	}
	list, object := j.match(j.report.Findings, w)
	list = slices.DeleteFunc(list, without)
	if len(list) == 0 {
		j.problem("line %d: no finding %s %s%s; %s", w.Line.Number, w.Check, object, wantedWords(w, words),
			j.actualResult(w.Check))
		return
	}
	for _, f := range list {
		j.wanted[f] = true
	}
	if !w.Top {
		return
	}
	if had, _ := j.match(j.base, w); len(j.Case.Edits) > 0 && len(slices.DeleteFunc(had, without)) > 0 {
		j.problem("line %d: the base has this finding without any edit", w.Line.Number)
	}
	rank, named := j.rank(list)
	if j.Rank == 0 || rank < j.Rank {
		j.Rank, j.Found = rank, named
	}
	if rank > topRanks {
		j.problem("line %d: %s is number %d of the findings, behind %s", w.Line.Number, w.Check, rank,
			j.findingsBefore(named))
	}
}

func (j *judging) expandAll(words []string) (out []string, err error) {
	for _, word := range words {
		if word, err = j.names.expand(word); err != nil {
			return nil, err
		}
		out = append(out, word)
	}
	return out, nil
}

func wantedWords(w Want, words []string) string {
	text := ""
	if w.Severity >= 0 {
		text += " of severity " + check.Severity(w.Severity).String()
	}
	if len(words) > 0 {
		text += fmt.Sprintf(" with %q", words)
	}
	if w.Cause != "" {
		text += " that follows from " + w.Cause
	}
	return text
}

// actualResult describes the actual result of a check that did not report a wanted finding.
func (j *judging) actualResult(id string) string {
	for _, x := range j.report.Results {
		if x.Check.ID != id {
			continue
		}
		if len(x.Findings) == 0 {
			return strings.TrimSuffix(fmt.Sprintf("the check is %s: %s", x.Status, x.Reason), ": ")
		}
		var parts []string
		for _, f := range x.Findings {
			parts = append(parts,
				fmt.Sprintf("%s %s/%s %s: %s", f.Severity, f.Object.Resource, f.Object.ID, f.Object.Name, f.Message))
		}
		return "it found: " + strings.Join(parts, "; ")
	}
	return "there is no such check"
}

// newFindings returns the findings that the edits caused. It excludes those of the base unless they are wanted.
func (j *judging) newFindings() []*check.Finding {
	return slices.DeleteFunc(slices.Clone(j.report.Findings), func(f *check.Finding) bool {
		return j.known[f.Key()] && !j.wanted[f]
	})
}

// rank returns the best rank, from 1, of some findings among those that the edits caused, with the finding.
func (j *judging) rank(list []*check.Finding) (int, *check.Finding) {
	for i, f := range j.newFindings() {
		if slices.Contains(list, f) {
			return i + 1, f
		}
	}
	return len(j.report.Findings) + 1, list[0]
}

func (j *judging) findingsBefore(named *check.Finding) string {
	var parts []string
	for _, f := range j.newFindings() {
		if f == named {
			break
		}
		parts = append(parts, describe(f))
	}
	return strings.Join(parts, "; ")
}

func describe(f *check.Finding) string {
	return fmt.Sprintf("%s %s (%s, cost %.2g): %s", f.Severity, f.Key(), f.Object.Name, f.Cost, f.Message)
}

// findAlarms collects the findings of severity warning or above that are neither wanted, nor an effect of a
// wanted one, nor allowed, nor in the base.
func (j *judging) findAlarms() {
	allowed := make(map[*check.Finding]bool)
	for _, w := range j.Case.Allowed {
		list, _ := j.match(j.report.Findings, w)
		for _, f := range list {
			allowed[f] = true
		}
	}
	byKey := make(map[string]*check.Finding)
	for _, f := range j.report.Findings {
		byKey[f.Key()] = f
	}
	for _, f := range j.report.Findings {
		explained := f.Severity < check.Warning || allowed[f] || j.known[f.Key()] && j.Case.Kind != Healthy
		for x, n := f, 0; x != nil && n <= len(byKey) && !explained; x, n = byKey[x.Cause], n+1 {
			explained = j.wanted[x]
		}
		if !explained {
			j.Alarms = append(j.Alarms, f)
		}
	}
}

func (j *judging) checkForbidden(w Want) {
	if w.Check == anyWarning {
		for _, f := range j.Alarms {
			j.problem("line %d: a false alarm: %s", w.Line.Number, describe(f))
		}
		return
	}
	list, _ := j.match(j.report.Findings, w)
	for _, f := range list {
		if w.Object == "" && j.known[f.Key()] && !j.wanted[f] {
			continue
		}
		j.problem("line %d: %s must not be found: %s", w.Line.Number, w.Check, describe(f))
	}
	// No finding counts only if the check ran.
	if !j.ran[w.Check] {
		j.problem("line %d: %s did not look: %s", w.Line.Number, w.Check, j.actualResult(w.Check))
	}
}

// liveChecks as an unknown check means every check that needs data from processes.
const liveChecks = "live"

func (j *judging) checkUnknown() {
	for _, l := range j.Case.Unknown {
		id, reason, _ := strings.Cut(l.Text, " ")
		hits := 0
		for _, x := range j.report.Results {
			needsLive := x.Check.Needs&^(check.NeedEtcd|check.NeedProfiles|check.NeedStorage) != 0
			if x.Check.ID != id && (id != liveChecks || !needsLive) {
				continue
			}
			hits++
			switch reason = strings.Trim(reason, `"`); {
			case x.Status != check.Skipped:
				j.problem("line %d: %s is %s and has to be skipped", l.Number, x.Check.ID, x.Status)
			case !strings.Contains(x.Reason, reason):
				j.problem("line %d: %s is skipped because %q, which does not say %q", l.Number, x.Check.ID, x.Reason,
					reason)
			}
		}
		if hits == 0 {
			j.problem("line %d: there is no check %s", l.Number, id)
		}
	}
}
