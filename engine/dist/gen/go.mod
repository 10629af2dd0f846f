module kitescope/engine/dist/gen

go 1.26.0
