package read

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"kitescope/internal/hints"
	"kitescope/profile"
)

// maxScope is the maximum size of a speedscope file in bytes. The whole file is held in memory.
const maxScope = 256 << 20

// scopeFile is a speedscope file (github.com/jlfwong/speedscope src/lib/file-format-spec.ts).
type scopeFile struct {
	Shared struct {
		Frames []struct {
			Name string `json:"name"`
			File string `json:"file"`
			Line int64  `json:"line"`
			Col  int64  `json:"col"`
		} `json:"frames"`
	} `json:"shared"`
	Active   int            `json:"activeProfileIndex"`
	Profiles []scopeProfile `json:"profiles"`
}

// scopeProfile is one profile of a file, usually a thread. It has samples, or events that open and close
// frames.
type scopeProfile struct {
	Type    string      `json:"type"`
	Name    string      `json:"name"`
	Unit    string      `json:"unit"`
	Samples [][]uint32  `json:"samples"`
	Weights []float64   `json:"weights"`
	Events  []scopeStep `json:"events"`
}

type scopeStep struct {
	Type  string  `json:"type"`
	Frame uint32  `json:"frame"`
	At    float64 `json:"at"`
}

// scopeUnits maps units of speedscope to types of pprof and a scale.
var scopeUnits = map[string]struct {
	kind  profile.ValueType
	scale float64
}{
	"nanoseconds":  {profile.ValueType{Type: "time", Unit: "nanoseconds"}, 1},
	"microseconds": {profile.ValueType{Type: "time", Unit: "nanoseconds"}, 1e3},
	"milliseconds": {profile.ValueType{Type: "time", Unit: "nanoseconds"}, 1e6},
	"seconds":      {profile.ValueType{Type: "time", Unit: "nanoseconds"}, 1e9},
	"bytes":        {profile.ValueType{Type: "space", Unit: "bytes"}, 1},
	"none":         {samplesType, 1},
	"":             {samplesType, 1},
}

// speedscope converts the profiles of a file to samples. Each type of unit becomes a sample type.
type speedscope struct {
	b         *profile.Builder
	locations []uint32
	kinds     map[string]int // index of a type by its name
	total     int64
}

func readSpeedscope(ctx context.Context, r io.Reader, o *Options) (*profile.Profile, error) {
	var file scopeFile
	decoder := json.NewDecoder(&limited{r: ctxReader{ctx, r}, left: maxScope, limit: maxScope})
	if err := decoder.Decode(&file); err != nil {
		return nil, jsonError(err)
	}
	if decoder.More() {
		return nil, errMoreJSON
	}
	s := speedscope{b: newBuilder(o), kinds: map[string]int{}}
	for _, f := range file.Shared.Frames {
		at := uint32(0)
		if f.File == "" && f.Line == 0 {
			at = bareFrame(s.b, f.Name)
		} else {
			function := s.b.Function(profile.Function{Name: f.Name, SystemName: f.Name, File: f.File})
			at = s.b.Location(profile.NoMapping, 0, profile.Line{
				Function: function, Line: max(0, f.Line), Column: max(0, f.Col),
			})
		}
		s.locations = append(s.locations, at)
	}
	for i := range file.Profiles {
		if err := s.add(&file.Profiles[i], len(file.Profiles) > 1); err != nil {
			return nil, fmt.Errorf("profile %d: %w", i+1, err)
		}
	}
	p := s.b.Meta()
	if p.Len() == 0 {
		return nil, errors.New("it has no samples")
	}
	if file.Active < 0 || file.Active >= len(file.Profiles) {
		return nil, fmt.Errorf("profile %d is marked as active, but there are %d", file.Active+1, len(file.Profiles))
	}
	p.DefaultType = scopeUnits[file.Profiles[file.Active].Unit].kind.Type
	p.Origin.Format = "speedscope"
	return s.b.Profile(), nil
}

// add adds a profile. If there are several, its samples are labelled with its name.
func (s *speedscope) add(p *scopeProfile, several bool) error {
	unit, ok := scopeUnits[p.Unit]
	if !ok {
		return fmt.Errorf("it is in the unknown unit %.20q", p.Unit)
	}
	kind, ok := s.kinds[unit.kind.Type]
	if !ok {
		kind = len(s.kinds)
		s.kinds[unit.kind.Type] = kind
		s.b.AddType(unit.kind, -1)
	}
	var labels []profile.Label
	if several && p.Name != "" {
		labels = []profile.Label{{Key: profile.ThreadLabel, Str: p.Name}}
	}
	rest := 0.0 // carries fractions of weights over to the next sample
	add := func(stack []uint32, weight float64) error {
		weight = weight*unit.scale + rest
		v := math.Round(weight)
		if math.Abs(v) >= math.MaxInt64 || math.IsNaN(v) {
			return errors.New("a weight is larger than 64 bits can hold")
		}
		rest = weight - v
		var err error
		if s.total, err = addAbs(s.total, int64(v)); err != nil || v == 0 {
			return err
		}
		values := make([]int64, len(s.kinds))
		values[kind] = int64(v)
		leafFirst := make([]uint32, 0, len(stack))
		for _, f := range slices.Backward(stack) {
			if int(f) >= len(s.locations) {
				return fmt.Errorf("a stack has frame %d, but there are %d", f, len(s.locations))
			}
			leafFirst = append(leafFirst, s.locations[f])
		}
		return s.b.Sample(leafFirst, values, labels...)
	}
	switch p.Type {
	case "sampled":
		if len(p.Weights) != len(p.Samples) {
			return fmt.Errorf("it has %d samples and %d weights", len(p.Samples), len(p.Weights))
		}
		for i, stack := range p.Samples {
			if err := add(stack, p.Weights[i]); err != nil {
				return err
			}
		}
		return nil
	case "evented":
		return p.replay(add)
	}
	return fmt.Errorf("it is of the unknown type %.20q", p.Type)
}

// replay calls add with each stack of open frames and its duration.
func (p *scopeProfile) replay(add func(stack []uint32, weight float64) error) error {
	var open []uint32
	for i, e := range p.Events {
		if i > 0 {
			past := e.At - p.Events[i-1].At
			if !(past >= 0) {
				return fmt.Errorf("event %d is earlier than the one before it", i+1)
			}
			if past > 0 && len(open) > 0 {
				if err := add(open, past); err != nil {
					return err
				}
			}
		}
		switch {
		case e.Type == "O" && len(open) < maxDepth:
			open = append(open, e.Frame)
		case e.Type == "O":
			return fmt.Errorf("a stack has more than %d frames", maxDepth)
		case e.Type == "C" && len(open) > 0 && open[len(open)-1] == e.Frame:
			open = open[:len(open)-1]
		default:
			return fmt.Errorf("event %d of type %.20q does not close the innermost open frame", i+1, e.Type)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("%d frames are not closed at its end", len(open))
	}
	return nil
}

// ctxReader is a reader that fails when its context is done.
type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (s ctxReader) Read(b []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(b)
}

var errMoreJSON = hints.Errorf("put each into a file of its own: a file holds one profile",
	"more data follows the JSON")

// jsonError returns a readable error for an error of encoding/json.
func jsonError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the JSON is cut in the middle")
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("the JSON is broken at byte %d: %w", syntax.Offset, err)
	}
	return err
}
