//go:build !linux

package livetest

import "testing"

// Blackhole returns an address that neither accepts nor refuses connections. It is reserved for documentation
// (RFC 5737), so no network routes it.
func Blackhole(testing.TB) string { return "192.0.2.1:21123" }
