module github.com/milvus-io/milvus-proto/go-api/v3

go 1.26.0

require google.golang.org/protobuf v1.36.12
