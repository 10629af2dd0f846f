module kitescope/tools/e2e/pgo/json

go 1.26.0

require github.com/goccy/go-json v0.12.0
