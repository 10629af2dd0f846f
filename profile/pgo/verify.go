package pgo

import (
	"fmt"
	"strings"

	"kitescope/profile"
)

// Effect is whether a program was built with a profile.
type Effect uint8

// The effects.
const (
	// EffectUnknown means that the build information does not show whether the profile was used.
	EffectUnknown Effect = iota
	// NotUsed means that the program was built without the profile.
	NotUsed
	// Used means that the program was built with the profile.
	Used
)

var effectNames = [...]string{"cannot tell", "did not take it", "took it"}

func (e Effect) String() string { return effectNames[e] }

// GivenProfile is the profile that Verify compares a program with.
type GivenProfile struct {
	// Name is the file name for display, and SHA256 the hash of the file.
	Name, SHA256 string
	// Profile is nil if the file cannot be read; Err is the reason.
	Profile *profile.Profile
	Err     error
	// Manifest is the manifest next to the file; nil without one.
	Manifest *Manifest
	// Assumed reports that the user did not name the file: it is the current file at the path in the build
	// information.
	Assumed bool
}

// Match is the result of comparing a program's profile with the given one.
type Match uint8

// The matches. Go does not record a profile's hash, so only the file name can identify it.
const (
	MatchUnknown Match = iota
	// MatchName: the name is the same, but the contents may differ.
	MatchName
	// MatchHash: the name of the file in the build information has the hash of the given file.
	MatchHash
	// MatchNone: the name has another hash.
	MatchNone
)

var matchNames = [...]string{"unknown", "same name", "same hash", "another profile"}

func (m Match) String() string { return matchNames[m] }

// Verification is the result of Verify.
type Verification struct {
	// Name is the binary's name for display, and Build its metadata.
	Name  string
	Build *Build
	// Given is the profile to compare with; nil if none was given or found.
	Given  *GivenProfile
	Effect Effect
	// Reason is one sentence for users. Hint suggests how to learn more, "" if nothing is missing.
	Reason, Hint string
	// Match compares the program's profile with Given.
	Match Match
	// Manifest is "" without a manifest, otherwise "matches" or "is of another file".
	Manifest string
	// Notes are further remarks for the user.
	Notes []string
}

// Verify reports from the build information of a binary whether it was built with a profile, and whether it was
// built with the given one. given may be nil.
func Verify(name string, b *Build, given *GivenProfile) *Verification {
	v := &Verification{Name: name, Build: b, Given: given}
	v.match()
	v.decide()
	return v
}

// match compares the profile that the build names with the given one.
func (v *Verification) match() {
	g, b := v.Given, v.Build
	if g == nil {
		return
	}
	if m := g.Manifest; m != nil {
		v.Manifest = "matches"
		if m.SHA256 != g.SHA256 {
			v.Manifest = "is of another file"
			v.note("%s describes another file than %s: its hash is %s", ManifestName(g.Name), g.Name, short(m.SHA256))
		}
	}
	if g.Err != nil {
		v.note("%s: %v", g.Name, g.Err)
	}
	if b.PGO == "" {
		return
	}
	switch {
	case b.Hash != "" && strings.HasPrefix(g.SHA256, b.Hash):
		v.Match = MatchHash
	case b.Hash != "":
		v.Match = MatchNone
	case baseName(b.PGO) == baseName(g.Name):
		v.Match = MatchName
		v.note("go records no hash of a profile: %s may have changed since", g.Name)
	}
}

func (v *Verification) note(format string, args ...any) {
	v.Notes = append(v.Notes, fmt.Sprintf(format, args...))
}

// baseName returns the last element of a path of any operating system.
func baseName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

func short(hash string) string { return hash[:min(len(hash), hashLetters)] }

// withHash is the hint for cases that only a hash in the name could decide.
const withHash = "pack the profile with --name-with-hash: the name in the build information then has its hash"

func (v *Verification) decide() {
	b, g := v.Build, v.Given
	switch {
	case b.PGO == "" && b.Recorded:
		v.Effect, v.Reason = NotUsed, "it was built without a profile: its build information has no -pgo"
		v.Hint = "Go uses a default.pgo next to the main package automatically, unless -pgo=off is set (also in " +
			"GOFLAGS)"
	case b.PGO == "":
		v.Reason = "it does not record how it was built"
		v.Hint = "build it with go build; binaries of tests and of other build systems record no profile"
	case v.Match == MatchNone:
		v.Effect = NotUsed
		v.Reason = fmt.Sprintf("it was built with another profile: its hash is %s, that of %s is %s", baseName(b.PGO),
			g.Name, short(g.SHA256))
	case g != nil && g.isEmpty():
		v.Effect, v.Hint = NotUsed, "profile the program under load, and pack it: kitescope pgo pack"
		v.Reason = "the profile is recorded, but it is empty: no effect"
	case g == nil, v.Match != MatchUnknown:
		v.Effect, v.Reason = Used, "it was built with "+b.PGO
		if b.Hash == "" && g == nil {
			v.note("go records no hash of a profile: its contents at the build are unknown")
		}
	default:
		v.Reason = fmt.Sprintf("it was built with %s: whether %s is the same file is unknown", b.PGO, g.Name)
		v.Hint = withHash
	}
}

// isEmpty reports whether Go accepts the profile but ignores it.
func (g *GivenProfile) isEmpty() bool {
	if g.Profile == nil {
		return false
	}
	edges, err := EdgesOf(g.Profile)
	return err == nil && edges.Total == 0
}
