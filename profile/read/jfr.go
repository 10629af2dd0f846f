package read

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"kitescope/internal/hints"
	"kitescope/profile"
)

// The stack sample events of a Java Flight Recording: samples of threads that ran Java code, and of threads in
// native code, where most wait.
const (
	executionSample = "jdk.ExecutionSample"
	nativeSample    = "jdk.NativeMethodSample"
)

// errJFR is the error for a binary recording. Its format is not specified and differs between versions of Java.
var errJFR = hints.Errorf("print it and read that: jfr print --json --stack-depth 2048 --events "+executionSample+","+
	nativeSample+" FILE > FILE.json",
	"it is a Java Flight Recording")

// jfrEvent holds the fields of an event that are read, as `jfr print --json` prints them.
type jfrEvent struct {
	Type   string `json:"type"`
	Values struct {
		StartTime string `json:"startTime"`
		State     string `json:"state"`
		Stack     *struct {
			Truncated bool       `json:"truncated"`
			Frames    []jfrFrame `json:"frames"`
		} `json:"stackTrace"`
	} `json:"values"`
}

type jfrFrame struct {
	Method *struct {
		Class *struct {
			Name string `json:"name"`
		} `json:"type"`
		Name       string `json:"name"`
		Descriptor string `json:"descriptor"`
	} `json:"method"`
	Line int64  `json:"lineNumber"`
	Type string `json:"type"`
}

// jfrSamples builds a profile from events.
type jfrSamples struct {
	b           *profile.Builder
	jit         int32
	first, last time.Time
	stack       []uint32
	samples     int64
	bare        int64
	truncated   int64
	waiting     int64
}

// readJFRPrint reads the output of `jfr print --json`: {"recording": {"events": [...]}}.
func readJFRPrint(ctx context.Context, r io.Reader, o *Options) (*profile.Profile, error) {
	s := jfrSamples{b: newBuilder(o, samplesType, profile.ValueType{Type: "native samples", Unit: "count"})}
	// This mapping lets classification recognize code that was not compiled from C or Go.
	s.jit = s.b.Mapping(profile.Mapping{File: "[jit]", HasFunctions: true, HasLineNumbers: true})
	in := &eventReader{r: ctxReader{ctx, r}, left: maxEventSize}
	decoder := json.NewDecoder(in)
	depth := 0
	step := func() (json.Token, error) {
		t, err := decoder.Token()
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		return t, err
	}
	for {
		t, err := step()
		if err != nil {
			return nil, jsonError(err)
		}
		if t == json.Delim('[') {
			break
		}
	}
	for decoder.More() {
		in.left = maxEventSize
		var e jfrEvent
		if err := decoder.Decode(&e); err != nil {
			return nil, jsonError(err)
		}
		if err := s.event(&e); err != nil {
			return nil, err
		}
	}
	for depth > 0 {
		in.left = maxEventSize
		if _, err := step(); err != nil {
			return nil, jsonError(err)
		}
	}
	if decoder.More() {
		return nil, errMoreJSON
	}
	return s.finish()
}

// maxEventSize is the maximum size of an event in bytes.
const maxEventSize = 64 << 20

// eventReader is a reader that fails if an event has more than maxEventSize bytes.
type eventReader struct {
	r    io.Reader
	left int64
}

func (p *eventReader) Read(b []byte) (int, error) {
	if p.left <= 0 {
		return 0, fmt.Errorf("one value of the JSON is larger than %d bytes", maxEventSize)
	}
	n, err := p.r.Read(b[:min(int64(len(b)), p.left)])
	p.left -= int64(n)
	return n, err
}

func (s *jfrSamples) finish() (*profile.Profile, error) {
	if s.samples == 0 {
		return nil,
			hints.Errorf("record with: java -XX:StartFlightRecording=settings=profile,filename=FILE.jfr",
				"it has no %s", executionSample)
	}
	if s.bare > 0 {
		s.b.Note("samples without a stack, shown as "+unknown, s.bare)
	}
	if s.truncated > 0 {
		s.b.Note("stacks that Java cut at its root, for depth (-XX:FlightRecorderOptions=stackdepth=)", s.truncated)
	}
	if s.waiting > 0 {
		s.b.Note("samples of waiting or sleeping threads: the recording is of wall-clock time, not CPU time", s.waiting)
	}
	p := s.b.Meta()
	p.Origin.Format, p.DefaultType = "JFR", samplesType.Type
	if !s.first.IsZero() {
		p.Time, p.Duration = s.first, s.last.Sub(s.first)
	}
	return s.b.Profile(), nil
}

// event adds an event to the profile. It ignores events that are not samples.
func (s *jfrSamples) event(e *jfrEvent) error {
	values := []int64{1, 0}
	switch e.Type {
	case executionSample:
		// In its wall-clock mode async-profiler also samples waiting threads.
		if e.Values.State != "" && e.Values.State != "STATE_RUNNABLE" && e.Values.State != "STATE_DEFAULT" {
			s.waiting++
		}
	case nativeSample:
		values = []int64{0, 1}
	default:
		return nil
	}
	s.samples++
	if at, err := time.Parse(time.RFC3339Nano, e.Values.StartTime); err == nil {
		if s.first.IsZero() || at.Before(s.first) {
			s.first = at
		}
		if at.After(s.last) {
			s.last = at
		}
	}
	s.stack = s.stack[:0]
	if e.Values.Stack != nil {
		for i := range e.Values.Stack.Frames {
			s.stack = append(s.stack, s.frame(&e.Values.Stack.Frames[i]))
		}
		if e.Values.Stack.Truncated {
			s.truncated++
		}
	}
	if len(s.stack) == 0 {
		s.bare++
		s.stack = append(s.stack, s.b.Location(profile.NoMapping, 0))
	}
	return s.b.Sample(s.stack, values)
}

// frame returns the location of a frame. async-profiler also emits kernel and library frames, as methods
// without a class.
func (s *jfrSamples) frame(f *jfrFrame) uint32 {
	if f.Method == nil || f.Method.Name == "" {
		return s.b.Location(profile.NoMapping, 0)
	}
	name, mapping := f.Method.Name, s.jit
	system := name
	switch {
	case f.Method.Class != nil && f.Method.Class.Name != "":
		name = strings.ReplaceAll(f.Method.Class.Name, "/", ".") + "." + name
		system = name + f.Method.Descriptor
	case f.Type == "Kernel":
		mapping = s.b.Mapping(profile.Mapping{File: kernelFile, HasFunctions: true})
	default:
		mapping = profile.NoMapping
	}
	function := s.b.Function(profile.Function{Name: name, SystemName: system})
	return s.b.Location(mapping, 0, profile.Line{Function: function, Line: max(0, f.Line)})
}
