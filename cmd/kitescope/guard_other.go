//go:build !unix

package main

import "context"

// guard does nothing, because a child process cannot inherit extra files on this platform.
func (*program) guard([]string) (code int, done bool) { return 0, false }

func guarded(ctx context.Context) context.Context { return ctx }
