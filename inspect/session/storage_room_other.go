//go:build !linux && !darwin

package session

import "kitescope/inspect/model"

// roomOf returns nil, because there is no portable call for this system.
func roomOf(string) *model.Room { return nil }
