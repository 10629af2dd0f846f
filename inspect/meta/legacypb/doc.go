// Package legacypb holds the few metadata messages that the pinned Milvus protos
// do not have: those of 2.1 and 2.3 that are gone, and those that newer releases added.
// They are kept by hand, field numbers as in the named source; every message has
// its own package name so that it cannot clash with Milvus's in the protobuf registry.
//
// Regenerate with protoc and protoc-gen-go v1.36.12:
//
//	protoc -I .. --go_out=.. --go_opt=paths=source_relative ../legacypb/milvus_2_1.proto ../legacypb/milvus_2_3.proto ../legacypb/milvus_3_0.proto
package legacypb
