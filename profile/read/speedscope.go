package read

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"kitescope/internal/hints"
	"kitescope/profile"
)

// readSpeedscope reads a file of speedscope (github.com/jlfwong/speedscope
// src/lib/file-format-spec.ts), evented or sampled. Its profiles, mostly threads, become samples with
// a label; each unit becomes a type.
func readSpeedscope(ctx context.Context, r io.Reader, o *Options) (*profile.Profile, error) {
	s := speedscope{o: o, in: newJSONStream(r, ctx.Err), b: newBuilder(o), kinds: map[string]int{}, active: -1}
	err := s.in.object(func(key string) error {
		switch key {
		case "shared":
			return s.shared()
		case "activeProfileIndex":
			return s.in.piece(&s.active)
		case "profiles":
			return s.in.array(s.profile)
		}
		return s.in.skip()
	})
	if err != nil {
		return nil, err
	}
	return s.finish()
}

type speedscope struct {
	o      *Options
	in     *jsonStream
	b      *profile.Builder
	frames []speedscopeFrame
	all    []scopeProfile
	kinds  map[string]int // by unit
	active int
	held   int64 // indexes, weights and names that are held, in fours of bytes
	total  int64
}

type speedscopeFrame struct {
	Name string `json:"name"`
	File string `json:"file"`
	Line int64  `json:"line"`
	Col  int64  `json:"col"`
}

func (s *speedscope) shared() error {
	return s.in.object(func(key string) error {
		if key != "frames" {
			return s.in.skip()
		}
		return s.in.array(func() error {
			var f speedscopeFrame
			if err := s.in.piece(&f); err != nil {
				return err
			}
			s.frames = append(s.frames, f)
			return s.hold(16 + (len(f.Name)+len(f.File))/4)
		})
	})
}

// maxHeld bounds what is held of a file at once.
const maxHeld = 1 << 28

func (s *speedscope) hold(n int) error {
	if s.held += int64(n); s.held > maxHeld {
		return fmt.Errorf("%w: its stacks and frames take more than %d MiB", profile.ErrTooLarge, maxHeld*4>>20)
	}
	return nil
}

// scopeProfile is one of the profiles of a file. Its stacks are of indexes of frames, root first,
// each kept once; frames may be told after it.
type scopeProfile struct {
	kind, name, unit string
	start, end       float64
	ended            bool
	stacks           [][]uint32
	sums             []float64
	order            []uint32 // the stacks of samples
	weights          []float64
	open             []uint32 // of events
	at               float64
	events           int
	index            map[string]uint32
	key              []byte
}

func (s *speedscope) profile() error {
	p := scopeProfile{index: map[string]uint32{}}
	err := s.in.object(func(key string) error {
		switch key {
		case "type":
			return s.in.piece(&p.kind)
		case "name":
			return s.in.piece(&p.name)
		case "unit":
			return s.in.piece(&p.unit)
		case "startValue":
			return s.in.piece(&p.start)
		case "endValue":
			p.ended = true
			return s.in.piece(&p.end)
		case "events":
			return s.in.array(func() error { return s.event(&p) })
		case "samples":
			return s.in.array(func() error { return s.sample(&p) })
		case "weights":
			return s.in.array(func() error {
				var w float64
				if err := s.in.piece(&w); err != nil {
					return err
				}
				p.weights = append(p.weights, w)
				return s.hold(2)
			})
		}
		return s.in.skip()
	})
	if err == nil {
		err = p.close()
	}
	if err != nil {
		return fmt.Errorf("profile %d: %w", len(s.all)+1, err)
	}
	s.all = append(s.all, p)
	return nil
}

// event is {"type": "O", "frame": 3, "at": 14.5}: from at on the frame is on the stack, or with "C" no longer.
func (s *speedscope) event(p *scopeProfile) error {
	var e struct {
		Type  string  `json:"type"`
		Frame uint32  `json:"frame"`
		At    float64 `json:"at"`
	}
	if err := s.in.piece(&e); err != nil {
		return err
	}
	p.events++
	if p.events == 1 {
		p.at = e.At
	}
	if e.At < p.at || math.IsNaN(e.At) {
		return fmt.Errorf("event %d is earlier than the one before it", p.events)
	}
	if err := s.until(p, e.At); err != nil {
		return err
	}
	switch {
	case e.Type == "O" && len(p.open) >= maxDepth:
		return fmt.Errorf("a stack has more than %d frames", maxDepth)
	case e.Type == "O":
		p.open = append(p.open, e.Frame)
	case e.Type == "C" && len(p.open) > 0 && p.open[len(p.open)-1] == e.Frame:
		p.open = p.open[:len(p.open)-1]
	case e.Type == "C":
		return fmt.Errorf("event %d closes frame %d, which is not the innermost open frame", p.events, e.Frame)
	default:
		return fmt.Errorf("event %d is of the unknown type %.20q", p.events, e.Type)
	}
	return nil
}

// until gives the open stack the time up to at.
func (s *speedscope) until(p *scopeProfile, at float64) error {
	if at > p.at && len(p.open) > 0 {
		id, fresh := p.intern(p.open)
		p.sums[id] += at - p.at
		if fresh {
			if err := s.hold(len(p.open) + 8); err != nil {
				return err
			}
		}
	}
	p.at = at
	return nil
}

