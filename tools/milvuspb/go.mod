module kitescope/tools/milvuspb

go 1.26.6

require (
	github.com/milvus-io/milvus/pkg/v3 v3.0.1
	google.golang.org/protobuf v1.36.12
)

require (
	github.com/milvus-io/milvus-proto/go-api/v3 v3.0.1 // indirect
	golang.org/x/net v0.58.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
	golang.org/x/text v0.41.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260414002931-afd174a4e478 // indirect
	google.golang.org/grpc v1.82.1 // indirect
)

tool google.golang.org/protobuf/cmd/protoc-gen-go
