package read

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"kitescope/internal/hints"
	"kitescope/profile"
)

// The events of a Java Flight Recording that are samples of stacks: of threads that ran Java code, and
// of threads that were in native code, which mostly wait there. Those of allocations are in jfralloc.go.
const (
	executionSample = "jdk.ExecutionSample"
	nativeSample    = "jdk.NativeMethodSample"
)

// jfrArguments are those of the command that prints a recording. It prints 5 frames unless told otherwise.
func jfrArguments(file string) []string {
	return []string{
		"print", "--json", "--stack-depth", "2048", "--events",
		strings.Join([]string{executionSample, nativeSample, allocInBuffer, allocOutside, allocSample}, ","), file,
	}
}

// readJFR reads a Java Flight Recording through the command jfr of a JDK: the format is not
// specified, and differs between versions of Java.
func readJFR(ctx context.Context, path string, r io.Reader, o *Options) (*profile.Profile, error) {
	command := o.JFR
	command = cmp.Or(command, "jfr")
	program, err := exec.LookPath(command)
	if err != nil {
		return nil, hints.Errorf("install a JDK of version 11 or later, or print it where there is one and read that: jfr "+
			strings.Join(jfrArguments("FILE"), " ")+" > FILE.json", "Java Flight Recordings need the command %s, which is not installed", command)
	}
	if path == "" {
		temporary, err := spool(ctx, r)
		if err != nil {
			return nil, err
		}
		defer os.Remove(temporary)
		path = temporary
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	patience := o.patience
	patience = cmp.Or(patience, jfrPatience)
	silence := time.AfterFunc(patience, func() {
		cancel(hints.Errorf("try it alone: jfr summary FILE", "%s has printed nothing for %v", command, patience))
	})
	defer silence.Stop()
	cmd := exec.CommandContext(ctx, program, jfrArguments(path)...)
	cmd.WaitDelay = time.Second
	said := &firstBytes{}
	cmd.Stderr = said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", command, err)
	}
	p, err := readJFRPrint(ctx, &heard{out, silence, patience}, o)
	cause := context.Cause(ctx)
	if err != nil {
		cancel(nil)
	}
	if ended := cmd.Wait(); ended != nil && cause == nil && (err == nil || said.Len() > 0) {
		return nil, hints.Errorf("check whether it is complete: jfr summary FILE", "%s cannot print it: %s", command, said.line(ended))
	}
	if cause != nil {
		return nil, cause
	}
	return p, err
}

// jfrPatience is how long the command may print nothing. It reads all of a large recording before it begins.
const jfrPatience = 5 * time.Minute

// heard puts off the end of patience each time that something is read.
type heard struct {
	r        io.Reader
	silence  *time.Timer
	patience time.Duration
}

func (h *heard) Read(b []byte) (int, error) {
	n, err := h.r.Read(b)
	h.silence.Reset(h.patience)
	return n, err
}

// maxSpooled bounds what a stream writes to the disk.
const maxSpooled = 4 << 30

