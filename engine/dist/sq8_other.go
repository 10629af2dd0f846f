//go:build purego || !amd64

package dist

// sq8Native is nil: there is the specification alone.
func sq8Native(Backend, Metric, sq8Order) scanFunc { return nil }
