package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"kitescope/engine/binlog"
	"kitescope/engine/binlog/binlogtest"
	"kitescope/engine/hnsw"
	"kitescope/engine/index"
	"kitescope/engine/object"
)

// sliceBytes is the default of common.indexSliceSize in Milvus.
const sliceBytes = 16 << 20

// load measures the time from the index files of a Milvus segment to a searchable graph. It compares that
// with reading the files and decompressing their pages, which no reader can avoid.
func (b *bench) load(ctx context.Context) error {
	f := b.set(768)
	if err := b.ensureHNSWLib(ctx, f); err != nil {
		return err
	}
	if err := b.ensureMilvus(ctx, f); err != nil {
		return err
	}
	b.logf("%s: loading Milvus's index files", f.name())
	var size, grown int64
	var walls []float64
	got, err := pair{
		ours: func() (timing, error) {
			return timeProcess(func() error {
				wall, err := timeWall(func() error { return loadMilvus(ctx, f) })
				walls = append(walls, float64(wall))
				return err
			})
		},
		theirs: func() (timing, error) {
			return timeProcess(func() (err error) { size, grown, err = decompress(f.milvus); return err })
		},
	}.run(min(b.rounds, 3))
	if err != nil {
		return err
	}
	ratios := make([]float64, len(got.Ours))
	for i := range ratios {
		ratios[i] = float64(got.Ours[i]) / float64(got.Theirs[i])
	}
	b.report.add(row{
		Part: partLoad,
		What: fmt.Sprintf("load of Milvus's HNSW files, %s, %s, CPU time of all threads", f.title(), megabytes(size)),
		Bar:  1.5, AtMost: true, Ratio: spreadOf(ratios),
		Ours:  fmt.Sprintf("%s, %s on the wall", span(medianPerOp(got.Ours, 1)), span(timing(spreadOf(walls).Median))),
		Their: fmt.Sprintf("%s to read and decompress them to %s", span(medianPerOp(got.Theirs, 1)), megabytes(grown)),
	})
	return nil
}

// ensureMilvus writes the graph of hnswlib's file as a Milvus node would store it.
func (b *bench) ensureMilvus(ctx context.Context, f files) error {
	if !missing(f.milvus) {
		return nil
	}
	b.logf("%s: writing Milvus's index files; they are kept", f.name())
	file, err := index.OpenFile(ctx, f.hnswlib, index.Hint{Dim: f.dim})
	if err != nil {
		return err
	}
	defer file.Close()
	var blob bytes.Buffer
	if err := index.WriteKnowhere(&blob, index.As[hnsw.Index](file)); err != nil {
		return err
	}
	dir := f.milvus + ".part"
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return err
	}
	write := func(name string, data []byte) error {
		if b.peer == nil { // in a test, where the encoding does not matter
			return replaceFile(filepath.Join(dir, name), func(out *os.File) error {
				return binlogtest.WriteIndexFile(out,
					binlog.Descriptor{Collection: 1, Partition: 2, Segment: 3, Field: 101}, 4, data)
			})
		}
		raw, column := filepath.Join(dir, name)+".raw", filepath.Join(dir, name)+".parquet"
		defer os.Remove(raw)
		defer os.Remove(column)
		if err := os.WriteFile(raw, data, 0o644); err != nil {
			return err
		}
		if _, err := b.peer.do("parquet_bytes", args{"file": raw, "out": column}); err != nil {
			return err
		}
		payload, err := os.ReadFile(column)
		if err != nil {
			return err
		}
		return replaceFile(filepath.Join(dir, name), func(out *os.File) error {
			return binlog.WriteIndexPayload(out, binlog.Descriptor{Collection: 1, Partition: 2, Segment: 3, Field: 101},
				4, len(data), payload)
		})
	}
	n := 0
	for part := range slices.Chunk(blob.Bytes(), sliceBytes) {
		if err := write(fmt.Sprintf("HNSW_%d", n), part); err != nil {
			return err
		}
		n++
	}
	type slice struct {
		Name   string `json:"name"`
		Slices int    `json:"slice_num"`
		Bytes  int    `json:"total_len"`
	}
	meta, err := json.Marshal(map[string][]slice{"meta": {{"HNSW", n, blob.Len()}}})
	if err != nil {
		return err
	}
	if err := write("SLICE_META", append(meta, 0)); err != nil {
		return err
	}
	return os.Rename(dir, f.milvus)
}

