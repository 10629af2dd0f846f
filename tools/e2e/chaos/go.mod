module kitescope/tools/e2e/chaos

go 1.26.0
