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

// readPerfScript reads what `perf script` prints: for each sample a line that says who and when, and
// a line for each frame, leaf first, up to an empty line; without call chains the only frame
// stands on the first line. Frames are indented, unless they were pasted without it. What each event becomes is told in
// weights.go. Lines of records other than samples, of source code and of `perf buildid-list` are skipped.
func readPerfScript(ctx context.Context, r io.Reader, o *Options) (*profile.Profile, error) {
	s := newPerfScript(o)
	s.in = newLines(ctx, r)
	if err := s.in.each(s.line); err != nil {
		return nil, err
	}
	if err := s.flush(); err != nil {
		return nil, fmt.Errorf("line %d: %w", cmp.Or(s.in.blamed, s.in.number), err)
	}
	return s.finish()
}

const scriptHint = "print it with: perf script -i perf.data > FILE.txt; from pasted text, remove lines that are not of samples"

// sourceLine is a line of -F srcline.
var sourceLine = profile.NewPattern(`^  \S.*(?::\d+|\+\d+|\[[0-9a-f]+\])(?: \([^()]*\))*$`)

// pastedFrame is a frame that is not indented.
var pastedFrame = profile.NewPattern(`^ {0,3}[0-9a-f]{4,16} \S.* \(.*\)$`)

// dumpLine is of a record of namespaces, or of what a BPF program put out.
var dumpLine = profile.NewPattern(`^\t\t[\[ ]\d+/\w+: \d+/0x[0-9a-f]|^ {6}BPF (?:output|string):|^ {17} [0-9a-f]{4}:(?: [0-9a-f]{2})+ `)

// perfMessage is a line that perf writes to standard error.
var perfMessage = profile.NewPattern(`continuing without symbols$|^no symbols found in .*, maybe install|^\[ perf record: .* \]$`)

// perfWarning begins a message of several lines, of which the next says what is wrong.
const perfWarning = "Warning:"

// maxComm is the most that Linux keeps of the name of a command (TASK_COMM_LEN).
const maxComm = 15

// buildIDLine is a line of `perf buildid-list`.
var buildIDLine = profile.NewPattern(`^\s*[0-9a-f]{16,64} +[/\[]`)

// maxCached bounds how many frames are kept as text, so that they need not be parsed again.
const maxCached = 1 << 18

// maxDepth bounds a stack. The kernel's own bound (kernel.perf_event_max_stack) is 127 unless raised.
const maxDepth = 1 << 16

// frame is a frame that was seen.
type frame struct {
	perfFrame
	name    string // "" if unknown
	mapping int32
	// at is the location of the frame where nothing was inlined into it and no line is known; it is set if located.
	at      uint32
	located bool
}

// unsettled is the event of a sample whose first line names none; it may turn out to be no sample.
const unsettled = -2

// perfSample is the sample that is open: those of its facts that outlive its first line.
type perfSample struct {
	open bool
	// known says that the first line has enough to be one of a sample, even if no frame follows.
	known  bool
	single bool   // the only frame came with the first line
	header string // the first line of a sample that is not known
	number int    // of the first line
	pid    int64
	event  int
	period int64
	labels []profile.Label
	frames []*frame
}

