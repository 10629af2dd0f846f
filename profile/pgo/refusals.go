package pgo

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"kitescope/internal/hints"
	"kitescope/profile"
)

func (r *Refusal) err() error { return &hints.Error{Err: errors.New(r.Message), Advice: r.Hint} }

// takeCPU is the hint for profiles without a CPU sample type.
const takeCPU = "take a CPU profile: kitescope profile pull --kind cpu, or /debug/pprof/profile?seconds=30"

func wrongType(p *profile.Profile) *Refusal {
	types := make([]string, len(p.Types))
	for i, t := range p.Types {
		types[i] = t.String()
	}
	return &Refusal{
		"wrong-type", "Go takes samples/count or cpu/nanoseconds, and this has " + strings.Join(types, ", "), takeCPU,
	}
}

// imported reports whether a profile was converted from a format other than pprof.
func imported(p *profile.Profile) bool { return p.Origin.Format != "" && p.Origin.Format != "pprof" }

func hasStartLines(p *profile.Profile) bool {
	return slices.ContainsFunc(p.Functions, func(f profile.Function) bool { return f.StartLine != 0 })
}

func noStartLines(p *profile.Profile) *Refusal {
	if imported(p) {
		return &Refusal{
			"no-start-lines",
			fmt.Sprintf("no function has a start line (format %s has none): Go refuses the profile", p.Origin.Format),
			"take the profile with Go's own profiler: runtime/pprof or /debug/pprof/profile",
		}
	}
	if hasStartLines(p) {
		return &Refusal{
			"no-start-lines", "no stack ends in two Go frames, where the compiler looks for start lines: Go refuses " +
				"the profile",
			"the time is spent in native code; profile longer, or under a load on Go code",
		}
	}
	return &Refusal{
		"no-start-lines", "no function has a start line: Go refuses it",
		"programs built with Go 1.20 and later write them; was the profile converted on the way?",
	}
}

// Refusals returns the objections to a single profile: the reason why Go refuses it, or accepts and ignores it.
// It returns nil if Go can build with the profile, however few samples it has.
func Refusals(p *profile.Profile) []Refusal {
	if p.Len() == 0 {
		return []Refusal{{
			"no-samples", "it has no samples: Go accepts it silently and optimizes nothing",
			"profile the process while it is under load",
		}}
	}
	if kindOf(p) < 0 {
		if !hasStartLines(p) && imported(p) {
			return []Refusal{*noStartLines(p)} // another sample type would not help
		}
		return []Refusal{*wrongType(p)}
	}
	if r := wrongValues(p, kindOf(p)); r != nil {
		return []Refusal{*r}
	}
	named, native := namesOf(p)
	switch {
	case named == 0:
		return []Refusal{{
			"no-names", "functions have addresses, but no names: Go cannot match calls",
			"let the process write the profile itself: it has the names, stripped or not",
		}}
	case native:
		return []Refusal{{
			"no-go", "it has no Go code",
			"profile a Go program, by its own profiler: runtime/pprof or /debug/pprof/profile",
		}}
	}
	c, err := callsOf(p)
	if err != nil {
		return []Refusal{{"too-large", err.Error(), ""}}
	}
	if !c.hasStartLine {
		return []Refusal{*noStartLines(p)}
	}
	if len(c.edges().ByWeight) == 0 {
		return []Refusal{{
			"no-calls", "it has no calls between functions: Go accepts it silently and optimizes nothing",
			"was it converted without its stacks?",
		}}
	}
	return nil
}

// wrongValues returns the objection to the values of a profile, or nil. Go adds up the values without checks.
func wrongValues(p *profile.Profile, kind int) *Refusal {
	below, zero := 0, 0
	for i := range p.Len() {
		switch v := p.Value(i, kind); {
		case v < 0:
			below++
		case v == 0:
			zero++
		}
	}
	switch k, ok := p.Overflow(); {
	case below > 0:
		return &Refusal{
			"negative-values",
			fmt.Sprintf("%d of its %d samples are negative, as in a diff of two profiles: Go accepts them, but the "+
				"hot calls are arbitrary", below, p.Len()),
			"take one of the two profiles",
		}
	case ok && k == kind:
		return &Refusal{
			"too-large", "its values add up to more than 64 bits can hold: Go's sums are arbitrary",
			"is it damaged? take it again",
		}
	case zero == p.Len():
		return &Refusal{
			"all-zero", fmt.Sprintf("all of its %d samples are 0: Go refuses it as if it had no start lines", zero),
			"profile the process while it is under load",
		}
	}
	return nil
}

// namesOf returns the number of lines whose function has a name, over all locations. native is true if there
// are such lines and no location is known to be Go code.
func namesOf(p *profile.Profile) (named int, native bool) {
	native = true
	kinds := p.KindsOfLocations()
	for i := range p.Locations {
		for _, line := range p.LinesOf(uint32(i)) {
			if p.Functions[line.Function].Name != "" {
				named++
			}
		}
		switch kinds[i].Class {
		case profile.GoCode, profile.Runtime, profile.GC, profile.Assembly, profile.Cgo:
			native = false
		case profile.Syscall, profile.Idle, profile.Unknown, profile.Native, profile.Kernel, profile.Managed:
		}
	}
	return named, named > 0 && native
}

// IsPreprofile reports whether a file that begins with head is output of `go tool preprofile`. Go accepts such a
// file for -pgo as well, but it holds only edges. It cannot be judged, because it has neither samples nor leaves.
func IsPreprofile(head []byte) bool { return bytes.HasPrefix(head, []byte("GO PREPROFILE V1\n")) }

// ErrPreprofile is the Err of an Input that `go tool preprofile` wrote (IsPreprofile). Go accepts such a file for
// -pgo as well.
var ErrPreprofile = errors.New("it is the output of go tool preprofile: calls and weights, but no samples to judge")

// readRefusal returns the reason why an input without a profile is unfit.
func readRefusal(in *Input) Refusal {
	hint := hints.Of(in.Err)
	message := "it cannot be read"
	if in.Err != nil {
		message = in.Err.Error()
	}
	if errors.Is(in.Err, ErrPreprofile) {
		return Refusal{"preprofile", message, "judge the profile that it was made from"}
	}
	if strings.HasSuffix(message, "is empty") {
		return Refusal{"empty", "the file is empty: Go accepts it silently and optimizes nothing", hint}
	}
	return Refusal{"unreadable", message, hint}
}
