package profile

import (
	"fmt"
	"math"
	"path"
	"strings"
)

// Frames returns the named frames of all locations. Up to ByAddress the frames are pprof's nodes, with the
// names that `go tool pprof -top` prints (google/pprof internal/graph: nodeInfo and NameComponents, after the
// driver's aggregate). ByFile therefore separates functions of a file that begin on different lines, if the
// lines are known. Like pprof's -files, it lists such a file more than once.
//
// ByNode does not apply to frames: each location then has the single frame "all".
func (p *Profile) Frames(by Granularity) *Frames {
	b := &frameBuilder{
		p: p, by: by,
		f: &Frames{
			starts: make([]uint32, 1, len(p.Locations)+1), ids: make([]uint32, 0, max(len(p.Lines), len(p.Locations))),
		},
		functions: make([]function, len(p.Functions)), pairs: map[[2]uint32]uint32{}, nodes: map[node]uint32{},
		nameIDs: map[string]uint32{}, files: map[uint32]string{},
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

// noFunction is the Function of a location without lines.
const noFunction = math.MaxUint32

// node identifies a frame, like google/pprof's graph.NodeInfo. name is the number of the pair of name and file.
// object is the mapping's file, and 0 for a frame with a name.
type node struct {
	name, object        uint32
	start, line, column int64
	address             uint64
}

// function is the cached state of an entry in Profile.Functions.
type function struct {
	name uint32 // number of its name and file (see number); 0 if not seen yet
	id   uint32 // id of its frame plus 1, if it depends on the function alone
	file string
}

type frameBuilder struct {
	p             *Profile
	by            Granularity
	f             *Frames
	functions     []function
	pairs         map[[2]uint32]uint32 // numbers of name and file, as far as they count
	nodes         map[node]uint32
	nameIDs       map[string]uint32 // ids of frames identified by name alone, and numbers of objects
	kinds         *classifier
	texts         textNumbers
	files         map[uint32]string // clean paths, by the number of the original
	composedBytes int               // total size in bytes of composed names
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
				id := b.nameID(pkg, location, line)
				b.functions[line.Function].id = id + 1
				return id
			}
		}
		if name := objectName(b.object(location)); strings.HasPrefix(name, "[") {
			return b.nameID(name, location, line) // [vdso], [kernel.kallsyms]
		}
		return b.nameID(bracketed(b.object(location)), location, line)
	case ByMapping:
		return b.nameID(objectName(b.object(location)), location, line)
	case ByClass:
		return b.nameID(b.kinds.kindOf(location, line).String(), location, line)
	default:
		return b.nameID("all", location, line)
	}
}

// nameID returns the id of a frame that is identified by its name alone.
func (b *frameBuilder) nameID(name string, location uint32, line Line) uint32 {
	id, ok := b.nameIDs[name]
	if !ok {
		id = b.newFrame(name, location, line)
		b.nameIDs[name] = id
	}
	return id
}

// newFrame adds a frame and returns its id.
func (b *frameBuilder) newFrame(name string, location uint32, line Line) uint32 {
	id := uint32(len(b.f.Names))
	b.f.Names = append(b.f.Names, name)
	b.f.Classes = append(b.f.Classes, b.kinds.kindOf(location, line).Class)
	file := ""
	if line.Function != noFunction {
		file = b.fileOf(line.Function)
	}
	b.f.Files = append(b.f.Files, file)
	return id
}

// nodeID returns the id of a frame that corresponds to a pprof node.
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

// number returns the number of the pair of a function's name and file, or 0 if both are empty. The caller
// passes "" for the part that it ignores, always the same one.
func (b *frameBuilder) number(f uint32, name, file string) uint32 {
	if name == "" && file == "" {
		return 0
	}
	own := &b.functions[f]
	if own.name == 0 {
		key := [2]uint32{b.texts.number(name), b.texts.number(file)}
		n, ok := b.pairs[key]
		if !ok {
			n = uint32(len(b.pairs)) + 1
			b.pairs[key] = n
		}
		own.name = n
	}
	return own.name
}

func (b *frameBuilder) objectNumber(object string) uint32 {
	if object == "" {
		return 0
	}
	n, ok := b.nameIDs[object]
	if !ok {
		n = uint32(len(b.nameIDs)) + 1
		b.nameIDs[object] = n
	}
	return n
}

// object returns the mapped file of a location.
func (b *frameBuilder) object(location uint32) string {
	if m := b.p.MappingOf(location); m != nil {
		return m.File
	}
	return ""
}

// fileOf returns the file of a function as pprof prints it. pprof cleans the path (internal/graph: nodeInfo)
// and removes these two prefixes (internal/report: trimPath).
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

// text returns the printable name of a node. Composed names are limited to 256 MiB in total, more than any
// program has, because a name of a megabyte may occur on a million lines. Beyond that, the parts of a name
// are cut to 200 bytes each.
func (b *frameBuilder) text(n *node, name, file, object string) string {
	const most, longest = 256 << 20, 200
	if b.composedBytes > most {
		name, file, object = name[:min(len(name), longest)], file[:min(len(file), longest)],
			object[:min(len(object), longest)]
	}
	text := printable(n, name, file, object)
	if len(text) > len(name) {
		b.composedBytes += len(text)
	}
	return text
}

// clean returns the shortest form of a path, computed once per path.
func (b *frameBuilder) clean(file string) string {
	if file == "" {
		return ""
	}
	n := b.texts.number(file)
	short, ok := b.files[n]
	if !ok {
		short = path.Clean(file)
		b.files[n] = short
	}
	return short
}

// printable returns the same name as google/pprof's NodeInfo.PrintableName.
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

// unknownName is pprof's name for a frame with neither a name nor a mapping.
const unknownName = "<unknown>"

// bracketed returns pprof's name for a frame if only the binary is known.
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
