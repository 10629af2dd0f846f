package profile

import (
	"fmt"
	"math"
	"path"
	"strings"
)

// Frames names the frames of all locations. Up to ByAddress the frames are pprof's nodes and the
// names those that `go tool pprof -top` prints (google/pprof internal/graph: nodeInfo and
// NameComponents, after the driver's aggregate). So ByFile tells apart functions of a file that
// begin on different lines, where that is known: as with pprof's -files it is then listed more than once.
//
// ByNode is not of frames: then each location has the one frame "all".
func (p *Profile) Frames(by By) *Frames {
	b := &frameBuilder{
		p: p, by: by, f: &Frames{starts: make([]uint32, 1, len(p.Locations)+1), ids: make([]uint32, 0, max(len(p.Lines), len(p.Locations)))},
		functions: make([]function, len(p.Functions)), plain: map[[2]uint32]uint32{}, nodes: map[node]uint32{}, words: map[string]uint32{}, files: map[uint32]string{},
		kinds: newClassifier(p),
	}
	for i := range p.Locations {
		location := uint32(i)
		lines := p.LinesOf(location)
		if len(lines) == 0 {
			b.add(location, Line{Function: noFunction})
		}
		for _, line := range lines {
			b.add(location, line)
		}
		b.f.starts = append(b.f.starts, uint32(len(b.f.ids)))
	}
	return b.f
}

// noFunction is the function of a location without lines.
const noFunction = math.MaxUint32

// node is what makes two frames the same, as google/pprof's graph.NodeInfo: name and file by
// their number, and the mapping's file where there is no name.
type node struct {
	name, object        uint32
	start, line, column int64
	address             uint64
}

// function is what is known of one entry of Profile.Functions.
type function struct {
	name uint32 // number of its name and file, plus 1; 0: not seen yet
	id   uint32 // of its frame plus 1, where that depends on nothing else
	file string
}

type frameBuilder struct {
	p         *Profile
	by        By
	f         *Frames
	functions []function
	plain     map[[2]uint32]uint32 // name and file, as far as they count
	nodes     map[node]uint32
	words     map[string]uint32 // ids where a name is all that counts, and numbers of objects
	kinds     *classifier
	texts     textNumbers
	files     map[uint32]string // clean paths, by the number of what they were
	composed  int               // bytes of names that were put together
}

// add appends the frame of a line of a location.
func (b *frameBuilder) add(location uint32, line Line) {
	id := b.id(location, line)
	b.f.ids = append(b.f.ids, id)
	if line.Function != noFunction {
		if file := b.fileOf(line.Function); file != b.f.Files[id] {
			b.f.Files[id] = ""
		}
	}
}

func (b *frameBuilder) id(location uint32, line Line) uint32 {
	if line.Function != noFunction {
		if id := b.functions[line.Function].id; id > 0 {
			return id - 1
		}
	}
	switch b.by {
	case ByFunction, ByFile, ByLine, ByAddress:
		return b.nodeID(location, line)
	case ByPackage:
		if line.Function != noFunction {
			if pkg := packageOf(&b.p.Functions[line.Function]); pkg != "" {
				id := b.word(pkg, location, line)
				b.functions[line.Function].id = id + 1
				return id
			}
		}
		if name := objectName(b.object(location)); strings.HasPrefix(name, "[") {
			return b.word(name, location, line) // [vdso], [kernel.kallsyms]
		}
		return b.word(bracketed(b.object(location)), location, line)
	case ByMapping:
		return b.word(objectName(b.object(location)), location, line)
	case ByClass:
		return b.word(b.kinds.of(location, line).String(), location, line)
	default:
		return b.word("all", location, line)
	}
}

// word is the id of a frame that only its name makes what it is.
func (b *frameBuilder) word(name string, location uint32, line Line) uint32 {
	id, ok := b.words[name]
	if !ok {
		id = b.newFrame(name, location, line)
		b.words[name] = id
	}
	return id
}

// newFrame makes an id.
func (b *frameBuilder) newFrame(name string, location uint32, line Line) uint32 {
	id := uint32(len(b.f.Names))
	b.f.Names = append(b.f.Names, name)
	b.f.Classes = append(b.f.Classes, b.kinds.of(location, line).Class)
	file := ""
	if line.Function != noFunction {
		file = b.fileOf(line.Function)
	}
	b.f.Files = append(b.f.Files, file)
	return id
}

