package profile_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	pprof "github.com/google/pprof/profile"

	"kitescope/internal/hints"
	"kitescope/profile"
)

// fixtures returns all profiles in testdata that google's reader accepts.
func fixtures(t testing.TB) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	root := filepath.Join("..", "testdata", "profiles")
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".pb.gz") {
			return err
		}
		data, err := os.ReadFile(path)
		found[filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))] = data
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 10 {
		t.Fatalf("only %d profiles in %s", len(found), root)
	}
	return found
}

func decode(data []byte) (*profile.Profile, error) {
	return profile.Decode(context.Background(), bytes.NewReader(data), profile.Limits{})
}

func mustDecode(t testing.TB, data []byte) *profile.Profile {
	t.Helper()
	p, err := decode(data)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func encode(t testing.TB, p *profile.Profile) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := p.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// meaning is the content of a profile without its numbering, for comparison with google's reader.
type meaning struct {
	Types                        []profile.ValueType
	PeriodType                   profile.ValueType
	Default, Doc, Drop, Keep     string
	Period, TimeNanos, Durations int64
	Comments                     []string
	Mappings                     []profile.Mapping
	Functions                    []profile.Function
	Samples                      []sampleMeaning
	Locations                    []locationMeaning // including those without samples
}

type sampleMeaning struct {
	Stack  []int // indexes of Locations
	Values []int64
	Labels map[string][]profile.Label // texts and numbers keep their order for each key
}

type locationMeaning struct {
	Mapping int
	Address uint64
	Folded  bool
	Lines   []profile.Line
}

func meaningOf(p *profile.Profile) meaning {
	m := meaning{
		Types: p.Types, PeriodType: p.PeriodType, Default: p.DefaultType, Doc: p.DocURL, Drop: p.DropFrames,
		Keep:   p.KeepFrames,
		Period: p.Period, Durations: int64(p.Duration), Comments: p.Comments, Mappings: p.Mappings,
		Functions: p.Functions,
	}
	if !p.Time.IsZero() {
		m.TimeNanos = p.Time.UnixNano()
	}
	for i := range p.Locations {
		l := &p.Locations[i]
		m.Locations = append(m.Locations, locationMeaning{int(l.Mapping), l.Address, l.Folded, p.LinesOf(uint32(i))})
	}
	for i := range p.Len() {
		s := sampleMeaning{Values: p.Values[i*len(p.Types):][:len(p.Types)], Labels: map[string][]profile.Label{}}
		for _, l := range p.Stack(i) {
			s.Stack = append(s.Stack, int(l))
		}
		for _, l := range p.Labels(i) {
			s.Labels[l.Key] = append(s.Labels[l.Key], l)
		}
		m.Samples = append(m.Samples, s)
	}
	return m
}

func meaningOfGoogle(p *pprof.Profile) meaning {
	m := meaning{
		Default: p.DefaultSampleType, Doc: p.DocURL, Drop: p.DropFrames, Keep: p.KeepFrames,
		Period: p.Period, TimeNanos: p.TimeNanos, Durations: p.DurationNanos, Comments: p.Comments,
	}
	if p.PeriodType != nil {
		m.PeriodType = profile.ValueType{Type: p.PeriodType.Type, Unit: p.PeriodType.Unit}
	}
	for _, t := range p.SampleType {
		m.Types = append(m.Types, profile.ValueType{Type: t.Type, Unit: t.Unit})
	}
	mappingAt, functionAt, locationAt := map[*pprof.Mapping]int{}, map[*pprof.Function]int{}, map[*pprof.Location]int{}
	for i, x := range p.Mapping {
		mappingAt[x] = i
		m.Mappings = append(m.Mappings, profile.Mapping{
			Start: x.Start, Limit: x.Limit, Offset: x.Offset, File: x.File, BuildID: x.BuildID,
			HasFunctions: x.HasFunctions, HasFilenames: x.HasFilenames, HasLineNumbers: x.HasLineNumbers,
			HasInlineFrames: x.HasInlineFrames,
		})
	}
	for i, x := range p.Function {
		functionAt[x] = i
		m.Functions = append(m.Functions, profile.Function{
			Name: x.Name, SystemName: x.SystemName, File: x.Filename, StartLine: x.StartLine,
		})
	}
	for i, x := range p.Location {
		locationAt[x] = i
		l := locationMeaning{profile.NoMapping, x.Address, x.IsFolded, nil}
		if x.Mapping != nil {
			l.Mapping = mappingAt[x.Mapping]
		}
		for _, line := range x.Line {
			l.Lines = append(l.Lines, profile.Line{
				Function: uint32(functionAt[line.Function]), Line: line.Line, Column: line.Column,
			})
		}
		m.Locations = append(m.Locations, l)
	}
	for _, x := range p.Sample {
		m.Samples = append(m.Samples, sampleOfGoogle(x, locationAt))
	}
	return m
}

func sampleOfGoogle(x *pprof.Sample, locationAt map[*pprof.Location]int) sampleMeaning {
	s := sampleMeaning{Values: x.Value, Labels: map[string][]profile.Label{}}
	for _, l := range x.Location {
		s.Stack = append(s.Stack, locationAt[l])
	}
	for k, texts := range x.Label {
		for _, v := range texts {
			s.Labels[k] = append(s.Labels[k], profile.Label{Key: k, Str: v})
		}
	}
	for k, numbers := range x.NumLabel {
		for i, v := range numbers {
			l := profile.Label{Key: k, Num: v, IsNum: true}
			if units := x.NumUnit[k]; len(units) > 0 {
				l.Unit = units[i]
			}
			s.Labels[k] = append(s.Labels[k], l)
		}
	}
	return s
}

// difference returns the difference between two meanings, or "" if they are equal. Nil and empty are equal.
func difference(a, b meaning) string {
	if len(a.Samples) == len(b.Samples) && fmt.Sprint(a) == fmt.Sprint(b) { // cmp takes a second for a large profile
		return ""
	}
	return cmp.Diff(a, b, cmpopts.EquateEmpty())
}

func gunzip(data []byte) ([]byte, error) {
	zip, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(zip)
}

// parseGoogle reads data as google's profile.ParseData does, except for legacy formats.
func parseGoogle(data []byte) (*pprof.Profile, error) {
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		var err error
		if data, err = gunzip(data); err != nil {
			return nil, err
		}
	}
	p, err := pprof.ParseUncompressed(data)
	if err != nil {
		return nil, err
	}
	return p, p.CheckValid()
}

