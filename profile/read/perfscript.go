package read

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"kitescope/internal/hints"
	"kitescope/profile"
)

// readPerfScript reads the output of `perf script`: for each sample a header line with the thread and the time,
// and a line for each frame, leaf first, up to an empty line. Without call chains the only frame is on the
// header line. Frames are indented, unless pasting removed the indentation. weights.go maps events to value
// types. Lines of records other than samples, of source code and of `perf buildid-list` are skipped.
func readPerfScript(ctx context.Context, r io.Reader, o *Options) (*profile.Profile, error) {
	s := newPerfScript(o)
	s.in = newLines(ctx, r)
	if err := s.in.each(s.line); err != nil {
		return nil, err
	}
	if err := s.flush(); err != nil {
		return nil, fmt.Errorf("line %d: %w", cmp.Or(s.in.errLine, s.in.number), err)
	}
	return s.finish()
}

const scriptHint = "print it with: perf script -i perf.data > FILE.txt; from pasted text, remove lines that are not " +
	"samples"

// sourceLine matches a line that -F srcline prints.
var sourceLine = profile.NewPattern(`^  \S.*(?::\d+|\+\d+|\[[0-9a-f]+\])(?: \([^()]*\))*$`)

// pastedFrame matches a frame without indentation.
var pastedFrame = profile.NewPattern(`^ {0,3}[0-9a-f]{4,16} \S.* \(.*\)$`)

// dumpLine matches a line of a namespaces record or of the output of a BPF program.
var dumpLine = profile.NewPattern(
	`^\t\t[\[ ]\d+/\w+: \d+/0x[0-9a-f]|^ {6}BPF (?:output|string):|^ {17} [0-9a-f]{4}:(?: [0-9a-f]{2})+ `,
)

// perfMessage matches a line that perf writes to standard error.
var perfMessage = profile.NewPattern(
	`continuing without symbols$|^no symbols found in .*, maybe install|^\[ perf record: .* \]$`,
)

// perfWarning begins a message of several lines. The second line is the text of the warning.
const perfWarning = "Warning:"

// maxComm is the maximum length of a command name in Linux (TASK_COMM_LEN).
const maxComm = 15

// buildIDLine matches a line of `perf buildid-list`.
var buildIDLine = profile.NewPattern(`^\s*[0-9a-f]{16,64} +[/\[]`)

// maxCached is how many parsed frames are cached by their text.
const maxCached = 1 << 18

// maxDepth is the maximum depth of a stack. The kernel's own limit (kernel.perf_event_max_stack) is 127 by
// default.
const maxDepth = 1 << 16

// frame is a parsed frame in the cache.
type frame struct {
	perfFrame
	name    string // "" if unknown
	mapping int32
	// at is the location of the frame without inlined functions and line numbers. It is valid if located is
	// set.
	at      uint32
	located bool
}

// noEvent is the event of a sample whose header line has no event. The line may turn out not to be a sample.
const noEvent = -2

// perfSample holds the data of the open sample that is still needed after its header line.
type perfSample struct {
	open bool
	// known is true if the header line has enough fields to be a sample, even if no frame follows.
	known  bool
	single bool   // the only frame was on the header line
	header string // the header line, if known is false
	number int    // of the header line
	pid    int64
	event  int
	period int64
	labels []profile.Label
	frames []*frame
}

type perfScript struct {
	in *lines
	// warning is true from a warning of perf up to the next sample; warned is true once its text is in the
	// notes.
	warning, warned bool

	b      *profile.Builder
	w      weights
	sample perfSample

	cache  map[string]*frame
	labels map[string][]profile.Label
	words  []field
	stack  []uint32
	lines  []profile.Line

	first, last int64 // times in nanoseconds
	samples     int64
	bare, lost  int64
}

func newPerfScript(o *Options) *perfScript {
	b := newBuilder(o, samplesType)
	return &perfScript{
		b: b, w: newWeights(b), first: -1,
		cache: map[string]*frame{}, labels: map[string][]profile.Label{},
		words: make([]field, 0, maxFields),
	}
}