// spool writes a stream to a file, for the command to read.
func spool(ctx context.Context, r io.Reader) (string, error) {
	f, err := os.CreateTemp("", "*.jfr")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(f, &pieces{r: &limited{r: r, left: maxSpooled, limit: maxSpooled}, stopped: ctx.Err, left: math.MaxInt64})
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// firstBytes keeps the beginning of what a command says.
type firstBytes struct{ bytes.Buffer }

func (f *firstBytes) Write(b []byte) (int, error) {
	if room := 4096 - f.Len(); room > 0 {
		f.Buffer.Write(b[:min(len(b), room)])
	}
	return len(b), nil
}

func (f *firstBytes) line(err error) string {
	for line := range strings.Lines(f.String()) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return err.Error()
}

// jfrEvent is what is wanted of an event, as `jfr print --json` has it.
type jfrEvent struct {
	Type   string `json:"type"`
	Values struct {
		StartTime string     `json:"startTime"`
		Thread    *jfrThread `json:"sampledThread"`
		// Of allocations: who, of what class, the size of the object, of the buffer that was taken for it, and what the
		// event stands for, in bytes.
		Allocating *jfrThread `json:"eventThread"`
		Class      *jfrClass  `json:"objectClass"`
		Size       int64      `json:"allocationSize"`
		Buffer     int64      `json:"tlabSize"`
		Weight     int64      `json:"weight"`
		Stack      *struct {
			Truncated bool       `json:"truncated"`
			Frames    []jfrFrame `json:"frames"`
		} `json:"stackTrace"`
	} `json:"values"`
}

type jfrThread struct {
	Java string `json:"javaName"`
	OS   string `json:"osName"`
}

type jfrClass struct {
	Name string `json:"name"`
}

type jfrFrame struct {
	Method *struct {
		Class      *jfrClass `json:"type"`
		Name       string    `json:"name"`
		Descriptor string    `json:"descriptor"`
	} `json:"method"`
	Line int64  `json:"lineNumber"`
	Type string `json:"type"`
}

// jfrSamples makes a profile of events.
type jfrSamples struct {
	o           *Options
	b           *profile.Builder
	native      int // index of the type of native samples, 0: none yet
	jit         int32
	first, last time.Time
	stack       []uint32
	bare        int64
	truncated   int64
	// threads are samples of what threads ran; buffers and chosen those of allocations, by the events that tell of them.
	threads         int64
	buffers, chosen jfrAlloc
	weightless      int64
}

// readJFRPrint reads what `jfr print --json` printed.
func readJFRPrint(ctx context.Context, r io.Reader, o *Options) (*profile.Profile, error) {
	s := jfrSamples{o: o, b: newBuilder(o, samplesType)}
	// The name by which classification knows code that no compiler of C or Go made.
	s.jit = s.b.Mapping(profile.Mapping{File: "[jit]", HasFunctions: true, HasLineNumbers: true})
	in := newJSONStream(r, ctx.Err)
	err := in.object(func(key string) error {
		if key != "recording" {
			return in.skip()
		}
		return in.object(func(key string) error {
			if key != "events" {
				return in.skip()
			}
			return in.array(func() error {
				var e jfrEvent
				if err := in.piece(&e); err != nil {
					return err
				}
				return s.event(&e)
			})
		})
	})
	if err != nil {
		return nil, err
	}
	if s.threads+s.buffers.n+s.chosen.n == 0 {
		return nil, hints.Errorf("record with: java -XX:StartFlightRecording=settings=profile,filename=FILE.jfr",
			"it has no %s and no allocation", executionSample)
	}
	if s.bare > 0 {
		s.b.Note("samples without a stack, shown as "+unknown, s.bare)
	}
	if s.truncated > 0 {
		s.b.Note("stacks that Java cut at its root, for depth (-XX:FlightRecorderOptions=stackdepth=)", s.truncated)
	}
	p := s.b.Meta()
	p.Origin.Format = "JFR"
	p.DefaultType = samplesType.Type
	if !s.first.IsZero() {
		p.Time, p.Duration = s.first, s.last.Sub(s.first)
	}
	return s.allocated(s.b.Profile()), nil
}

func (s *jfrSamples) event(e *jfrEvent) error {
	kind := 0
	switch e.Type {
	case executionSample:
	case nativeSample:
		if s.native == 0 {
			s.b.AddType(profile.ValueType{Type: "native samples", Unit: "count"}, -1)
			s.native = len(s.b.Meta().Types) - 1
		}
		kind = s.native
	case allocInBuffer, allocOutside, allocSample:
		return s.alloc(e)
	default:
		return nil
	}
	s.threads++
	values := make([]int64, len(s.b.Meta().Types))
	values[kind] = 1
	return s.add(e, values)
}

// add adds the sample of an event.
func (s *jfrSamples) add(e *jfrEvent, values []int64, labels ...profile.Label) error {
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
	return s.b.Sample(s.stack, values, append(labels, s.labels(e)...)...)
}

func (s *jfrSamples) labels(e *jfrEvent) []profile.Label {
	thread := e.Values.Thread
	if thread == nil {
		thread = e.Values.Allocating
	}
	if !s.o.Threads || thread == nil {
		return nil
	}
	name := thread.Java
	if name == "" {
		name = thread.OS
	}
	if name == "" {
		return nil
	}
	return []profile.Label{{Key: profile.ThreadLabel, Str: name}}
}

// frame is the location of a frame. A profiler that is not Java's own, async-profiler, has frames of
// the kernel and of libraries, too, which are methods without a class.
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
