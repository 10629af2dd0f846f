// Package metatest builds the metadata of small clusters of the Milvus versions without a capture: 2.4, 2.5, 2.6
// and 3.0. They are constructed, not captured: typed records under the keys that Milvus's catalogs write
// (internal/metastore/kv/*/kv_catalog.go of each version, and birdwatcher's readers), with the messages of the
// pinned protos. Cluster takes a version and returns the key-values below by-dev/, sorted like those of a source.
//
// Use them in tests for the shape of metadata. Facts about real servers come from testdata/snapshots.
package metatest
