package cli

import (
	"errors"
	"fmt"
	"os"
	"runtime/pprof"
)

// ownProfile takes a CPU profile of kitescope itself, for --cpuprofile: it is built with one (docs/PGO.md).
type ownProfile struct{ file *os.File }

func (p *ownProfile) start(path string) error {
	if path == "" {
		return nil
	}
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("profile kitescope itself: %w", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return errors.Join(fmt.Errorf("profile kitescope itself: %w", err), f.Close(), os.Remove(path))
	}
	p.file = f
	return nil
}

// Stop writes what was sampled.
func (p *ownProfile) Stop() error {
	if p.file == nil {
		return nil
	}
	pprof.StopCPUProfile()
	if err := p.file.Close(); err != nil {
		return fmt.Errorf("profile kitescope itself: %w", err)
	}
	return nil
}
