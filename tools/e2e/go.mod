module kitescope/tools/e2e

go 1.26.0
