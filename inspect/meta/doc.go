// Package meta turns the raw keys of a Milvus metadata store into a model.Cluster.
// It is the only package that knows key paths and metadata protos.
//
//  1. Ranges says which keys the wanted parts need, cut so that no answer is huge.
//  2. A key is parsed into its kind and the ids in it (key.go); kinds.go lists all kinds.
//  3. Its value is decoded: by hand for the three kinds of which there are hundreds of
//     thousands (wire.go), by Milvus's generated messages for the rest.
//  4. state gathers what was decoded, per object, and assembles the parts of a Cluster;
//     what cannot be decoded is kept as model.Undecoded, never dropped.
//  5. Follow applies changes to the same state and assembles again only what changed.
//
// Secrets are taken out before anything is kept (secret.go, redact.go): neither the
// Cluster nor its Keyspace ever holds one.
package meta