type perfScript struct {
	in *lines
	// warning is open until the next sample; warned says that its text is noted.
	warning, warned bool

	b      *profile.Builder
	w      weights
	sample perfSample

	cache  map[string]*frame
	labels map[string][]profile.Label
	words  []field
	stack  []uint32
	lines  []profile.Line

	first, last int64 // times
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
	if line[0] == '#' || line[0] == '|' { // a header of the file; the source itself, of -F srccode
		return nil
	}
	tab, wide := line[0] == '\t', bytes.HasPrefix(line, []byte("    ")) && s.sample.open && !s.sample.single
	var h perfHeader
	if !tab {
		if at := bytes.Index(line, []byte("PERF_RECORD_")); at >= 0 {
			return s.record(line[at:])
		}
		// A command may be called dd or cafe, so that its line would do as a frame, too.
		if h = parsePerfHeader(line, s.words); h.sure() {
			return s.begin(line, &h)
		}
	}
	if tab || wide {
		if ok, err := s.frame(line, false); ok || err != nil {
			return err
		}
	}
	switch {
	case dumpLine().Match(line), perfMessage().Match(text), s.ofWarning(text):
		return nil
	case tab:
		return misfit("perf script", scriptHint, line)
	case len(s.sample.frames) > 0 && sourceLine().Match(line): // of the last frame
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

// ofWarning reports whether a line is of a warning of perf, and notes the first line of its text.
func (s *perfScript) ofWarning(text []byte) bool {
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

// begin starts a sample with its first line.
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
	x.open, x.number, x.known = true, s.in.number, h.sure()
	s.warning = false
	if !x.known { // a sample if frames follow
		if x.header = string(line); len(h.comm) > maxComm && h.thread == nil {
			return s.unknown()
		}
	}
	x.pid, x.period = h.pid, h.period
	x.event = unsettled
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
	if len(comm) == 0 || len(comm) > 1 && comm[0] == ':' && isDigits(comm[1:]) { // perf's word for a command that it does not know
		return nil
	}
	set, ok := s.labels[string(comm)]
	if !ok {
		set = []profile.Label{{Key: profile.CommandLabel, Str: string(comm)}}
		s.labels[string(comm)] = set
	}
	return set
}

// frame adds a frame to the sample that is open; ok is false if the line is none.
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
		f.symbol, f.dso = nil, nil // of the line that will be gone
		if len(s.cache) >= maxCached {
			clear(s.cache)
		}
		s.cache[string(line)] = f
	}
	if x := &s.sample; !x.open { // -F without any field of the first line
		x.open, x.known, x.pid, x.event = true, true, -1, unsettled
		s.warning = false
	}
	if len(s.sample.frames) >= maxDepth {
		return true, fmt.Errorf("a stack has more than %d frames", maxDepth)
	}
	s.sample.frames = append(s.sample.frames, f)
	return true, nil
}

// record takes what is no sample.
func (s *perfScript) record(text []byte) (err error) {
	if !bytes.HasPrefix(text, []byte("PERF_RECORD_LOST")) {
		return nil
	}
	// "PERF_RECORD_LOST lost 123", "PERF_RECORD_LOST_SAMPLES: lost 123"
	_, number, _ := bytes.Cut(text, []byte(" lost "))
	number, _, _ = bytes.Cut(bytes.TrimSpace(number), []byte(" "))
	n, ok := perfCount(number)
	if !ok {
		return misfit("perf script", scriptHint, text)
	}
	s.lost, err = plus(s.lost, n)
	return err
}

// flush ends the sample that is open.
func (s *perfScript) flush() error {
	x := &s.sample
	if !x.open {
		return nil
	}
	defer func() { *x = perfSample{frames: x.frames[:0]} }()
	if len(x.frames) == 0 {
		if !x.known {
			return s.unknown()
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
	if x.event == unsettled {
		x.event = s.w.event(nil)
	}
	values, err := s.w.of(x.event, x.period)
	if err != nil {
		return err
	}
	return s.b.Sample(s.stack, values, x.labels...)
}

// unknown is the error of the line that began the sample.
func (s *perfScript) unknown() error {
	s.in.blamed = s.sample.number
	return misfit("perf script", scriptHint, []byte(s.sample.header))
}

// locate is the location of frames at one address: a function and those that were inlined into it, innermost first.
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
		// Addresses of named frames would only keep stacks apart that show the same, and those
		// in no file can never be named.
		at = s.b.Location(last.mapping, 0, s.lines...)
	}
	if simple {
		last.at, last.located = at, true
	}
	return at
}

// markNamed sets HasFunctions of the mappings that have a frame with a name.
func markNamed(p *profile.Profile) {
	for _, l := range p.Locations {
		if l.Mapping != profile.NoMapping && l.Lines > 0 {
			p.Mappings[l.Mapping].HasFunctions = true
		}
	}
}

// lostNote is of counts that perf prints.
const lostNote = "events that perf lost while it recorded"

func (s *perfScript) finish() (*profile.Profile, error) {
	if s.samples == 0 {
		return nil, hints.Errorf("record with: perf record -g; print with: perf script -i perf.data > FILE.txt", "there is no sample in it")
	}
	if s.samples == s.bare && len(s.b.Meta().Functions) == 0 {
		return nil, hints.Errorf("print addresses and symbols too: perf script -F +ip,sym,dso", "no sample has an address")
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

var errEvents = errors.New("there are more than 64 kinds of events")