func (s *speedscope) sample(p *scopeProfile) error {
	var stack []uint32
	if err := s.in.piece(&stack); err != nil {
		return err
	}
	if len(stack) > maxDepth {
		return fmt.Errorf("a stack has more than %d frames", maxDepth)
	}
	id, fresh := p.intern(stack)
	p.order = append(p.order, id)
	if fresh {
		return s.hold(len(stack) + 9)
	}
	return s.hold(1)
}

func (p *scopeProfile) intern(stack []uint32) (id uint32, fresh bool) {
	p.key = p.key[:0]
	for _, f := range stack {
		p.key = binary.LittleEndian.AppendUint32(p.key, f)
	}
	id, ok := p.index[string(p.key)]
	if !ok {
		id = uint32(len(p.stacks))
		p.index[string(p.key)] = id
		p.stacks = append(p.stacks, slices.Clone(stack))
		p.sums = append(p.sums, 0)
	}
	return id, !ok
}

// close adds up, when all keys of the profile were read.
func (p *scopeProfile) close() error {
	p.index = nil
	switch p.kind {
	case "sampled":
		if len(p.weights) != len(p.order) {
			return fmt.Errorf("it has %d samples and %d weights", len(p.order), len(p.weights))
		}
		for i, id := range p.order {
			p.sums[id] += p.weights[i]
		}
		p.order, p.weights = nil, nil
	case "evented":
		if len(p.open) > 0 {
			return fmt.Errorf("%d frames are not closed at its end", len(p.open))
		}
	default:
		return fmt.Errorf("it is of the unknown type %.20q", p.kind)
	}
	return nil
}

// scopeUnits are the units of speedscope in those of pprof.
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

func (s *speedscope) finish() (*profile.Profile, error) {
	if err := s.side(); err != nil {
		return nil, err
	}
	locations := make([]uint32, len(s.frames))
	for i, f := range s.frames {
		locations[i] = s.location(&f)
	}
	for i := range s.all {
		if err := s.add(&s.all[i], locations); err != nil {
			return nil, fmt.Errorf("profile %d: %w", i+1, err)
		}
	}
	p := s.b.Meta()
	if p.Len() == 0 {
		return nil, errors.New("there is no sample in it")
	}
	if s.active >= 0 && s.active < len(s.all) {
		p.DefaultType = scopeUnits[s.all[s.active].unit].kind.Type
	}
	p.Origin.Format = "speedscope"
	return s.b.Profile(), nil
}

// side leaves one of two profiles that are a difference (package render: FlameSpeedscope). Added up they would be nothing
// that ever was.
func (s *speedscope) side() error {
	if len(s.all) != 2 || s.all[1].name != baseOf+s.all[0].name {
		return nil
	}
	switch s.o.Column {
	case 1:
		s.all = s.all[1:]
	case 2:
		s.all = s.all[:1]
	default:
		return hints.Errorf(columnHint, "it is the difference of two profiles")
	}
	return nil
}

// baseOf is what the name of a difference's base begins with.
const baseOf = "base of "

func (s *speedscope) location(f *speedscopeFrame) uint32 {
	if f.File == "" && f.Line == 0 {
		return bareFrame(s.b, f.Name)
	}
	function := s.b.Function(profile.Function{Name: f.Name, SystemName: f.Name, File: f.File})
	return s.b.Location(profile.NoMapping, 0, profile.Line{Function: function, Line: max(0, f.Line), Column: max(0, f.Col)})
}

func (s *speedscope) add(p *scopeProfile, locations []uint32) error {
	unit, ok := scopeUnits[p.unit]
	if !ok {
		return fmt.Errorf("it is in the unknown unit %.20q", p.unit)
	}
	kind, ok := s.kinds[unit.kind.Type]
	if !ok {
		kind = len(s.kinds)
		s.kinds[unit.kind.Type] = kind
		s.b.AddType(unit.kind, -1)
	}
	var labels []profile.Label
	if len(s.all) > 1 && p.name != "" {
		labels = []profile.Label{{Key: profile.ThreadLabel, Str: p.name}}
	}
	values := make([]int64, len(s.kinds))
	rounded := int64(0)
	for i, stack := range p.stacks {
		v := math.Round(p.sums[i] * unit.scale)
		if math.Abs(v) >= math.MaxInt64 || math.IsNaN(v) {
			return errors.New("a weight is larger than 64 bits can hold")
		}
		if v == 0 && p.sums[i] != 0 {
			rounded++
		}
		var err error
		if s.total, err = plus(s.total, int64(v)); err != nil {
			return err
		}
		values[kind] = int64(v)
		leafFirst := make([]uint32, len(stack))
		for j, f := range stack {
			if int(f) >= len(locations) {
				return fmt.Errorf("a stack has frame %d, but there are %d", f, len(locations))
			}
			leafFirst[len(stack)-1-j] = locations[f]
		}
		if err := s.b.Sample(leafFirst, values, labels...); err != nil {
			return err
		}
	}
	if rounded > 0 {
		s.b.Note("stacks whose weight is less than a half, and rounded to nothing", rounded)
	}
	return nil
}