// loadMilvus loads the index files until they can be searched, then releases them.
func loadMilvus(ctx context.Context, f files) error {
	store, err := object.OpenFolder(filepath.Dir(f.milvus))
	if err != nil {
		return err
	}
	defer store.Close()
	blobs, hint, err := index.ReadBlobs(ctx, store, filepath.Base(f.milvus), index.Hint{})
	if err != nil {
		return err
	}
	file, err := index.FromBlobs(blobs, hint)
	if err != nil {
		return err
	}
	if index.As[hnsw.Index](file) == nil || index.As[hnsw.Index](file).Vectors.Rows != f.rows {
		return fmt.Errorf("%s: a graph of %d nodes was expected", f.milvus, f.rows)
	}
	index.As[hnsw.Index](file).Vectors.Release()
	file.Close()
	return nil
}

// decompress reads the slices of an index and decompresses the pages of their parquet parts. It returns the
// bytes before and after.
func decompress(dir string) (size, grown int64, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, "HNSW_*"))
	if err != nil {
		return 0, 0, err
	}
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return 0, 0, err
	}
	defer z.Close()
	var buffer []byte
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return 0, 0, err
		}
		size += int64(len(data))
		bodies, err := pageBodies(data)
		if err != nil {
			return 0, 0, fmt.Errorf("%s: %w", path, err)
		}
		for _, body := range bodies {
			if buffer, err = z.DecodeAll(body, buffer[:0]); err != nil {
				return 0, 0, fmt.Errorf("%s: %w", path, err)
			}
			grown += int64(len(buffer))
		}
	}
	if grown == 0 {
		err = fmt.Errorf("%s: no pages", dir)
	}
	return size, grown, err
}

// pageBodies returns the compressed pages of the only column of an index file.
func pageBodies(data []byte) ([][]byte, error) {
	start := bytes.Index(data, []byte("PAR1"))
	if start < 0 {
		return nil, errors.New("no parquet file inside")
	}
	data = data[start:]
	file, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)), parquet.SkipPageIndex(true),
		parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, err
	}
	var bodies [][]byte
	var protocol thrift.CompactProtocol
	for _, group := range file.Metadata().RowGroups {
		m := &group.Columns[0].MetaData
		if m.Codec != format.Zstd {
			return nil, fmt.Errorf("pages compressed with %s", m.Codec)
		}
		at := m.DataPageOffset
		if m.DictionaryPageOffset != 0 {
			at = m.DictionaryPageOffset
		}
		for end := at + m.TotalCompressedSize; at < end; {
			r := protocol.NewReaderFromBytes(data[at:end])
			var h format.PageHeader
			if err := thrift.NewDecoder(r).Decode(&h); err != nil {
				return nil, err
			}
			at += int64(r.BytesRead())
			body := data[at : at+int64(h.CompressedPageSize)]
			if h.DataPageHeaderV2.Valid { // the uncompressed levels come first
				body = body[h.DataPageHeaderV2.V.RepetitionLevelsByteLength+
					h.DataPageHeaderV2.V.DefinitionLevelsByteLength:]
			}
			bodies = append(bodies, body)
			at += int64(h.CompressedPageSize)
		}
	}
	return bodies, nil
}

// title returns the name of a set in the report.
func (s shape) title() string {
	title := fmt.Sprintf("%s x %d", thousands(s.rows), s.dim)
	if s.overlap {
		title += ", overlapping"
	}
	if s.ties {
		title += ", values 0 to 2"
	}
	return title
}

// thousands formats 100000 as 100,000.
func thousands(n int) string {
	text := strconv.Itoa(n)
	var b strings.Builder
	for i, c := range text {
		if i > 0 && (len(text)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return b.String()
}
