package read

const goText = `goos: linux
goarch: amd64
pkg: example.com/codec
cpu: Some CPU
Unit recall better=higher
BenchmarkEncode/large-8         	     100	     12345 ns/op	 123.50 MB/s	      64 B/op	       2 allocs/op
BenchmarkQuery-8                	      10	  2000000 ns/op	  1500 p99-ns	   480.5 queries/s	 0.95 recall
BenchmarkEncode/large-8         	     100	     12300 ns/op	 124.00 MB/s	      64 B/op	       2 allocs/op
BenchmarkBroken-8               	     100	     oops ns/op
PASS
ok  	example.com/codec	1.234s
`

const goWant = `[0 go benchmark]
run 1
  BenchmarkEncode/large-8: time/op = 1.2345e-05 s -
  BenchmarkEncode/large-8: speed = 1.235e+08 B/s +
  BenchmarkEncode/large-8: alloc/op = 64 B -
  BenchmarkEncode/large-8: allocs/op = 2 -
  BenchmarkQuery-8: time/op = 0.002 s -
  BenchmarkQuery-8: p99 = 1.5e-06 s -
  BenchmarkQuery-8: queries/s = 480.5 1/s +
  BenchmarkQuery-8: recall = 0.95 +
run 2
  BenchmarkEncode/large-8: time/op = 1.23e-05 s -
  BenchmarkEncode/large-8: speed = 1.24e+08 B/s +
  BenchmarkEncode/large-8: alloc/op = 64 B -
  BenchmarkEncode/large-8: allocs/op = 2 -
note skipped a line that is not a result (line 9: parsing measurement: invalid syntax)
`

const hyperfineText = `{"results": [
 {"command": "old", "mean": 1.5, "stddev": 0.1, "median": 1.5, "user": 1.0, "system": 0.2, "min": 1.4, "max": 1.6,
  "times": [1.4, 1.6], "memory_usage_byte": [1000, 1100], "exit_codes": [0, 0]},
 {"command": "new", "mean": 1.0, "stddev": null, "median": 1.0, "user": 0.75, "system": 0.125, "min": 1.0, "max": 1.0,
  "times": [1.0], "exit_codes": [1]}]}`

const hyperfineWant = `[0 hyperfine]
run 1
  time = 1.4 s -
  peak memory = 1000 B -
run 2
  time = 1.6 s -
  peak memory = 1100 B -
note 1 of 1 runs of "new" ended with an error and were timed anyway
[1 hyperfine]
run 1
  time = 1 s -
  cpu time = 0.875 s -
`

const abText = `This is ApacheBench, Version 2.3 <$Revision$>

Server Software:        x
Document Path:          /

Concurrency Level:      25
Time taken for tests:   3.045 seconds
Complete requests:      1000
Failed requests:        0
Total transferred:      5558000 bytes
HTML transferred:       5339000 bytes
Requests per second:    328.37 [#/sec] (mean)
Time per request:       76.135 [ms] (mean)
Time per request:       3.045 [ms] (mean, across all concurrent requests)
Transfer rate:          1782.28 [Kbytes/sec] received

Connection Times (ms)
              min  mean[+/-sd] median   max
Connect:        0    0   0.3      0       5
Total:         43   75  11.0     70     120

Percentage of the requests served within a certain time (ms)
  50%     70
  99%    110
 100%    120 (longest request)
`

const abWant = `[0 ab]
run 1
  /: time taken, 25 clients = 3.045 s @25 -
  /: requests, 25 clients = 1000 @25 .
  /: failed requests, 25 clients = 0 @25 -
  /: non-2xx responses, 25 clients = 0 @25 -
  /: requests per second, 25 clients = 328.37 1/s @25 +
  /: mean latency, 25 clients = 0.076135 s @25 -
  /: transfer rate, 25 clients = 1.82505472e+06 B/s @25 +
  /: p50 latency, 25 clients = 0.07 s @25 -
  /: p99 latency, 25 clients = 0.11 s @25 -
  /: max latency, 25 clients = 0.12 s @25 -
`

const osbText = `{"benchmark-version":"2.4.0","test-run-id":"x","workload":"big5","cluster":{},
 "results":{"op_metrics":[{"task":"term","operation":"term","throughput":{"min":1.5,"mean":2,"median":2,"max":2.5,"unit":"ops/s"},
  "latency":{"50_0":5.25,"99_9":7,"100_0":8,"mean":5.5,"unit":"ms"},"service_time":{"50_0":4,"mean":4,"unit":"ms"},
  "processing_time":{},"error_rate":0.01,"duration":1000}],
 "correctness_metrics":[{"task":"knn","recall@k":{"mean":0.98},"recall@1":{"mean":1}}],
 "total_time":60000,"merge_count":3,"old_gc_count":null}}`

