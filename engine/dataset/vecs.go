package dataset

import (
	"context"
	"encoding/binary"
	"fmt"

	"kitescope/engine"
	"kitescope/engine/dist"
)

// readVecs reads the formats of TEXMEX (corpus-texmex.irisa.fr). Each row is its dimension as int32, followed by
// that number of float32 (fvecs), unsigned bytes (bvecs) or int32 (ivecs). float32 rows refer to the file. Bytes
// are converted to float32, because that is how they are commonly searched.
func readVecs(ctx context.Context, format Format, data []byte) (*Set, error) {
	size := 4
	if format == Bvecs {
		size = 1
	}
	if len(data) < 4 {
		return nil, fmt.Errorf("offset 0: expected the dimension of the first row in 4 bytes, found %d", len(data))
	}
	dim := int(int32(binary.LittleEndian.Uint32(data)))
	if dim <= 0 || dim > (len(data)-4)/size {
		return nil,
			fmt.Errorf("offset 0: a row of %d values of %d bytes declared, %d bytes follow", dim, size, len(data)-4)
	}
	stride := 4 + dim*size
	rows := len(data) / stride
	if rest := len(data) % stride; rest != 0 {
		return nil, fmt.Errorf("offset %d: expected a row of %d bytes, found %d", len(data)-rest, stride, rest)
	}
	for i := range rows {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if d := int(int32(binary.LittleEndian.Uint32(data[i*stride:]))); d != dim {
			return nil, fmt.Errorf("offset %d: row %d: expected dimension %d, found %d", i*stride, i, dim, d)
		}
	}
	switch format {
	case Bvecs:
		return widen(ctx, data, dim, rows, stride)
	case Ivecs:
		return idRows(ctx, rows, dim, func(i, j int) int64 {
			return int64(int32(binary.LittleEndian.Uint32(data[i*stride+4+4*j:])))
		})
	default:
		v, err := engine.View(dist.Float32, dim, rows, stride, data[4:])
		return &Set{Vectors: v, Mapped: true}, err
	}
}

// widen copies rows of bytes to float32.
func widen(ctx context.Context, data []byte, dim, rows, stride int) (*Set, error) {
	v, err := engine.NewVectors(dist.Float32, dim, rows)
	if err != nil {
		return nil, err
	}
	s := &Set{Vectors: v}
	for i := range rows {
		if i%checkEvery == 0 && ctx.Err() != nil {
			s.Close()
			return nil, ctx.Err()
		}
		row := v.Float32(i)
		for j, b := range data[i*stride+4:][:dim] {
			row[j] = float32(b)
		}
	}
	return s, nil
}
