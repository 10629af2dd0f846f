// Package meta decodes the raw keys of a Milvus metadata store into a model.Cluster. It is the only package
// that knows key paths and metadata protos.
//
//  1. Ranges returns the keys to read for the wanted parts, cut so that no response is huge.
//  2. grammar parses a key into its kind and ids (key.go). kinds.go lists all kinds.
//  3. The value is decoded: by hand for the three messages with hundreds of thousands of
//     keys (wire.go), otherwise by Milvus's generated code.
//  4. state collects the decoded values per object and assembles the parts of a Cluster.
//     A value that cannot be decoded becomes a model.Undecoded and is never dropped.
//  5. Follower applies changes to the same state and reassembles only what changed.
//
// Secrets are redacted before anything is stored (redact.go): neither the Cluster nor its Keyspace ever holds
// a secret.
package meta
