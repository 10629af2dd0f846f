//go:build purego || !(amd64 || arm64)

package dist

// halfNative has none: the specification serves.
func halfNative(Backend, Metric, Element, halfOrder) (forms, bool) { return forms{}, false }

// int8Native has none: the specification serves.
func int8Native(Backend, Metric) (forms, bool) { return forms{}, false }

// bitNative has none: the specification serves.
func bitNative(Backend, Metric) (forms, bool) { return forms{}, false }
