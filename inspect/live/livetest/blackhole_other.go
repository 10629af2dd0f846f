//go:build !linux

package livetest

import "testing"

// Blackhole is an address that takes no connection and refuses none: one of those that
// are reserved for documentation (RFC 5737), which no network routes.
func Blackhole(testing.TB) string { return "192.0.2.1:21123" }
