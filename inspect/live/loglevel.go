package live

import (
	"slices"
	"strings"
)

// The level that a process logs at: GET tells it, PUT would change it (internal/http/server.go: registerDefaults hands the page to zap's
// AtomicLevel, whose ServeHTTP in zap's http_handler.go writes on PUT alone). kitescope sends no other method than GET.
const (
	levelPath   = "/log/level"
	methodLevel = "GET " + levelPath
)

// levelTold is the answer, which zap writes.
type levelTold struct {
	Level string `json:"level"`
}

// levels are those that zap writes (zapcore's level.go).
func levels() []string {
	return []string{"debug", "info", "warn", "error", "dpanic", "panic", "fatal"}
}

func (l *levelTold) clean() bool {
	l.Level = strings.ToLower(l.Level)
	return slices.Contains(levels(), l.Level)
}

// takeLevel keeps what a process tells.
func takeLevel(_ *Decoder, p *processRecords, _ *question, told *levelTold) { p.LogLevel = told.Level }
