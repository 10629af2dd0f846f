package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"kitescope/internal/words"
)

// debugLog writes the calls to etcd and to processes with their durations, for --debug.
type debugLog struct {
	mu    sync.Mutex
	to    io.Writer
	close func() error
	start time.Time
}

// toStderr is the value of --debug if no file is given.
const toStderr = "-"

// openDebug opens the log of --debug.
func (a *App) openDebug() error {
	a.debug = &debugLog{start: time.Now()}
	switch to := a.Flags.debug; to {
	case "":
		return nil
	case toStderr:
		a.debug.to, a.debug.close = a.Err, func() error { return nil }
	default:
		f, err := os.OpenFile(to, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return fmt.Errorf("open the debug log: %w", err)
		}
		a.debug.to, a.debug.close = f, f.Close
	}
	return nil
}

// callLogger returns a function that logs a line per call, or nil without --debug.
func (a *App) callLogger() func(line string) {
	if a.debug == nil || a.debug.to == nil {
		return nil
	}
	return func(line string) {
		a.debug.mu.Lock()
		defer a.debug.mu.Unlock()
		line = fmt.Sprintf("debug %8.3fs %s\n", time.Since(a.debug.start).Seconds(), words.Sanitize(line))
		if a.Flags.debug == toStderr {
			_, _ = a.Transient.write(a.Err, []byte(line)) // errors are ignored
			return
		}
		_, _ = io.WriteString(a.debug.to, line)
	}
}

// EndDebug closes the log.
func (a *App) EndDebug() error {
	if a.debug == nil || a.debug.close == nil {
		return nil
	}
	return a.debug.close()
}

// DebugNeedsFile returns an error if --debug logs to stderr, where the log would overwrite the UI.
func (g *GlobalFlags) DebugNeedsFile() error {
	if g.debug != toStderr {
		return nil
	}
	return Usage(errors.New("--debug output would overwrite the UI"), "write it to a file: --debug=kitescope.log")
}
