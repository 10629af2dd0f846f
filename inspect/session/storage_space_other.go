//go:build !linux && !darwin

package session

import "kitescope/inspect/model"

// diskSpace returns nil, because this system has no portable call for it.
func diskSpace(string) *model.DiskSpace { return nil }
