// Package metatest builds the metadata of small clusters of the Milvus versions of
// which there is no capture: 2.4, 2.5, 2.6 and 3.0. They are constructed, not captured:
// typed records under the keys that Milvus's catalogs write
// (internal/metastore/kv/*/kv_catalog.go of each version, and birdwatcher's readers),
// with the messages of the pinned protos. What enters is a version, what leaves are
// key-values below by-dev/, sorted, as a source yields them.
//
// Tests use them for shape; facts about real servers come from testdata/snapshots.
package metatest
