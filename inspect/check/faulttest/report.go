package faulttest

import (
	"fmt"
	"slices"
	"strings"
)

// Tally counts the results of cases.
type Tally struct {
	Faults, Detected             int
	NearMisses, PassedNearMisses int
	Blind, PassedBlind           int
	Healthy, Alarms              int
	Missed                       []*Verdict
}

// Count returns the Tally of verdicts.
func Count(verdicts []*Verdict) Tally {
	var t Tally
	for _, v := range verdicts {
		good := len(v.Problems) == 0
		if !good {
			t.Missed = append(t.Missed, v)
		}
		switch v.Case.Kind {
		case Fault:
			t.Faults++
			if v.Detected() && good {
				t.Detected++
			}
		case NearMiss:
			t.NearMisses++
			if good {
				t.PassedNearMisses++
			}
		case Blind:
			t.Blind++
			if good {
				t.PassedBlind++
			}
		case Healthy:
			t.Healthy++
			t.Alarms += len(v.Alarms)
		}
	}
	return t
}

// Text returns a table for terminals.
func Text(verdicts []*Verdict) string {
	var b strings.Builder
	for _, v := range sorted(verdicts) {
		said := v.outcome()
		if v.Found != nil {
			said += ": " + v.Found.Message
		}
		fmt.Fprintf(&b, "%-10s %-44s %s\n", v.Case.Kind, v.Case.Name, said)
	}
	b.WriteString(Count(verdicts).String() + "\n")
	return b.String()
}

func (t Tally) String() string {
	return fmt.Sprintf("detected %d of %d injected; silent in %d of %d near misses; honest in %d of %d with facts "+
		"missing; "+
		"%d false alarms on %d healthy clusters", t.Detected, t.Faults, t.PassedNearMisses, t.NearMisses, t.PassedBlind,
		t.Blind, t.Alarms, t.Healthy)
}

// outcome returns a short description of the result of a case.
func (v *Verdict) outcome() string {
	switch {
	case len(v.Problems) > 0 && v.Case.KnownMiss != "":
		return "missed: " + v.Case.KnownMiss
	case len(v.Problems) > 0:
		return "missed: " + v.Problems[0]
	case v.Case.Kind == Fault:
		return fmt.Sprintf("number %d: %s", v.Rank, v.Found.Check)
	case v.Case.Kind == Blind:
		return "reported as unknown"
	case v.Case.Kind == Healthy:
		return "no warning"
	default:
		return "silent"
	}
}

// Markdown returns the report for docs/evidence/diagnosis.md.
func Markdown(verdicts []*Verdict) string {
	var b strings.Builder
	t := Count(verdicts)
	fmt.Fprintf(&b, "| | cases | passed |\n|---|---|---|\n")
	fmt.Fprintf(&b, "| faults, ranked first or second | %d | %d |\n", t.Faults, t.Detected)
	fmt.Fprintf(&b, "| near misses, silent | %d | %d |\n", t.NearMisses, t.PassedNearMisses)
	fmt.Fprintf(&b, "| facts missing, reported as unknown | %d | %d |\n", t.Blind, t.PassedBlind)
	fmt.Fprintf(&b, "| healthy clusters; their findings of severity warning or above | %d | %d |\n", t.Healthy,
		t.Alarms)
	for _, kind := range []struct {
		kind  Kind
		title string
	}{{Fault, "Faults"}, {NearMiss, "Near misses"}, {Blind, "Facts missing"}, {Healthy, "Healthy clusters"}} {
		fmt.Fprintf(&b, "\n### %s\n\n| case | situation | outcome |\n|---|---|---|\n", kind.title)
		for _, v := range sorted(verdicts) {
			if v.Case.Kind == kind.kind {
				fmt.Fprintf(&b, "| `%s` | %s | %s |\n", v.Case.Name, cell(v.Case.Doc), cell(v.outcome()))
			}
		}
	}
	b.WriteString("\n### Misses\n\n")
	if len(t.Missed) == 0 {
		b.WriteString("None.\n")
	}
	for _, v := range t.Missed {
		fmt.Fprintf(&b, "- `%s`: %s\n", v.Case.Name, cell(v.outcome()))
	}
	return b.String()
}

func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

// sorted returns verdicts sorted by kind and name.
func sorted(verdicts []*Verdict) []*Verdict {
	order := []Kind{Fault, NearMiss, Blind, Healthy}
	list := slices.Clone(verdicts)
	slices.SortFunc(list, func(a, b *Verdict) int {
		if a.Case.Kind != b.Case.Kind {
			return slices.Index(order, a.Case.Kind) - slices.Index(order, b.Case.Kind)
		}
		return strings.Compare(a.Case.Name, b.Case.Name)
	})
	return list
}
