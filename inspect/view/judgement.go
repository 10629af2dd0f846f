package view

import (
	"maps"
	"slices"

	"kitescope/inspect/model"
	"kitescope/internal/table"
)

// PartFindings marks columns that need the findings of checks. It is not a part of a cluster; it counts as
// loaded once an Env has a Judgement.
const PartFindings = model.PartLevels << 1

// Finding holds the data of a finding that tables need: its objects, its severity and the id of its check.
type Finding struct {
	Objects  []Ref
	Severity Severity
	Check    string
}

// Severity is the severity of a finding.
type Severity uint8

// The severities.
const (
	Info Severity = iota
	Warning
	Error
)

// severityWords holds the names of the severities, as selections use them.
var severityWords = [...]string{"info", "warning", "error"}

// Judgement holds the results of checks by object. It is immutable. nil means that no checks ran.
type Judgement struct {
	byObject map[string]map[string]*objectFindings // by resource and id; no inner map is empty
}

type objectFindings struct {
	table.Tally
	checks []string
}

// NewJudgement returns the Judgement of findings, which must be sorted worst first.
func NewJudgement(findings []Finding) *Judgement {
	j := &Judgement{byObject: map[string]map[string]*objectFindings{}}
	for _, f := range findings {
		said := map[*objectFindings]bool{} // an object may be named twice
		for _, ref := range f.Objects {
			if ref.Resource == "" {
				continue
			}
			if x := j.entry(ref); !said[x] {
				said[x] = true
				x.add(f)
			}
		}
	}
	return j
}

// entry returns the entry of an object. It adds one if there is none.
func (j *Judgement) entry(ref Ref) *objectFindings {
	of := j.byObject[ref.Resource]
	if of == nil {
		of = map[string]*objectFindings{}
		j.byObject[ref.Resource] = of
	}
	if of[ref.ID] == nil {
		of[ref.ID] = new(objectFindings)
	}
	return of[ref.ID]
}

func (x *objectFindings) add(f Finding) {
	switch f.Severity {
	case Error:
		x.Errors++
	case Warning:
		x.Warnings++
	default:
		x.Infos++
	}
	if slices.Contains(x.checks, f.Check) {
		return
	}
	x.checks = append(x.checks, f.Check)
}

// Tally returns the number of findings about an object, by severity.
func (j *Judgement) Tally(ref Ref) table.Tally {
	if j == nil {
		return table.Tally{}
	}
	if x := j.byObject[ref.Resource][ref.ID]; x != nil {
		return x.Tally
	}
	return table.Tally{}
}

// HasFindings reports whether any object of a resource has findings.
func (j *Judgement) HasFindings(resource string) bool {
	return j != nil && len(j.byObject[resource]) > 0
}

// Equal reports whether two judgements have the same results for the same objects.
func (j *Judgement) Equal(other *Judgement) bool {
	if j == nil || other == nil || j == other {
		return j == other
	}
	return maps.EqualFunc(j.byObject, other.byObject, func(a, b map[string]*objectFindings) bool {
		return maps.EqualFunc(a, b, func(a, b *objectFindings) bool {
			return a.Tally == b.Tally && slices.Equal(a.checks, b.checks)
		})
	})
}

// FindingsChanged reports whether findings about rows of a resource may have changed between two Envs.
func FindingsChanged(was, now *Env, resource string) bool {
	return !was.Judgement.Equal(now.Judgement) &&
		((was.Judgement == nil) != (now.Judgement == nil) || was.Judgement.HasFindings(resource) ||
			now.Judgement.HasFindings(resource))
}

// Loaded returns the parts that were read, with PartFindings if checks ran.
func (e *Env) Loaded() model.Part {
	if e.Judgement == nil {
		return e.Cluster.Loaded
	}
	return e.Cluster.Loaded | PartFindings
}

// WithJudgement returns a copy of the Env with the results of checks.
func (e *Env) WithJudgement(j *Judgement) *Env {
	other := *e
	other.Judgement = j
	return &other
}

// findingColumns returns the columns with findings, which every resource has once checks ran.
func findingColumns[T any](resource string, ref func(*Env, T) Ref) []column[T] {
	nothing := new(objectFindings)
	about := func(e *Env, x T) *objectFindings {
		if of := e.Judgement.byObject[resource]; len(of) > 0 { // usually none of a million rows has findings
			if found := of[ref(e, x).ID]; found != nil {
				return found
			}
		}
		return nothing
	}
	worst := col(table.Column{
		Name: "worst", Kind: table.State, Show: table.OnDemand, Ranked: true,
		Doc: "Severity of its worst finding: error, warning or info; none without a finding.",
	}, func(e *Env, x T) table.Cell {
		found := about(e, x)
		if found.Tally == (table.Tally{}) {
			return none()
		}
		return table.Cell{Text: severityWords[found.worst()], Float: float64(found.worst())}
	}).withNeeds(PartFindings).asLive()
	worst.from = table.Hidden
	return []column[T]{
		col(table.Column{
			Name: "findings", Kind: table.Findings, Show: table.OnDemand, Pinned: true, Ranked: true,
			Doc: "Findings about it: number per severity, and the ids of the checks. Only with `-o wide`, or if this " +
				"column or `worst` is selected.",
		}, func(e *Env, x T) table.Cell {
			found := about(e, x)
			return found.Cell(found.checks)
		}).withNeeds(PartFindings).asLive(),
		worst,
	}
}

func (x *objectFindings) worst() Severity {
	switch {
	case x.Errors > 0:
		return Error
	case x.Warnings > 0:
		return Warning
	}
	return Info
}
