package gobuild

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"kitescope/internal/hints"
	"kitescope/profile/pgo"
)

// place is where a function stands.
type place struct {
	file  string
	start int
}

// calls are what a binary tells of its functions.
type calls struct {
	inlined map[pgo.Edge]bool
	// functions are those that have code of their own; places those as well that are only inlined.
	functions map[string]bool
	places    map[string]place
	// assembly are those that no compiler saw.
	assembly map[string]bool
}

// Inlined are the calls that are inlined somewhere in the binary. Of a chain of inlined calls each link is
// an edge: the caller of a call inside an inlined function is that function, as in a profile. A call of
// which no instruction is left is not among them. Generic functions are there by both of their names: with
// all type arguments, as Go's profiles have them now, and as "F[...]", as they had them before.
//
// Starts are the first lines of all functions that the binary has, of those as well that are only inlined.
//
// They are read from the inline trees that the runtime keeps for stack traces, which are there in
// stripped binaries too; where their layout is not known (before Go 1.20) from DWARF.
func (b *Binary) Inlined(ctx context.Context) (inlined map[pgo.Edge]bool, starts map[string]int, err error) {
	c, err := b.calls(ctx)
	if err != nil {
		return nil, nil, err
	}
	starts = make(map[string]int, len(c.places))
	for name, place := range c.places {
		starts[name] = place.start
	}
	return c.inlined, starts, nil
}

func (b *Binary) calls(ctx context.Context) (*calls, error) {
	f, err := os.Open(b.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	im, err := openImage(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", b.path, err)
	}
	c, err := im.calls(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == nil {
		c.alias()
	}
	if errors.Is(err, errNoTable) && !im.debug {
		return nil, hints.Errorf("rebuild it without -ldflags=-w", "read the inlined calls of %s: %w, and no DWARF", b.path, err)
	}
	if err != nil {
		return nil, fmt.Errorf("read the inlined calls of %s: %w", b.path, err)
	}
	return c, nil
}

// alias adds the short names of generic functions.
func (c *calls) alias() {
	var more []pgo.Edge
	for e := range c.inlined {
		if short := (pgo.Edge{Caller: shortName(e.Caller), Callee: shortName(e.Callee), Offset: e.Offset}); short != e {
			more = append(more, short)
		}
	}
	for _, e := range more {
		c.inlined[e] = true
	}
	for _, name := range slices.Collect(maps.Keys(c.places)) {
		if short := shortName(name); short != name {
			c.places[short] = c.places[name]
			c.functions[short] = c.functions[short] || c.functions[name]
		}
	}
}

// shortName leaves out type arguments, as runtime/traceback.go does for people (funcNameForPrint).
func shortName(name string) string {
	i := strings.IndexByte(name, '[')
	j := strings.LastIndexByte(name, ']')
	if i < 0 || j <= i {
		return name
	}
	return name[:i] + short + name[j+1:]
}

// short stands for type arguments.
const short = "[...]"

func (im *image) calls(ctx context.Context) (*calls, error) {
	t, err := readTable(im)
	if err == nil {
		var c *calls
		if c, err = t.calls(ctx); err == nil {
			return c, nil
		}
	}
	if im.debug && ctx.Err() == nil {
		return dwarfCalls(ctx, im)
	}
	return nil, err
}

// calls walks the inline trees of all functions.
func (t *pclntab) calls(ctx context.Context) (c *calls, err error) {
	defer protect(&err)
	c = &calls{inlined: map[pgo.Edge]bool{}, functions: make(map[string]bool, t.count), places: make(map[string]place, t.count), assembly: map[string]bool{}}
	w := treeWalk{t: t, to: c}
	for i := range t.count {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		f, ok := t.function(i)
		if !ok {
			return nil, fmt.Errorf("damaged table of functions: entry %d of %d", i, t.count)
		}
		name := t.name(f.name)
		c.functions[name] = true
		if f.assembly {
			c.assembly[name] = true
		}
		if err := w.walk(name, f); err != nil {
			return nil, err
		}
		if err := t.check(len(c.inlined)); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// treeWalk is the work on one function after the other.
type treeWalk struct {
	t           *pclntab
	to          *calls
	tree, lines []run
	files       []run
	seen        map[int32]bool
}

// inlinedCall is an entry of an inline tree (runtime/symtabinl.go: inlinedCall).
type inlinedCall struct {
	name     uint32
	parentPC uint64
	start    int32
}

func (t *pclntab) inlinedCall(f function, i int32) (inlinedCall, error) {
	at := uint64(f.tree) + uint64(i)*inlinedSize
	if i < 0 || at+inlinedSize > uint64(len(t.trees)) {
		return inlinedCall{}, fmt.Errorf("damaged inline tree of %s", t.name(f.name))
	}
	b := t.trees[at:]
	call := inlinedCall{name: t.order.Uint32(b[4:]), parentPC: uint64(t.order.Uint32(b[8:])), start: int32(t.order.Uint32(b[12:]))}
	// A name begins where the one before it ends. What does not is no tree: the layout is another one.
	if call.parentPC > f.size || uint64(call.name) >= uint64(len(t.names)) || (call.name > 0 && t.names[call.name-1] != 0) {
		return inlinedCall{}, fmt.Errorf("damaged inline tree of %s", t.name(f.name))
	}
	return call, nil
}

// walk adds the edges of one function: of each inlined call that has an instruction, and of those around it.
func (w *treeWalk) walk(name string, f function) error {
	w.tree = w.tree[:0]
	if f.tree != noTree {
		w.tree = w.t.runs(w.tree, f.pctree)
	}
	w.place(name, f, -1, f.start)
	if len(w.tree) == 0 {
		return nil
	}
	w.lines = w.t.runs(w.lines, f.pcln)
	w.seen = map[int32]bool{}
	for _, r := range w.tree {
		for i := r.val; i >= 0 && !w.seen[i]; {
			w.seen[i] = true
			parent, err := w.edge(f, i)
			if err != nil {
				return err
			}
			i = parent
		}
	}
	return nil
}

// edge adds one inlined call, and returns the one that it stands in, -1 if that is the function itself.
func (w *treeWalk) edge(f function, i int32) (parent int32, err error) {
	call, err := w.t.inlinedCall(f, i)
	if err != nil {
		return -1, err
	}
	// The caller is what is inlined where the call stood.
	caller, start := f.name, f.start
	if parent = value(w.tree, call.parentPC); parent >= 0 {
		outer, err := w.t.inlinedCall(f, parent)
		if err != nil {
			return -1, err
		}
		caller, start = outer.name, outer.start
	}
	name := w.t.name(call.name)
	w.place(name, f, i, call.start)
	line := value(w.lines, call.parentPC)
	w.to.inlined[pgo.Edge{Caller: w.t.name(caller), Callee: name, Offset: int(line - start)}] = true
	return parent, nil
}

// place notes where a function stands: in the file of an instruction that is its own, and of no call inlined in it.
func (w *treeWalk) place(name string, f function, index, start int32) {
	if w.to.places[name].file != "" {
		return
	}
	pc, found := uint64(0), len(w.tree) == 0
	for _, r := range w.tree {
		if found = r.val == index; found {
			break
		}
		pc = r.end
	}
	p := place{start: int(start)}
	if found {
		w.files = w.t.runs(w.files, f.pcfile)
		p.file = w.t.file(f, value(w.files, pc))
	}
	w.to.places[name] = p
}
