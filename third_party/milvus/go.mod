module github.com/milvus-io/milvus/pkg/v3

go 1.26.0

require (
	github.com/milvus-io/milvus-proto/go-api/v3 v3.0.1
	google.golang.org/protobuf v1.36.12
)
