module kitescope/tools/e2e/pgo/png

go 1.26.0

require github.com/anthonynsimon/bild v0.14.0

require golang.org/x/image v0.18.0 // indirect
