package dist

// The assembly and its declarations, of a module of its own: nothing of the generator gets into a build. The
// directives stand together, as go generate leaves out files of other architectures.
//
//go:generate go run -C gen . -subject float32 -out ../float32_amd64.s -stubs ../float32_stubs_amd64.go
//go:generate go run -C gen . -subject visit -out ../visit_amd64.s -stubs ../visit_stubs_amd64.go
//go:generate go run -C gen . -subject half -out ../half_amd64.s -stubs ../half_stubs_amd64.go
//go:generate go run -C gen . -subject int8 -out ../int8_amd64.s -stubs ../int8_stubs_amd64.go
//go:generate go run -C gen . -subject bits -out ../bits_amd64.s -stubs ../bits_stubs_amd64.go
//go:generate go run -C gen . -subject sieve -out ../sieve_amd64.s -stubs ../sieve_stubs_amd64.go
//go:generate go run -C gen . -subject codes -out ../codes_amd64.s -stubs ../codes_stubs_amd64.go
//go:generate go run -C gen . -subject ranked -out ../ranked_amd64.s -stubs ../ranked_stubs_amd64.go
//go:generate go run -C gen . -subject translate -out ../translate_amd64.s -stubs ../translate_stubs_amd64.go
//go:generate go run -C gen . -subject sq8 -out ../sq8_amd64.s -stubs ../sq8_stubs_amd64.go
//go:generate go run -C gen . -subject pq -out ../pq_amd64.s -stubs ../pq_stubs_amd64.go
//go:generate go run -C gen . -subject rabitq -out ../rabitq_amd64.s -stubs ../rabitq_stubs_amd64.go
//go:generate go run -C gen . -subject linear -out ../linear_amd64.s -stubs ../linear_stubs_amd64.go
//go:generate go run -C gen . -subject neon-float32 -out ../float32_arm64.s -stubs ../float32_stubs_arm64.go
//go:generate go run -C gen . -subject neon-half -out ../half_arm64.s -stubs ../half_stubs_arm64.go
//go:generate go run -C gen . -subject neon-int -out ../int_arm64.s -stubs ../int_stubs_arm64.go
//go:generate go run -C gen . -subject neon-sieve -out ../sieve_arm64.s -stubs ../sieve_stubs_arm64.go
