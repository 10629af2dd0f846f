package pgo

import (
	"testing"

	"kitescope/profile"
)

func TestGoVersionOf(t *testing.T) {
	for file, want := range map[string]string{
		"/usr/local/go/src/runtime/proc.go": "",
		"runtime/proc.go":                   "",
		"/home/me/go/pkg/mod/golang.org/toolchain@v0.0.1-go1.26.8.linux-amd64/src/runtime/proc.go":        "go1.26.8",
		"/home/a/sdk/go1.20.4/src/runtime/proc.go":                                                        "go1.20.4",
		"/usr/lib/go-1.22/src/runtime/proc.go":                                                            "go1.22",
		"/opt/hostedtoolcache/go/1.21.13/x64/src/runtime/proc.go":                                         "go1.21.13",
		"/opt/homebrew/Cellar/go/1.24.1/libexec/src/runtime/proc.go":                                      "go1.24.1",
		`C:\Users\a\sdk\go1.25.0\src\runtime\proc.go`:                                                     "go1.25.0",
		"/home/mango1.5/go/src/runtime/proc.go":                                                           "",
		"/home/me/go/pkg/mod/golang.org/toolchain@v0.0.1-go1.26rc1.linux-amd64/src/runtime/internal/x.go": "go1.26rc1",
	} {
		b := profile.NewBuilder(profile.ValueType{Type: "samples", Unit: "count"})
		b.Function(profile.Function{Name: "main.main", File: "/src/go1.3/src/runtime/main.go"})
		b.Function(profile.Function{Name: "runtime.main", File: file})
		if got := GoVersionOf(b.Profile()); got != want {
			t.Errorf("%s: %q, not %q", file, got, want)
		}
	}
}
