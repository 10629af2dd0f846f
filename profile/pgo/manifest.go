package pgo

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"kitescope/internal/hints"
	"kitescope/profile"
)

// Format and version of manifests.
const (
	// ManifestFormat is the "format" of every manifest.
	ManifestFormat = "kitescope-pgo"
	// ManifestVersion is the version of written manifests, and the newest version that is read. New fields do
	// not require a new version.
	ManifestVersion = 1

	// maxManifest limits the size of a manifest in bytes. A source needs half a kilobyte.
	maxManifest = 16 << 20
)

// ManifestName returns the name of the manifest next to a pack, e.g. default.pgo.json.
func ManifestName(pack string) string { return pack + ".json" }

// Manifest describes the sources of a pack. It has no timestamp, so the same profiles give the same bytes.
type Manifest struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Kitescope is the version of kitescope that wrote the manifest.
	Kitescope string `json:"kitescope,omitempty"`
	// File is the pack's name, Bytes its size and SHA256 its hash.
	File   string `json:"file"`
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`

	// SampleType is the unit of all weights, e.g. "cpu/nanoseconds".
	SampleType  string   `json:"sample_type"`
	Block       []string `json:"block,omitempty"`
	FoldPreempt bool     `json:"fold_preempt,omitempty"`

	// Calls is the number of distinct calls, HotCalls the number that the compiler treats as hot, and CallWeight
	// the total weight.
	Calls      int   `json:"calls"`
	HotCalls   int   `json:"hot_calls"`
	CallWeight int64 `json:"call_weight"`

	// Nodes, GoVersions and BuildIDs are the known values of the sources, sorted and without duplicates.
	Nodes      []string         `json:"nodes,omitempty"`
	GoVersions []string         `json:"go_versions,omitempty"`
	BuildIDs   []string         `json:"build_ids,omitempty"`
	Sources    []ManifestSource `json:"sources"`
	// Judgement is nil if the sources were not judged.
	Judgement *ManifestJudgement `json:"judgement,omitempty"`
}

// ManifestSource describes one profile of a pack.
type ManifestSource struct {
	// Name is the file or the request URL, without credentials.
	Name   string `json:"name"`
	Node   string `json:"node,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
	// Started and Seconds are the window of the profile, by the clock of the process.
	Started time.Time `json:"started,omitzero"`
	Seconds float64   `json:"seconds,omitempty"`
	// Samples is the number of samples, nil if unknown. CPUSeconds is their CPU time.
	Samples    *int64   `json:"samples,omitempty"`
	CPUSeconds *float64 `json:"cpu_seconds,omitempty"`
	GoVersion  string   `json:"go_version,omitempty"`
	BuildID    string   `json:"build_id,omitempty"`
	// Weight is the total weight of the source's samples in the pack.
	Weight int64 `json:"weight"`
}

// ManifestJudgement is the judgement of all sources together.
type ManifestJudgement struct {
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
	// Refusals and Cautions are the IDs of the objections to a build with the profiles.
	Refusals []string `json:"refusals,omitempty"`
	Cautions []string `json:"cautions,omitempty"`
	Samples  *int64   `json:"samples,omitempty"`
	// GoShare, NativeShare and Ceiling are shares of 1.
	GoShare     float64 `json:"go_share"`
	NativeShare float64 `json:"native_share"`
	Ceiling     float64 `json:"ceiling"`
}

func newManifest(p *Pack, inputs []Input, o *PackOptions) *Manifest {
	hot, _ := p.Edges.Hot(HotPercent)
	m := &Manifest{
		Format: ManifestFormat, Version: ManifestVersion, Kitescope: o.Kitescope,
		File: DefaultName, Bytes: len(p.Bytes), SHA256: p.SHA256,
		SampleType: p.Profile.Types[0].String(), Block: o.Block, FoldPreempt: o.FoldPreempt,
		Calls: len(p.Edges.ByWeight), HotCalls: len(hot), CallWeight: p.Edges.Total,
	}
	for i := range inputs {
		s := newManifestSource(&inputs[i], p.Profile.Types[0])
		m.Sources = append(m.Sources, s)
		m.Nodes, m.GoVersions, m.BuildIDs = distinct(m.Nodes, s.Node), distinct(m.GoVersions, s.GoVersion),
			distinct(m.BuildIDs, s.BuildID)
	}
	if o.Judgement != nil {
		m.Judgement = newManifestJudgement(o.Judgement)
	}
	return m
}

// seconds returns d in seconds, rounded to the millisecond.
func seconds(d time.Duration) float64 {
	return float64(d.Round(time.Millisecond).Milliseconds()) / 1000
}

// distinct inserts a word into a sorted list unless it is empty or already present.
func distinct(list []string, word string) []string {
	at, found := slices.BinarySearch(list, word)
	if word == "" || found {
		return list
	}
	return slices.Insert(list, at, word)
}

func newManifestSource(in *Input, packed profile.ValueType) ManifestSource {
	p := in.Profile
	s := ManifestSource{
		Name: in.Name, Node: in.Node, SHA256: in.SHA256, Started: p.Time, Seconds: seconds(p.Duration),
		GoVersion: in.GoVersion, BuildID: in.BuildID,
	}
	if kind := slices.Index(p.Types, packed); kind >= 0 {
		s.Weight = p.Total(kind)
		if _, n := p.Events(kind); n >= 0 && p.Len() > 0 {
			s.Samples = &n
		}
	}
	if slices.Contains(p.Types, cpuTime) {
		used := seconds(cpuOf(p))
		s.CPUSeconds = &used
	}
	return s
}

func newManifestJudgement(j *Judgement) *ManifestJudgement {
	m := &ManifestJudgement{
		Verdict: j.Verdict.String(), Reason: j.Reason,
		GoShare: j.Reach.Total, NativeShare: j.Reach.Native, Ceiling: j.Reach.Ceiling,
	}
	for _, r := range j.Refusals {
		m.Refusals = append(m.Refusals, r.ID)
	}
	for _, r := range j.Cautions {
		m.Cautions = append(m.Cautions, r.ID)
	}
	if j.Events >= 0 {
		m.Samples = &j.Events
	}
	return m
}

// WriteTo writes the manifest as JSON. It implements io.WriterTo.
func (m *Manifest) WriteTo(w io.Writer) (int64, error) {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return 0, err
	}
	n, err := w.Write(append(text, '\n'))
	return int64(n), err
}

// ReadManifest parses a manifest of this version or an older one. It returns an error if the input is larger than
// 16 MiB.
func ReadManifest(r io.Reader) (*Manifest, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxManifest+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxManifest {
		return nil, fmt.Errorf("the manifest of a pack is larger than %d MB", maxManifest>>20)
	}
	m := new(Manifest)
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("not a pack manifest: %w", err)
	}
	if m.Format != ManifestFormat {
		return nil, errors.New("not a pack manifest: its format is not " + ManifestFormat)
	}
	if m.Version > ManifestVersion {
		return nil, hints.Errorf("use a newer kitescope", "the manifest has version %d, this program reads %d",
			m.Version, ManifestVersion)
	}
	return m, nil
}

// HashOfName returns the hash prefix in a file name that FileName returned, e.g. default-1a2b3c4d5e6f7a8b.pgo, and
// "" for all other names. Dates and revisions in other names are not hashes.
func HashOfName(file string) string {
	hash, isOurs := strings.CutPrefix(baseName(file), "default-")
	hash, isPack := strings.CutSuffix(hash, ".pgo")
	if !isOurs || !isPack || len(hash) != hashLetters || strings.Trim(hash, "0123456789abcdef") != "" {
		return ""
	}
	return hash
}
