package dist

// The generator of the assembly and its declarations is a module of its own, so that it never gets into a build.
// All directives are in this file because go generate skips files of other architectures.
//
//go:generate go run -C gen . -subject amd64-float -out ../float_amd64.s -stubs ../float_stubs_amd64.go
//go:generate go run -C gen . -subject amd64-int -out ../int_amd64.s -stubs ../int_stubs_amd64.go
//go:generate go run -C gen . -subject amd64-sieve -out ../sieve_amd64.s -stubs ../sieve_stubs_amd64.go
//go:generate go run -C gen . -subject amd64-sq8 -out ../sq8_amd64.s -stubs ../sq8_stubs_amd64.go
//go:generate go run -C gen . -subject arm64-float -out ../float_arm64.s -stubs ../float_stubs_arm64.go
//go:generate go run -C gen . -subject arm64-int -out ../int_arm64.s -stubs ../int_stubs_arm64.go
//go:generate go run -C gen . -subject arm64-sieve -out ../sieve_arm64.s -stubs ../sieve_stubs_arm64.go
