package live

import (
	"slices"
	"strings"

	"kitescope/inspect/model"
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

func readLevel(body []byte) (*levelTold, *failure) {
	const what = "a log level"
	told := &levelTold{}
	if f := readJSON(body, what, '{', told); f != nil {
		return nil, f
	}
	if told.Level = strings.ToLower(told.Level); !slices.Contains(levels(), told.Level) {
		return nil, failed(model.Garbled, "the answer is not %s", what)
	}
	return told, nil
}

// takeLevel keeps what a process tells.
func takeLevel(_ *Decoder, p *processRecords, _ *question, told *levelTold) { p.LogLevel = told.Level }
