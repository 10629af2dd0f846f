package gobuild

import (
	"context"
	"debug/dwarf"
	"fmt"

	"kitescope/profile/pgo"
)

// dwarfFunction is what DWARF says of a function: cmd/internal/dwarf writes name, file and first line of a
// function that is inlined anywhere into an abstract entry, to which its own code and its copies refer.
type dwarfFunction struct {
	name  string
	start int
	code  bool
}

// dwarfCall is an inlined copy: a DW_TAG_inlined_subroutine, whose parent is the copy or the function around it.
type dwarfCall struct {
	caller, callee dwarf.Offset
	line           int
}

// dwarfReader goes over all entries once; names are looked up at the end, as an entry may refer to a later unit.
type dwarfReader struct {
	functions map[dwarf.Offset]dwarfFunction
	// same leads from the code of a function to its abstract entry.
	same  map[dwarf.Offset]dwarf.Offset
	calls map[dwarfCall]bool
	// around are the functions that the entry stands in, the innermost last; 0 for what is no function.
	around []dwarf.Offset
}

// dwarfCalls reads from DWARF which calls are inlined.
func dwarfCalls(ctx context.Context, im *image) (c *calls, err error) {
	defer protect(&err)
	if im.sections >= maxDebug {
		return nil, fmt.Errorf("its debugging information is larger than %d bytes", maxDebug)
	}
	d, err := im.dwarf()
	if err != nil {
		return nil, fmt.Errorf("read DWARF: %w", err)
	}
	w := dwarfReader{functions: map[dwarf.Offset]dwarfFunction{}, same: map[dwarf.Offset]dwarf.Offset{}, calls: map[dwarfCall]bool{}}
	r := d.Reader()
	for n := 0; ; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		e, err := r.Next()
		if err != nil {
			return nil, fmt.Errorf("read DWARF: %w", err)
		}
		if e == nil {
			break
		}
		if w.entry(e) {
			r.SkipChildren()
		}
	}
	return w.result(), nil
}

// entry takes one entry, and reports whether nothing below it matters.
func (w *dwarfReader) entry(e *dwarf.Entry) (skip bool) {
	if e.Tag == 0 {
		w.around = w.around[:max(len(w.around)-1, 0)]
		return false
	}
	at := dwarf.Offset(0)
	if len(w.around) > 0 {
		at = w.around[len(w.around)-1]
	}
	switch e.Tag {
	case dwarf.TagCompileUnit:
		w.around = w.around[:0]
		if lang, ok := e.Val(dwarf.AttrLanguage).(int64); ok && lang != dwarfGo {
			return true
		}
	case dwarf.TagSubprogram:
		at = e.Offset
		if origin, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); ok {
			w.same[at] = origin
		} else {
			name, _ := e.Val(dwarf.AttrName).(string)
			start, _ := e.Val(dwarf.AttrDeclLine).(int64)
			w.functions[at] = dwarfFunction{name: name, start: int(start), code: e.Val(dwarf.AttrLowpc) != nil}
		}
	case dwarf.TagInlinedSubroutine:
		if origin, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); ok {
			line, _ := e.Val(dwarf.AttrCallLine).(int64)
			w.calls[dwarfCall{at, origin, int(line)}] = true
			at = origin
		}
	case dwarf.TagLexDwarfBlock:
	default:
		return e.Children
	}
	if e.Children {
		w.around = append(w.around, at)
	}
	return false
}

// dwarfGo is DW_LANG_Go.
const dwarfGo = 0x16

func (w *dwarfReader) result() *calls {
	c := &calls{inlined: make(map[pgo.Edge]bool, len(w.calls)), functions: map[string]bool{}, places: map[string]place{}}
	for _, f := range w.functions {
		c.places[f.name] = place{start: f.start}
		if f.code {
			c.functions[f.name] = true
		}
	}
	for _, origin := range w.same {
		c.functions[w.functions[origin].name] = true
	}
	for call := range w.calls {
		caller, callee := w.function(call.caller), w.function(call.callee)
		if caller.name == "" || callee.name == "" || caller.start == 0 {
			continue
		}
		c.inlined[pgo.Edge{Caller: caller.name, Callee: callee.name, Offset: call.line - caller.start}] = true
	}
	return c
}

func (w *dwarfReader) function(at dwarf.Offset) dwarfFunction {
	if origin, ok := w.same[at]; ok {
		at = origin
	}
	return w.functions[at]
}
