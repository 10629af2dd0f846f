package pgo

import (
	"errors"
	"fmt"
	"strings"

	"kitescope/profile"
)

// Build is what a binary says of how it was built.
type Build struct {
	// Main is the import path of its main package.
	Main, GoVersion, BuildID string
	// PGO is the path of the profile as the go command recorded it, "" if none was used; Hash is what the file's name
	// tells of its contents.
	PGO, Hash string
	// Recorded says that the go command wrote down how it built, so that a PGO of "" means that there was none. Other
	// build systems write nothing.
	Recorded bool
	Stripped bool
}

// GivenProfile is the profile that a program is held against.
type GivenProfile struct {
	// Name is the file, as it is shown, and SHA256 its hash.
	Name, SHA256 string
	// Profile is nil if the file has no bytes, or nothing that is a profile, and Err says why.
	Profile *profile.Profile
	Err     error
	// Manifest lies beside it; nil if there is none.
	Manifest *Manifest
	// Assumed says that it was not given: it is the file that the build names, as it is now.
	Assumed bool
}

// Match says whether a program was built with the profile that it is held against.
type Match uint8

// The matches. Go records no hash of a profile, so that only a file name can tell.
const (
	MatchUnknown Match = iota
	// MatchName: the name is the same, the contents may have been others.
	MatchName
	// MatchHash: the name of the file that it was built with carries the hash of this one.
	MatchHash
	// MatchNone: it carries another.
	MatchNone
)

var matchNames = [...]string{"unknown", "same name", "same hash", "another profile"}

func (m Match) String() string { return matchNames[m] }

// Subject is what is known of a program.
type Subject struct {
	// Name is the file or address, as it is shown.
	Name string
	// Build is nil if there is no binary.
	Build *Build
	// Inlined are the calls that are inlined in the binary; nil if unknown, and InlinedErr says why.
	Inlined    map[Edge]bool
	InlinedErr error
	// Starts are the first lines of all functions of the binary; nil if unknown.
	Starts map[string]int
	// Running is a CPU profile of the program; nil if there is none.
	Running *profile.Profile
	// Given is the profile that it may have been built with; nil if there is none.
	Given *GivenProfile
	// Controls are what is known of builds of it without PGO, and ControlProfiles those of them that are profiles.
	Controls        []*Sight
	ControlProfiles []*profile.Profile
}

// Verification is what became of a profile in a program.
type Verification struct {
	Subject *Subject
	Effect  Effect
	// Reason is one sentence for people, Hint what would tell more, "" if nothing is missing.
	Reason, Hint string
	// Match is about Subject.Given.
	Match Match
	// Manifest says whether the profile is the one that its manifest describes: "" without one, else "matches" or
	// "is of another file".
	Manifest string
	// Notes are further things that a person should know.
	Notes []string
	// InBinary is the comparison with the binary's own list of inlined calls, InProfile that with a profile of the program;
	// nil if it was not made.
	InBinary, InProfile *Witness
	// Own are functions that only PGO can have inlined, by a profile of the program alone.
	Own []BeyondBudget
}

// Verify says whether a program was built with PGO, with which profile, and whether that took effect.
func Verify(s *Subject) *Verification {
	v := &Verification{Subject: s}
	v.match()
	if s.Running != nil {
		v.own()
	}
	if v.refuted() {
		return v
	}
	v.witness()
	v.decide()
	return v
}

