package main

import (
	"context"
	"fmt"
	"strconv"

	"kitescope/tools/e2e/lab"
)

// misuses are the ways in which a client misbehaves, each with its weakest and its strongest: see client.py.
var misuses = []struct {
	kind      string
	low, high float64
}{
	{"searches", 4, 60},
	{"vectors", 200, 10_000},
	{"rows", 1000, 16_384},
	{"filter", 500, 20_000},
	{"flushes", 1, 8},
	{"inserts", 500, 20_000},
	{"deletes", 500, 20_000},
	{"collections", 1, 6},
	{"reloads", 1, 1},
}

func drawMisuse(d *dice) *Action {
	m := pick(d, misuses)
	n := int(d.between(m.low, m.high))
	return &Action{
		Components: []string{"client"}, Args: fmt.Sprintf("%s %d", m.kind, n),
		inject: func(ctx context.Context, l *Lab, _ *Action) error {
			cmd := l.Command(ctx, l.Python(), "-W", "ignore", l.Script, lab.ProxyAddress, "misuse", m.kind,
				strconv.Itoa(n), "120")
			if err := cmd.Start(); err != nil {
				return err
			}
			l.Undo(func() error { _ = cmd.Cancel(); _ = cmd.Wait(); return nil })
			return nil
		},
		effect: func(context.Context, *Lab) (bool, string) { return true, "sent" },
	}
}