// generate returns a profile, in google's types, that uses every feature of the format.
func generate(seed uint64, samples int) *pprof.Profile {
	r := rand.New(rand.NewPCG(seed, 1))
	word := func(n int) string {
		return []string{
			"", "main.run", "a/b.go", "cpu", "ns", "x y", "世界", "\x00\xff", "[kernel.kallsyms]_stext", "b1d",
		}[r.IntN(10)] + strings.Repeat("z", r.IntN(n))
	}
	p := &pprof.Profile{
		DefaultSampleType: word(3), DocURL: word(3), DropFrames: word(3), KeepFrames: word(3),
		TimeNanos: r.Int64N(3) * 1e18, DurationNanos: r.Int64N(1e12),
		Period: r.Int64() - r.Int64(), PeriodType: &pprof.ValueType{Type: word(3), Unit: word(3)},
		Comments: []string{word(2), word(2), word(2), ""}[:r.IntN(5)],
	}
	sparse := r.IntN(3)
	id := func(i int) uint64 {
		switch sparse {
		case 0:
			return uint64(i) + 1
		case 1:
			return uint64(i)*0x9e3779b97f4a7c15 + 7 // spread over all 64 bits
		}
		return uint64(i)*3 + 5
	}
	for range 1 + r.IntN(4) {
		p.SampleType = append(p.SampleType, &pprof.ValueType{Type: word(4), Unit: word(4)})
	}
	for i := range r.IntN(5) {
		p.Mapping = append(p.Mapping, &pprof.Mapping{
			ID: id(i), Start: r.Uint64(), Limit: r.Uint64(), Offset: r.Uint64N(3), File: word(3), BuildID: word(3),
			HasFunctions: r.IntN(2) == 0, HasFilenames: r.IntN(2) == 0, HasLineNumbers: r.IntN(2) == 0,
			HasInlineFrames: r.IntN(2) == 0,
		})
	}
	for i := range 1 + r.IntN(50) {
		p.Function = append(p.Function, &pprof.Function{
			ID: id(i), Name: word(9), SystemName: word(9), Filename: word(9), StartLine: r.Int64N(9) - 3,
		})
	}
	for i := range 1 + r.IntN(300) {
		l := &pprof.Location{ID: id(i), Address: r.Uint64() >> r.IntN(64), IsFolded: r.IntN(9) == 0}
		if len(p.Mapping) > 0 && r.IntN(5) > 0 {
			l.Mapping = p.Mapping[r.IntN(len(p.Mapping))]
		}
		for range r.IntN(4) {
			l.Line = append(l.Line, pprof.Line{
				Function: p.Function[r.IntN(len(p.Function))], Line: r.Int64N(1000) - 3, Column: r.Int64N(4),
			})
		}
		p.Location = append(p.Location, l)
	}
	for range samples {
		p.Sample = append(p.Sample, generateSample(r, p, word))
	}
	return p
}

