// Package meta decodes the raw keys of a Milvus metadata store into a model.Cluster. No other package decodes keys or
// metadata protos; package source knows only the prefixes by which it finds a root, and the keys of the clock.
//
//  1. Load reads the wanted parts of a source.Snapshot (Want), in ranges cut so that no response is huge (Ranges).
//  2. grammar parses a key into its kind and ids (key.go). kinds.go lists all kinds.
//  3. The value is decoded: by hand for the three messages with hundreds of thousands of keys (wire.go), otherwise by
//     Milvus's generated code. A value that cannot be decoded becomes a model.Undecoded and is never dropped.
//  4. state collects the decoded values per object, assembles model.Parts of them, and calls model.Build.
//  5. Follower applies changes to the same state and reassembles only what changed.
//
// Secrets are redacted before anything is stored (redact.go). Only Want.UnknownSettings keeps text that may hold one.
package meta
