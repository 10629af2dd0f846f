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
	// Block lists functions that the compiler must not treat as hot, by the linker's names (see Blocked).
	Block []string
	// FoldPreempt attributes runtime.asyncPreempt to the function that it interrupted. The calls then differ from
	// those that Go counts in the original profiles.
	FoldPreempt bool
	// Judgement is the judgement of the same profiles, for the Manifest; nil if they were not judged.
	Judgement *Judgement
	// Kitescope is the version of this program, for the Manifest.
	Kitescope string
}

// Pack is a profile to build with.
type Pack struct {
	// Profile is the decoded content of Bytes. Edges holds the calls that the compiler counts in it.
	Profile *profile.Profile
	Edges   *Edges
	// Bytes is the pack as a pprof file. SHA256 is its hash in hexadecimal.
	Bytes    []byte
	SHA256   string
	Manifest *Manifest
	// Notes are remarks for the user.
	Notes []string
}

// FileName returns default.pgo, or a name that contains the hash. A binary built with the latter has the hash
// in its build information, where HashOfName finds it.
func (p *Pack) FileName(withHash bool) string {
	if withHash {
		return "default-" + p.SHA256[:hashLetters] + ".pgo"
	}
	return DefaultName
}

// DefaultName is the profile that `go build` uses automatically from the folder of a main package (go.dev/doc/pgo).
const DefaultName = "default.pgo"

// hashLetters is the length of a hash in a file name: 64 bits, enough to distinguish files.
const hashLetters = 16

// NewPack merges profiles into one that holds only the data that the compiler reads: the function names, start
// lines and lines of the last two frames of each stack, and one sample type. `go tool preprofile` gives the
// same output for the pack as for the merge of the profiles themselves.
//
// The same profiles give the same bytes in any order. NewPack returns an error if Go refuses a profile, or if
// no profile has a call.
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

// mergeForPack merges profiles and returns the index of the sample type to pack. This is the type that the
// compiler selects, or CPU time if the profiles were sampled at different rates. Profiles without samples are
// skipped.
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
		return nil, 0, hints.Errorf("take all profiles in the same way",
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
		"pack: these profiles have no calls: go would accept the file and ignore it")
}

// encodePack encodes a profile with the best compression, because the file is kept under version control.
func encodePack(p *profile.Profile) ([]byte, error) {
	var fast, small bytes.Buffer
	if err := p.Encode(&fast); err != nil {
		return nil, err
	}
	from, err := gzip.NewReader(&fast)
	if err != nil {
		return nil, err
	}
	// no time in the header, so that equal profiles give equal bytes
	to, err := gzip.NewWriterLevel(&small, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(to, from); err != nil { //nolint:gosec // it is what was encoded above
		return nil, err
	}
	err = to.Close()
	return small.Bytes(), err
}