func generateSample(r *rand.Rand, p *pprof.Profile, word func(int) string) *pprof.Sample {
	s := &pprof.Sample{}
	for range p.SampleType {
		s.Value = append(s.Value, (r.Int64()-r.Int64())>>r.IntN(63))
	}
	for range r.IntN(40) {
		s.Location = append(s.Location, p.Location[r.IntN(len(p.Location))])
	}
	switch r.IntN(4) {
	case 0:
		s.Label = map[string][]string{"node": {word(2) + "n"}, "k": []string{"v", "w"}[:1+r.IntN(2)]}
	case 1:
		s.NumLabel = map[string][]int64{"bytes": {r.Int64N(3) + 1, -5}, "pid": {1}}
		s.NumUnit = map[string][]string{"bytes": {"bytes", "kb"}}
	}
	return s
}

func marshalGoogle(t testing.TB, p *pprof.Profile) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestDecodeMatchesGoogle(t *testing.T) {
	inputs := fixtures(t)
	for seed := range uint64(20) {
		inputs["generated "+time.Duration(seed).String()] = marshalGoogle(t, generate(seed, int(seed)*7))
	}
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		t.Run(name, func(t *testing.T) {
			want, err := parseGoogle(inputs[name])
			if err != nil {
				t.Fatal(err)
			}
			plain, err := gunzip(inputs[name])
			if err != nil {
				t.Fatal(err)
			}
			for form, data := range map[string][]byte{"compressed": inputs[name], "plain": plain} {
				p, err := profile.Decode(context.Background(), io.MultiReader(bytes.NewReader(data)), profile.Limits{})
				if err != nil {
					t.Fatalf("%s: %v", form, err)
				}
				if diff := difference(meaningOfGoogle(want), meaningOf(p)); diff != "" {
					t.Errorf("%s: google's reader (-) and ours (+) differ:\n%s", form, diff)
				}
			}
		})
	}
}

func TestEncodeRoundTrip(t *testing.T) {
	inputs := fixtures(t)
	for seed := range uint64(20) {
		inputs["generated "+time.Duration(seed).String()] = marshalGoogle(t, generate(seed, int(seed)*7))
	}
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		t.Run(name, func(t *testing.T) {
			p := mustDecode(t, inputs[name])
			data := encode(t, p)
			if diff := difference(meaningOf(p), meaningOf(mustDecode(t, data))); diff != "" {
				t.Errorf("decoded again:\n%s", diff)
			}
			theirs, err := parseGoogle(data)
			if err != nil {
				t.Fatalf("google's reader: %v", err)
			}
			if diff := difference(meaningOf(p), meaningOfGoogle(theirs)); diff != "" {
				t.Errorf("as google's reader has it:\n%s", diff)
			}
		})
	}
}

// hintOf returns the hint of an error.
func hintOf(err error) string {
	var h *hints.Error
	if !errors.As(err, &h) {
		return ""
	}
	return h.Hint()
}