func (s *perfScript) line(line []byte) error {
	text := bytes.TrimSpace(line)
	if len(text) == 0 {
		return s.flush()
	}
	if line[0] == '#' || line[0] == '|' { // a header of the file, or source code printed by -F srccode
		return nil
	}
	tab, wide := line[0] == '\t', bytes.HasPrefix(line, []byte("    ")) && s.sample.open && !s.sample.single
	var h perfHeader
	if !tab {
		if at := bytes.Index(line, []byte("PERF_RECORD_")); at >= 0 {
			return s.record(line[at:])
		}
		// A command may be named dd or cafe, so its header line would also parse as a frame.
		if h = parsePerfHeader(line, s.words); h.isSampleStart() {
			return s.begin(line, &h)
		}
	}
	if tab || wide {
		if ok, err := s.frame(line, false); ok || err != nil {
			return err
		}
	}
	switch {
	case dumpLine().Match(line), perfMessage().Match(text), s.inWarning(text):
		return nil
	case tab:
		return malformedLine("perf script", scriptHint, line)
	case len(s.sample.frames) > 0 && sourceLine().Match(line): // belongs to the last frame
		last := &s.sample.frames[len(s.sample.frames)-1]
		if bytes.HasSuffix(text, []byte("(inlined)")) && !(*last).inlined {
			f := **last
			f.inlined, f.located = true, false
			*last = &f
		}
		return nil
	case !s.sample.open && buildIDLine().Match(line):
		return nil
	}
	return s.begin(line, &h)
}

// inWarning reports whether a line belongs to a warning of perf, and notes the first line of its text.
func (s *perfScript) inWarning(text []byte) bool {
	if string(text) == perfWarning {
		s.warning, s.warned = true, false
		return true
	}
	if s.warning && !s.warned {
		s.warned = true
		s.b.Note("perf warned: "+string(text), 1)
	}
	return s.warning
}

// begin starts a sample with its header line.
func (s *perfScript) begin(line []byte, h *perfHeader) error {
	named := h.time >= 0 || len(h.event) > 0 || h.thread != nil
	if !named && s.sample.open && pastedFrame().Match(line) {
		_, err := s.frame(line, false)
		return err
	}
	if err := s.flush(); err != nil {
		return err
	}
	x := &s.sample
	x.open, x.number, x.known = true, s.in.number, h.isSampleStart()
	s.warning = false
	if !x.known { // a sample only if frames follow
		if x.header = string(line); len(h.comm) > maxComm && h.thread == nil {
			return s.errHeader()
		}
	}
	x.pid, x.period = h.pid, h.period
	x.event = noEvent
	if named {
		x.event = s.w.event(h.event)
	}
	x.labels = s.labelsOf(h.comm)
	if h.time >= 0 {
		if s.first < 0 || h.time < s.first {
			s.first = h.time
		}
		s.last = max(s.last, h.time)
	}
	if len(h.rest) == 0 {
		return nil
	}
	single, err := s.frame(h.rest, true)
	x.single = single
	return err
}

// labelsOf returns the label of a command.
func (s *perfScript) labelsOf(comm []byte) []profile.Label {
	if len(comm) == 0 || len(comm) > 1 && comm[0] == ':' && isDigits(comm[1:]) { // perf's name of an unknown command
		return nil
	}
	set, ok := s.labels[string(comm)]
	if !ok {
		set = []profile.Label{{Key: profile.CommandLabel, Str: string(comm)}}
		s.labels[string(comm)] = set
	}
	return set
}

// frame adds a frame to the open sample. ok is false if the line is not a frame.
func (s *perfScript) frame(line []byte, single bool) (ok bool, err error) {
	f, known := s.cache[string(line)]
	if !known {
		parsed, ok := parsePerfFrame(line)
		if !ok || single && len(parsed.symbol) == 0 && len(parsed.dso) == 0 && !bytes.Contains(line, []byte(unknown)) {
			return false, nil
		}
		f = &frame{perfFrame: parsed, name: string(parsed.symbol), mapping: profile.NoMapping}
		if len(parsed.dso) > 0 {
			f.mapping = s.b.Mapping(profile.Mapping{File: string(parsed.dso)})
		}
		f.symbol, f.dso = nil, nil // slices of the line, which will be overwritten
		if len(s.cache) >= maxCached {
			clear(s.cache)
		}
		s.cache[string(line)] = f
	}
	if x := &s.sample; !x.open { // -F without any field of the header line
		x.open, x.known, x.pid, x.event = true, true, -1, noEvent
		s.warning = false
	}
	if len(s.sample.frames) >= maxDepth {
		return true, fmt.Errorf("a stack has more than %d frames", maxDepth)
	}
	s.sample.frames = append(s.sample.frames, f)
	return true, nil
}

