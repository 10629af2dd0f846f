//go:build !linux && !darwin

package session

import "kitescope/inspect/model"

// roomOf is unknown: no call of this system says it portably.
func roomOf(string) *model.Room { return nil }