// match compares what the build names with the profile that is given.
func (v *Verification) match() {
	g, b := v.Subject.Given, v.Subject.Build
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
	if b == nil || b.PGO == "" {
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

// baseName is the last part of a path of any system.
func baseName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

func short(hash string) string { return hash[:min(len(hash), hashLetters)] }

// refuted reports whether it is settled without a look at any call.
func (v *Verification) refuted() bool {
	b, g := v.Subject.Build, v.Subject.Given
	if b != nil && b.PGO == "" && b.Recorded {
		v.Effect, v.Reason = NoSign, "it was built without a profile: its build information has no -pgo"
		v.Hint = "Go uses a default.pgo next to the main package automatically, unless -pgo=off is set (also in GOFLAGS)"
		return true
	}
	if v.Match == MatchNone {
		v.Effect = NoSign
		v.Reason = fmt.Sprintf("it was built with another profile: its hash is %s, that of %s is %s", baseName(b.PGO), g.Name, short(g.SHA256))
		return true
	}
	if g == nil || g.Profile == nil {
		return false
	}
	edges, err := EdgesOf(g.Profile)
	if err == nil && edges.Total == 0 {
		v.Effect, v.Hint = NoSign, "profile the program under load, and pack it: kitescope pgo pack"
		v.Reason = "the profile is empty: no effect"
		if b != nil && b.PGO != "" {
			v.Reason = "the profile is recorded, but it is empty: no effect"
		}
		return true
	}
	return false
}

// witness compares the profile with all that is known of the program.
func (v *Verification) witness() {
	s := v.Subject
	if s.Given == nil {
		return
	}
	if s.Given.Profile == nil {
		v.note("%s: %v", s.Given.Name, s.Given.Err)
		return
	}
	var err error
	if s.Inlined != nil {
		v.InBinary, err = NewWitnessOf(s.Given.Profile, SightOfBinary(s.Inlined, s.Starts), s.Controls...)
	}
	if err == nil && s.Running != nil {
		v.InProfile, err = NewWitnessOf(s.Given.Profile, SightOfProfile(s.Running), s.Controls...)
	}
	if err != nil {
		v.note("%s: %v", s.Given.Name, err)
	}
}

// own looks for what only PGO can have inlined. It speaks for the profile that is given only where it was hot in that.
func (v *Verification) own() {
	s := v.Subject
	others := s.ControlProfiles
	if s.Given == nil || s.Given.Profile == nil {
		v.Own = ownOf(s.Running, others)
		return
	}
	all := ownOf(s.Running, append([]*profile.Profile{s.Given.Profile}, others...))
	if v.Own = hotCallees(s.Given.Profile, all); len(v.Own) == 0 && len(all) > 0 {
		v.note("it was built with PGO, but not because of %s: %s", s.Given.Name, ownReason(all))
	}
}

// decide takes the strongest of what was found.
func (v *Verification) decide() {
	found := []*Witness{v.InBinary, v.InProfile}
	if len(v.Own) > 0 {
		found = append(found, &Witness{Effect: TookEffect, Reason: ownReason(v.Own)})
	}
	for _, w := range found {
		if w != nil && (v.Reason == "" || w.Effect > v.Effect) {
			v.Effect, v.Reason = w.Effect, w.Reason
		}
	}
	if v.Effect == NoSign && len(v.Subject.Controls) == 0 {
		v.Hint = "if the profile was itself taken of a build with PGO, its calls were inlined already: name a build without PGO, or a profile of one, with --control"
	}
	if v.Reason == "" {
		v.lacking()
	}
}

// lacking says what is missing.
func (v *Verification) lacking() {
	s := v.Subject
	switch {
	case s.Given == nil && s.Build != nil && s.Build.PGO != "":
		v.Reason = fmt.Sprintf("it was built with %s; without the profile the effect cannot be checked", s.Build.PGO)
		v.Hint = "name it with --profile"
	case s.Given == nil && s.Running != nil:
		v.Reason = "nothing in it is inlined that only PGO could have inlined; this proves nothing without the profile it was built with"
		v.Hint = "name it with --profile"
	case s.Given == nil:
		v.Reason = "it does not record how it was built"
		v.Hint = "name the profile with --profile, and a CPU profile of the program, or its address, with --running"
	case s.Given.Profile == nil:
		v.Reason = fmt.Sprintf("the profile cannot be read: %v", s.Given.Err)
	case s.InlinedErr != nil:
		v.Reason = fmt.Sprintf("the binary does not record what is inlined in it: %v", s.InlinedErr)
		v.Hint = "name a CPU profile of the program, or its address, with --running"
	default:
		v.Reason = "the profile cannot be compared"
		if _, err := EdgesOf(s.Given.Profile); err != nil && !errors.Is(err, errEmptyProfile) {
			v.Reason = fmt.Sprintf("the profile cannot be compared: %v", err)
		}
	}
}