// record reads a record other than a sample. Only counts of lost events are used.
func (s *perfScript) record(text []byte) (err error) {
	if !bytes.HasPrefix(text, []byte("PERF_RECORD_LOST")) {
		return nil
	}
	// For example "PERF_RECORD_LOST lost 123" or "PERF_RECORD_LOST_SAMPLES: lost 123".
	_, number, _ := bytes.Cut(text, []byte(" lost "))
	number, _, _ = bytes.Cut(bytes.TrimSpace(number), []byte(" "))
	n, ok := perfCount(number)
	if !ok {
		return malformedLine("perf script", scriptHint, text)
	}
	s.lost, err = addAbs(s.lost, n)
	return err
}

// flush adds the open sample to the profile.
func (s *perfScript) flush() error {
	x := &s.sample
	if !x.open {
		return nil
	}
	defer func() { *x = perfSample{frames: x.frames[:0]} }()
	if len(x.frames) == 0 {
		if !x.known {
			return s.errHeader()
		}
		s.bare++
	}
	s.samples++
	s.stack = s.stack[:0]
	for from := 0; from < len(x.frames); {
		to := from + 1
		for to < len(x.frames) && x.frames[to-1].inlined && x.frames[to].ip == x.frames[from].ip {
			to++
		}
		s.stack = append(s.stack, s.locate(x.frames[from:to]))
		from = to
	}
	if len(s.stack) == 0 {
		s.stack = append(s.stack, s.b.Location(profile.NoMapping, 0))
	}
	if x.event == noEvent {
		x.event = s.w.event(nil)
	}
	values, err := s.w.sampleValues(x.event, x.period)
	if err != nil {
		return err
	}
	return s.b.Sample(s.stack, values, x.labels...)
}

// errHeader returns the error for the header line of the open sample.
func (s *perfScript) errHeader() error {
	s.in.errLine = s.sample.number
	return malformedLine("perf script", scriptHint, []byte(s.sample.header))
}

// locate returns the location of the frames at one address: a function and the functions inlined into it,
// innermost first.
func (s *perfScript) locate(frames []*frame) uint32 {
	last := frames[len(frames)-1]
	simple := len(frames) == 1
	if simple && last.located {
		return last.at
	}
	s.lines = s.lines[:0]
	for _, f := range frames {
		if f.name != "" {
			function := profile.Function{Name: f.name, SystemName: f.name}
			s.lines = append(s.lines, profile.Line{Function: s.b.Function(function)})
		}
	}
	var at uint32
	if len(s.lines) == 0 && last.mapping != profile.NoMapping {
		at = s.b.Location(last.mapping, last.ip)
	} else {
		// Named frames get no address, because it would only separate stacks that look the same. Frames without
		// a file get none because they can never be symbolized.
		at = s.b.Location(last.mapping, 0, s.lines...)
	}
	if simple {
		last.at, last.located = at, true
	}
	return at
}

// markNamed sets HasFunctions on mappings that have a named frame.
func markNamed(p *profile.Profile) {
	for _, l := range p.Locations {
		if l.Mapping != profile.NoMapping && l.Lines > 0 {
			p.Mappings[l.Mapping].HasFunctions = true
		}
	}
}

// lostNote is the note for lost event counts that perf prints.
const lostNote = "events that perf lost while recording"

func (s *perfScript) finish() (*profile.Profile, error) {
	if s.samples == 0 {
		return nil, hints.Errorf("record with: perf record -g; print with: perf script -i perf.data > FILE.txt",
			"it has no samples")
	}
	if s.samples == s.bare && len(s.b.Meta().Functions) == 0 {
		return nil,
			hints.Errorf("print addresses and symbols too: perf script -F +ip,sym,dso", "no sample has an address")
	}
	s.w.finish()
	markNamed(s.b.Meta())
	if s.bare > 0 {
		s.b.Note("samples without a stack, shown as "+unknown, s.bare)
	}
	if s.lost > 0 {
		s.b.Note(lostNote, s.lost)
	}
	p := s.b.Meta()
	p.Origin.Format = "perf script"
	if s.first >= 0 {
		p.Duration = time.Duration(s.last - s.first)
	}
	return s.b.Profile(), nil
}

var errEvents = errors.New("more than 64 kinds of events")
