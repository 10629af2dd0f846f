package live

import (
	"slices"
	"strings"
)

// The log level of a process. GET reads it; PUT would change it (internal/http/server.go: registerDefaults
// passes the page to zap's AtomicLevel, whose ServeHTTP in zap's http_handler.go writes only on PUT). kitescope
// sends only GET.
const (
	levelPath   = "/log/level"
	methodLevel = "GET " + levelPath
)

// levelResponse is the response, which zap writes.
type levelResponse struct {
	Level string `json:"level"`
}

// levels returns the levels that zap writes (zapcore's level.go).
func levels() []string {
	return []string{"debug", "info", "warn", "error", "dpanic", "panic", "fatal"}
}

func (l *levelResponse) clean() bool {
	l.Level = strings.ToLower(l.Level)
	return slices.Contains(levels(), l.Level)
}

// takeLevel stores the log level of a process.
func takeLevel(_ *Decoder, p *processRecords, _ *pendingRecord, response *levelResponse) {
	p.LogLevel = response.Level
}