// nodeID is the id of a frame of pprof's.
func (b *frameBuilder) nodeID(location uint32, line Line) uint32 {
	var n node
	var name, file string
	known := line.Function != noFunction
	if known {
		name, file = b.p.Functions[line.Function].Name, b.fileOf(line.Function)
		switch b.by {
		case ByFunction:
			file = ""
		case ByFile:
			name = ""
		case ByLine:
			n.line = line.Line
		default:
			n.line, n.column = line.Line, line.Column
		}
		n.name = b.number(line.Function, name, file)
	}
	object := ""
	if name == "" {
		object = b.object(location)
		n.object = b.objectNumber(object)
		if known {
			n.start = b.p.Functions[line.Function].StartLine
		}
	}
	if b.by == ByAddress {
		n.address = b.p.Locations[location].Address
	}
	id, ok := b.nodes[n]
	if !ok {
		id = b.newFrame(b.text(&n, name, file, object), location, line)
		b.nodes[n] = id
	}
	if known && b.by == ByFunction && name != "" {
		b.functions[line.Function].id = id + 1
	}
	return id
}

// number is the number of a function's name and file, of which some may be left out; 0 if both are empty.
func (b *frameBuilder) number(f uint32, name, file string) uint32 {
	if name == "" && file == "" {
		return 0
	}
	own := &b.functions[f]
	if own.name == 0 {
		key := [2]uint32{b.texts.of(name), b.texts.of(file)}
		n, ok := b.plain[key]
		if !ok {
			n = uint32(len(b.plain)) + 1
			b.plain[key] = n
		}
		own.name = n
	}
	return own.name
}

func (b *frameBuilder) objectNumber(object string) uint32 {
	if object == "" {
		return 0
	}
	n, ok := b.words[object]
	if !ok {
		n = uint32(len(b.words)) + 1
		b.words[object] = n
	}
	return n
}

// object is the file that a location lies in.
func (b *frameBuilder) object(location uint32) string {
	if m := b.p.MappingOf(location); m != nil {
		return m.File
	}
	return ""
}

// fileOf is the file of a function as pprof prints it (internal/graph: nodeInfo cleans it, and
// internal/report: trimPath takes these two prefixes off).
func (b *frameBuilder) fileOf(f uint32) string {
	own := &b.functions[f]
	if own.file == "" {
		if file := b.p.Functions[f].File; file != "" {
			rest, ok := strings.CutPrefix(file, "/proc/self/cwd/./")
			if !ok {
				rest = strings.TrimPrefix(file, "/proc/self/cwd/")
			}
			own.file = b.clean(rest)
		}
	}
	return own.file
}

// text is printable, of which in sum so much is put together that no program has as many: a name of a megabyte may stand in
// a million lines. Beyond that names are cut.
func (b *frameBuilder) text(n *node, name, file, object string) string {
	const most, longest = 256 << 20, 200
	if b.composed > most {
		name, file, object = name[:min(len(name), longest)], file[:min(len(file), longest)], object[:min(len(object), longest)]
	}
	text := printable(n, name, file, object)
	if len(text) > len(name) {
		b.composed += len(text)
	}
	return text
}

// clean is the shortest form of a path, made once of each.
func (b *frameBuilder) clean(file string) string {
	if file == "" {
		return ""
	}
	n := b.texts.of(file)
	short, ok := b.files[n]
	if !ok {
		short = path.Clean(file)
		b.files[n] = short
	}
	return short
}

// printable is google/pprof's NodeInfo.PrintableName.
func printable(n *node, name, file, object string) string {
	parts := make([]string, 0, 3)
	if n.address != 0 {
		parts = append(parts, fmt.Sprintf("%016x", n.address))
	}
	if name != "" {
		parts = append(parts, name)
	}
	switch {
	case n.line != 0 && n.column != 0:
		parts = append(parts, fmt.Sprintf("%s:%d:%d", file, n.line, n.column))
	case n.line != 0:
		parts = append(parts, fmt.Sprintf("%s:%d", file, n.line))
	case file != "":
		parts = append(parts, file)
	case name == "":
		parts = append(parts, bracketed(object))
	}
	return strings.Join(parts, " ")
}

// unknownName is what pprof calls what has neither a name nor a mapping.
const unknownName = "<unknown>"

// bracketed is how pprof shows a frame of which only the binary is known.
func bracketed(object string) string {
	if object == "" {
		return unknownName
	}
	return "[" + path.Base(object) + "]"
}

func objectName(object string) string {
	if object == "" {
		return unknownName
	}
	return path.Base(object)
}
