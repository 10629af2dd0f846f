package live_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/milvus-io/milvus-proto/go-api/v3/commonpb"
	"github.com/milvus-io/milvus-proto/go-api/v3/milvuspb"

	"kitescope/inspect/model"
)

// TestOddStored checks that sizes are all known or all unknown, and never 0 because one could not be read.
func TestOddStored(t *testing.T) {
	for text, want := range map[string]map[model.CollectionID]int64{
		`{"CollectionBinlogSize":{"7":5,"8":0}}`:   {7: 5, 8: 0},
		`{"CollectionBinlogSize":{}}`:              {},
		`{"CollectionBinlogSize":null}`:            nil,
		`{"TotalBinlogSize":5}`:                    nil, // 2.1
		`{"CollectionBinlogSize":[5]}`:             nil,
		`{"CollectionBinlogSize":{"7":"x"}}`:       nil,
		`{"CollectionBinlogSize":{"7":5,"x":1}}`:   nil,
		`{"CollectionBinlogSize":{"7":-5}}`:        nil,
		`{"CollectionBinlogSize":{"7":1e99}}`:      nil,
		`{"CollectionBinlogSize":{"7":{"a":[1]}}}`: nil,
	} {
		request := &milvuspb.GetMetricsRequest{Request: `{"metric_type":"system_info"}`}
		r := decode(answered(t, "datacoord-2", inDataCoord+"GetMetrics", request, &milvuspb.GetMetricsResponse{
			Status:   &commonpb.Status{},
			Response: `{"cluster":{"self":{"id":2,"name":"datacoord2","quota_metrics":` + text + `}}}`,
		}))
		if diff := cmp.Diff(want, r.StoredBytes); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}
