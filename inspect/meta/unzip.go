package meta

import (
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

const (
	// maxMessage limits the size of a decoded message, in bytes. etcd accepts values of 1.5 MiB by default. A
	// crafted value of 256 MiB could decode to 20 GB of empty objects.
	maxMessage = 64 << 20
	// maxPlainSize is the unpacked size up to which any value is accepted, in bytes. maxRatio limits the compression
	// ratio of larger values: ids and rows compress 3 to 10 times.
	maxPlainSize = 4 << 20
	maxRatio     = 64
)

var errTooLarge = errors.New("too large for a Milvus record")

// decompressor unpacks the values that Milvus compresses. It is safe for concurrent use.
type decompressor struct {
	small *zstd.Decoder
	large func() (*zstd.Decoder, error) // rarely needed
}

func newDecompressor() (*decompressor, error) {
	small, err := valueDecoder(maxPlainSize)
	if err != nil {
		return nil, err
	}
	return &decompressor{
		small: small, large: sync.OnceValues(func() (*zstd.Decoder, error) { return valueDecoder(maxMessage) }),
	}, nil
}

func valueDecoder(maxSize uint64) (*zstd.Decoder, error) {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxSize))
	if err != nil {
		return nil, fmt.Errorf("make a zstd decoder: %w", err)
	}
	return decoder, nil
}

// value unpacks one value. It returns errTooLarge for a decompression bomb.
func (u *decompressor) value(packed []byte) ([]byte, error) {
	raw, err := u.small.DecodeAll(packed, nil)
	if err == nil || !tooLarge(err) {
		return raw, err
	}
	if len(packed) < maxPlainSize/maxRatio {
		return nil, errTooLarge
	}
	decoder, err := u.large()
	if err != nil {
		return nil, err
	}
	raw, err = decoder.DecodeAll(packed, nil)
	if err != nil && tooLarge(err) || len(raw) > maxRatio*len(packed) {
		return nil, errTooLarge
	}
	return raw, err
}

func tooLarge(err error) bool {
	return errors.Is(err, zstd.ErrDecoderSizeExceeded) || errors.Is(err, zstd.ErrWindowSizeExceeded)
}