const osbWant = `[0 opensearch benchmark]
run 1
  term: Min Throughput = 1.5 1/s +
  term: Mean Throughput = 2 1/s +
  term: Median Throughput = 2 1/s +
  term: Max Throughput = 2.5 1/s +
  term: 50th percentile latency = 0.00525 s -
  term: 99.9th percentile latency = 0.007 s -
  term: 100th percentile latency = 0.008 s -
  term: 50th percentile service time = 0.004 s -
  term: error rate = 1 % -
  knn: Mean recall@k = 0.98 +
  knn: Mean recall@1 = 1 +
  Cumulative indexing time of primary shards = 60 s -
  Cumulative merge count of primary shards = 3 -
`

const jmhSample = `[{"benchmark":"a.B.c","mode":"thrpt","threads":1,"forks":2,"params":{"size":"8"},
 "primaryMetric":{"score":2.5,"scoreError":"NaN","scoreUnit":"ops/ms","rawData":[[2,3],[2.5,"NaN"]]},
 "secondaryMetrics":{"·gc.alloc.rate.norm":{"score":16,"scoreUnit":"B/op","rawData":[[16,16],[16,16]]}}},
 {"benchmark":"a.B.d","mode":"sample","threads":1,"forks":1,
 "primaryMetric":{"score":20,"scoreUnit":"us/op","rawDataHistogram":[[[[10,1],[30,1]],[[20,2]]]]},"secondaryMetrics":{}}]`

const jmhWant = `[0 jmh]
run fork 1
  a.B.c size=8: throughput = 2500 1/s +
  a.B.c size=8: gc.alloc.rate.norm = 16 B -
  a.B.d: sampled time = 2e-05 s -
run fork 2
  a.B.c size=8: throughput = 2500 1/s +
  a.B.c size=8: gc.alloc.rate.norm = 16 B -
note 1 of 2 benchmarks ran in a single fork, one run: its 2 iterations are not independent; run JMH with -f 5 or more
`

const annText = `algorithm,parameters,count,k-nn,epsilon,qps,p99,build,indexsize,queriessize,dataset
milvus,"M=16, ef=10",10,0.96,0.97,1000.5,2.5,30,1000,1,sift
milvus,"M=16, ef=10",10,0.96,0.97,1010,2.4,31,1000,1,sift
`

const annWant = `[0 ann-benchmarks]
run 1
  milvus M=16, ef=10 10 sift: recall = 0.96 +
  milvus M=16, ef=10 10 sift: epsilon 0.01 recall = 0.97 +
  milvus M=16, ef=10 10 sift: QPS = 1000.5 1/s +
  milvus M=16, ef=10 10 sift: p99 latency = 0.0025 s -
  milvus M=16, ef=10 10 sift: build time = 30 s -
  milvus M=16, ef=10 10 sift: index size = 1e+06 B -
run 2
  milvus M=16, ef=10 10 sift: recall = 0.96 +
  milvus M=16, ef=10 10 sift: epsilon 0.01 recall = 0.97 +
  milvus M=16, ef=10 10 sift: QPS = 1010 1/s +
  milvus M=16, ef=10 10 sift: p99 latency = 0.0024 s -
  milvus M=16, ef=10 10 sift: build time = 31 s -
  milvus M=16, ef=10 10 sift: index size = 1e+06 B -
`

const runsText = `{"kitescope_runs":1,"name":"before","format":"trial","notes":["quiet machine"]}
{"run":"1","pair":"a","values":[{"name":"p99 latency","unit":"ms","concurrency":8,"better":"lower","value":2.5}]}
{"run":"2","pair":"b","failed":"exit status 1"}
{"run":"2","pair":"c"}
{"kitescope_runs":1,"name":"after","format":"trial"}
{"run":"1","pair":"a","values":[{"name":"p99 latency","unit":"s","concurrency":8,"value":0.002},{"name":"odd"}]}
{"run":"3","pa`

const runsWant = `[0 trial]
run 1 pair a
  p99 latency, 8 clients = 0.0025 s @8 -
run 2 pair b failed: exit status 1
note quiet machine
note a run with a duplicate name was left out (line 4: 2)
note a figure without a value was left out (line 6: odd)
note the last line is cut off (line 7)
[1 trial]
run 1 pair a
  p99 latency, 8 clients = 0.002 s @8 -
`
