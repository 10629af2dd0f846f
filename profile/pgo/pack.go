package pgo

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"kitescope/internal/hints"
	"kitescope/profile"
)

// Weighting says how much each profile of a pack counts.
type Weighting uint8

// The weightings.
const (
	// WeighEqually gives each profile the same total, so that the busiest process does not decide alone.
	WeighEqually Weighting = iota
	// WeighByCPU takes values as they were sampled: who used more CPU time counts more.
	WeighByCPU
)

var weightingNames = [...]string{"equal", "cpu"}

func (w Weighting) String() string { return weightingNames[w] }

// Weightings are the words of WeightingOf.
func Weightings() []string { return weightingNames[:] }

// WeightingOf reads "equal" or "cpu".
func WeightingOf(word string) (Weighting, bool) {
	for i, name := range weightingNames {
		if word == name {
			return Weighting(i), true
		}
	}
	return 0, false
}

// PackOptions say how profiles become one to build with. The zero value weighs them equally.
type PackOptions struct {
	Weight Weighting
	// Block are functions that the compiler shall not take for hot, by the linker's name (see Blocked).
	Block []string
	// FoldPreempt counts runtime.asyncPreempt for the function that it interrupted. The calls are then no longer
	// those that Go counts in the profiles as they are.
	FoldPreempt bool
	// WholeStacks keeps what the compiler does not read of stacks, for people who look at the pack as a flame graph.
	WholeStacks bool
	// Judgement is of the same profiles, for the Manifest; nil if nobody judged.
	Judgement *Judgement
	// Kitescope is the version of this program, for the Manifest.
	Kitescope string
}

// Pack is a profile to build with.
type Pack struct {
	// Profile is what Bytes hold, and Edges what the compiler counts in it.
	Profile *profile.Profile
	Edges   *Edges
	// Bytes are the file, a pprof profile, and SHA256 their hash in hexadecimal.
	Bytes    []byte
	SHA256   string
	Manifest *Manifest
	// Notes are what a person should know of it.
	Notes []string
}

// FileName is default.pgo, or with the hash in it, which a binary that is built with that file then carries in its
// build information. HashOfName reads it.
func (p *Pack) FileName(withHash bool) string {
	if withHash {
		return "default-" + p.SHA256[:hashLetters] + ".pgo"
	}
	return DefaultName
}

// DefaultName is the file that `go build` takes by itself from the folder of a main package (go.dev/doc/pgo).
const DefaultName = "default.pgo"

// hashLetters are 64 bits of a hash: enough to tell files apart.
const hashLetters = 16

// NewPack merges profiles into one with all that the compiler reads of them, and nothing else: function names, start
// lines and lines of the last two frames of each stack, and one sample type. `go tool preprofile` makes the same of it
// as of the merge of the profiles themselves.
//
// The same profiles give the same bytes, in whatever order they come. A profile that Go refuses or ignores is an error.
func NewPack(ctx context.Context, inputs []Input, o PackOptions) (*Pack, error) {
	if len(inputs) == 0 {
		return nil, errors.New("pack: no profiles")
	}
	shares, kind, err := weigh(inputs, o.Weight)
	if err != nil {
		return nil, err
	}
	s := newStripper(kind, &o)
	for i := range inputs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := s.add(inputs[i].Profile, &shares[i]); err != nil {
			return nil, fmt.Errorf("pack %s: %w", inputs[i].Name, err)
		}
	}
	p, err := s.profile()
	if err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	if p, err = Blocked(p, o.Block...); err != nil {
		return nil, err
	}
	pack := &Pack{Profile: p}
	if pack.Edges, err = EdgesOf(p); err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	if pack.Edges.Total == 0 {
		return nil, hints.Errorf("profile the program under load, for 30 seconds or more",
			"pack: there is no call in any of these profiles: go would take the file, and do nothing with it")
	}
	if pack.Bytes, err = encodePack(p); err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	sum := sha256.Sum256(pack.Bytes)
	pack.SHA256 = hex.EncodeToString(sum[:])
	pack.Manifest = newManifest(pack, inputs, shares, &o)
	pack.Notes = packNotes(pack.Manifest)
	return pack, nil
}

// fewSamples make a profile that counts as much as others, and should not.
const fewSamples = 100

func packNotes(m *Manifest) (notes []string) {
	if len(m.GoVersions) > 1 {
		notes = append(notes, "the programs were built with different Go versions: "+strings.Join(m.GoVersions, ", "))
	}
	if m.Weight != WeighEqually.String() || len(m.Sources) == 1 {
		return notes
	}
	var few []string
	for i := range m.Sources {
		switch s := &m.Sources[i]; {
		case s.Weight == 0:
			notes = append(notes, s.Name+" is empty, and counts nothing")
		case s.Samples != nil && *s.Samples < fewSamples:
			few = append(few, fmt.Sprintf("%s (%d)", s.Name, *s.Samples))
		}
	}
	if len(few) > 0 {
		const most = 5
		shown := strings.Join(few[:min(len(few), most)], ", ")
		if rest := len(few) - most; rest > 0 {
			shown += fmt.Sprintf(" and %d more", rest)
		}
		notes = append(notes, fmt.Sprintf("%d of %d profiles have fewer than %d samples, and count as much as the others: %s; leave them out, or weigh by CPU time",
			len(few), len(m.Sources), fewSamples, shown))
	}
	return notes
}

// encodePack writes a profile as small as it gets: it is kept under version control.
func encodePack(p *profile.Profile) ([]byte, error) {
	var fast, small bytes.Buffer
	if err := p.Encode(&fast); err != nil {
		return nil, err
	}
	from, err := gzip.NewReader(&fast)
	if err != nil {
		return nil, err
	}
	to, err := gzip.NewWriterLevel(&small, gzip.BestCompression) // with no time in its header: equal bytes each time
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(to, from); err != nil { //nolint:gosec // it is what was encoded above
		return nil, err
	}
	err = to.Close()
	return small.Bytes(), err
}
