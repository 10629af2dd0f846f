package symbol

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"

	"kitescope/profile"
)

var (
	errDamaged   = errors.New("its symbols are damaged")
	errTooMany   = fmt.Errorf("it has more than %d symbols", maxSymbols)
	errNoSymbols = errors.New("it has no symbols; look for the debug package of the library")
)

// image is a file as its symbols know it: of a library and its debug file together, if both are there.
type image struct {
	path   string
	layout layout
	table  table
	source *source // nil if there is no DWARF
	files  []*os.File
}

// frame is a function, and where in it.
type frame struct {
	function     profile.Function
	line, column int64
}

// open puts together what files of one build id know: the layout of one that has the code, the
// symbols and the lines of one that has them.
func open(ctx context.Context, paths []string) (*image, error) {
	m := &image{layout: layout{debug: true}}
	full := false
	var lastErr error
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			m.close()
			return nil, err
		}
		e, err := m.openELF(path)
		if err != nil {
			lastErr = fmt.Errorf("%s: %w", path, err)
			continue
		}
		if l := layoutOf(e); m.layout.segments == nil || m.layout.debug && !l.debug {
			m.layout = l
		}
		hasTable := e.SectionByType(elf.SHT_SYMTAB) != nil
		if m.path == "" || !full && hasTable {
			t, err := tableOf(e)
			if err != nil {
				lastErr = fmt.Errorf("%s: %w", path, err)
			} else {
				m.path, m.table, full = path, t, hasTable
			}
		}
		if m.source == nil {
			m.source = sourceOf(e)
		}
	}
	if m.path == "" {
		m.close()
		return nil, lastErr
	}
	return m, nil
}

func (m *image) openELF(path string) (*elf.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	const most = 4 << 30
	e, err := newELF(&budget{f, most})
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	m.files = append(m.files, f)
	return e, nil
}

func (m *image) close() {
	for _, f := range m.files {
		_ = f.Close()
	}
}

// frames are the functions at an address, innermost first. The symbol table says which function the code
// belongs to; DWARF adds its lines, and what was inlined into it.
func (m *image) frames(address uint64) []frame {
	f, ok := m.table.find(address)
	if !ok {
		return nil
	}
	outer := frame{function: profile.Function{SystemName: f.name}}
	if m.source == nil {
		return []frame{outer}
	}
	return m.source.frames(address, outer)
}
