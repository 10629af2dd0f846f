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
	"slices"
	"strings"

	"kitescope/internal/hints"
	"kitescope/profile"
)

// PackOptions are the options of NewPack.
type PackOptions struct {
	// Block are functions that the compiler shall not take for hot, by the linker's name (see Blocked).
	Block []string
	// FoldPreempt counts runtime.asyncPreempt for the function that it interrupted. The calls are then no longer
	// those that Go counts in the profiles as they are.
	FoldPreempt bool
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
	whole, kind, err := mergeForPack(inputs)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s := newStripper(whole.Types[kind], &o)
	if err := s.add(whole, kind); err != nil {
		return nil, fmt.Errorf("pack: %w", err)
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
	if pack.Edges.Total < 0 {
		return nil, errTooLarge
	}
	if pack.Edges.Total == 0 {
		return nil, errNoCall()
	}
	if pack.Bytes, err = encodePack(p); err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	sum := sha256.Sum256(pack.Bytes)
	pack.SHA256 = hex.EncodeToString(sum[:])
	pack.Manifest = newManifest(pack, inputs, &o)
	pack.Notes = packNotes(pack.Manifest)
	return pack, nil
}

func packNotes(m *Manifest) (notes []string) {
	if len(m.GoVersions) > 1 {
		notes = append(notes, "the programs were built with different Go versions: "+strings.Join(m.GoVersions, ", "))
	}
	return notes
}

var cpuTime = profile.ValueType{Type: "cpu", Unit: "nanoseconds"}

// mergeForPack merges profiles, and returns the sample type that is packed: the one that the compiler takes of the merge,
// but CPU time if the profiles were sampled at different rates. Profiles without samples add nothing.
func mergeForPack(inputs []Input) (whole *profile.Profile, kind int, err error) {
	profiles := make([]*profile.Profile, 0, len(inputs))
	for i := range inputs {
		in := &inputs[i]
		if in.Err != nil {
			return nil, 0, fmt.Errorf("pack %s: %w", in.Name, in.Err)
		}
		for _, r := range Refusals(in.Profile) {
			switch r.ID {
			case "no-samples", "no-calls", "all-zero":
			default:
				return nil, 0, fmt.Errorf("pack %s: %w", in.Name, r.err())
			}
		}
		if in.Profile.Len() > 0 {
			profiles = append(profiles, in.Profile)
		}
	}
	if len(profiles) == 0 {
		return nil, 0, errNoCall()
	}
	if whole, err = profile.Merge(profiles, profile.MergeOptions{}); err != nil {
		return nil, 0, fmt.Errorf("pack: %w", err)
	}
	kind = kindOf(whole)
	oneRate := !slices.ContainsFunc(profiles, func(p *profile.Profile) bool { return p.Period != profiles[0].Period })
	if cpu := slices.Index(whole.Types, cpuTime); !oneRate && (cpu >= 0 || kind >= 0 && whole.Types[kind] != cpuTime) {
		kind = cpu
	}
	if kind < 0 {
		return nil, 0, hints.Errorf("take all of them in the same way",
			"pack: the profiles have no CPU time in common, and sample counts of different rates cannot be added up")
	}
	if over, ok := whole.Overflow(); ok && over == kind {
		return nil, 0, errTooLarge
	}
	return whole, kind, nil
}

var errTooLarge = errors.New("pack: the values of these profiles add up to more than a build can count")

func errNoCall() error {
	return hints.Errorf("profile the program under load, for 30 seconds or more",
		"pack: there is no call in any of these profiles: go would take the file, and do nothing with it")
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
