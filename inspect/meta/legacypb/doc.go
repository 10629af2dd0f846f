// Package legacypb holds the metadata messages that the pinned Milvus protos lack: messages of 2.1 and 2.3 that
// were removed, and messages that newer releases added. They are maintained by hand, with the field numbers of the
// named source. Every message has its own package name, so that it does not collide with Milvus's in the protobuf
// registry.
//
// Regenerate with protoc and protoc-gen-go v1.36.12:
//
//	protoc -I .. --go_out=.. --go_opt=paths=source_relative ../legacypb/milvus_2_1.proto \
//		../legacypb/milvus_2_3.proto ../legacypb/milvus_3_0.proto
package legacypb
