package symbol

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
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
}

// open combines files of one build id: the layout of one that has the code, and the symbols of one that has them.
func open(ctx context.Context, paths []string) (*image, error) {
	m := &image{layout: layout{debug: true}}
	full := false
	var lastErr error
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		file, err := os.Open(path)
		if err != nil {
			lastErr = err
			continue
		}
		const most = 4 << 30
		e, err := newELF(&budget{file, most})
		if err != nil {
			_ = file.Close()
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
		_ = file.Close()
	}
	if m.path == "" {
		return nil, lastErr
	}
	return m, nil
}
