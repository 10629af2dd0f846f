package cache

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"kitescope/engine/object"
	"kitescope/internal/hints"
)

// A block is a file PLACE/XX/STEM-NUMBER: the first 16 hexadecimal digits of the place's SHA-256; the first two of the file's name,
// and all of them; the number of the block. It is a header and the bytes, little-endian:
//
//	offset  bytes
//	0       8      magic
//	8       8      checksum of the bytes behind the header: CRC-32C, then CRC-32
//	16      8      length of the whole file of the store
//	24      4      length of a block
//	28      4      number of this block
//	32      4      length of this block: a block's, or what is left for the last one
//	36      32     SHA-256 of the file's name
//	68      16     of the SHA-256 of its version (a bucket's ETag); zero without one
//	84      4      CRC-32C of the header up to here
//
// Two CRCs are in the place of one hash because CPUs have instructions for both: it is the wear of disks and torn writes that they are
// held against, and whoever may write into the folder could write the checksums as well.
const (
	magic      = "KITEBLK1"
	headerSize = 88
	maxBlock   = 1 << 30
	temporary  = "fetching-"
)

// header says what a block is.
type header struct {
	sum     uint64
	size    int64 // of the whole file
	block   int64 // length of a block
	number  int64
	length  int64 // of this block
	name    [32]byte
	version [16]byte
}

// errDamaged is a block that is not as it was written.
var errDamaged = errors.New("damaged")

func damaged(format string, a ...any) error {
	return fmt.Errorf("%w: %s", errDamaged, fmt.Sprintf(format, a...))
}

// checksum is CRC-32C and CRC-32 of b.
func checksum(b []byte) uint64 {
	return uint64(crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))) | uint64(crc32.ChecksumIEEE(b))<<32
}

func (h *header) bytes() []byte {
	le := binary.LittleEndian
	b := append(make([]byte, 0, headerSize), magic...)
	b = le.AppendUint64(le.AppendUint64(b, h.sum), uint64(h.size))
	b = le.AppendUint32(le.AppendUint32(le.AppendUint32(b, uint32(h.block)), uint32(h.number)), uint32(h.length))
	b = append(append(b, h.name[:]...), h.version[:]...)
	return le.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

// parseHeader reads a header, which agrees with itself if there is no error.
func parseHeader(b []byte) (h header, err error) {
	le := binary.LittleEndian
	switch {
	case len(b) < headerSize:
		return h, damaged("a header of %d bytes, expected %d", len(b), headerSize)
	case string(b[:8]) != magic:
		return h, damaged("it starts with % x", b[:8])
	case le.Uint32(b[84:]) != crc32.Checksum(b[:84], crc32.MakeTable(crc32.Castagnoli)):
		return h, damaged("its header checksum is wrong")
	}
	h.sum, h.size = le.Uint64(b[8:]), int64(le.Uint64(b[16:]))
	h.block, h.number, h.length = int64(le.Uint32(b[24:])), int64(le.Uint32(b[28:])), int64(le.Uint32(b[32:]))
	h.name, h.version = [32]byte(b[36:]), [16]byte(b[68:])
	if h.block <= 0 || h.block > maxBlock || h.size <= 0 || h.number > (h.size-1)/h.block || h.length != min(h.block, h.size-h.number*h.block) {
		return h, damaged("block %d of %d bytes of %d in a file of %d", h.number, h.length, h.block, h.size)
	}
	return h, nil
}

func placeName(place string) string {
	sum := sha256.Sum256([]byte(place))
	return hex.EncodeToString(sum[:8])
}

func stemOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:])
}

// versionHash is the version of an open file as a header has it; zero if it has none.
func versionHash(r object.Reader) (h [16]byte) {
	if v := versionOf(r); v != "" {
		sum := sha256.Sum256([]byte(v))
		copy(h[:], sum[:])
	}
	return h
}

// wanted is the header of a block of a file, but for its checksum.
func (r *reader) wanted(number int64) header {
	return header{
		size: r.size, block: r.block, number: number, length: min(r.block, r.size-number*r.block),
		name: sha256.Sum256([]byte(r.name)), version: r.version,
	}
}

// changed says how the file of a block is another than the one that is wanted; empty if it is the same.
func (h *header) changed(want *header) string {
	switch {
	case h.name != want.name || h.number != want.number:
		return "its header belongs to another file"
	case h.size != want.size:
		return fmt.Sprintf("the file had %d bytes and has %d", h.size, want.size)
	case h.block != want.block:
		return fmt.Sprintf("it was fetched in blocks of %d bytes, not %d", h.block, want.block)
	case h.version != want.version:
		return "the file has another version (ETag)"
	}
	return ""
}

// path is where a block is kept.
func (c *cached) path(stem string, number int64) string {
	return filepath.Join(c.dir, stem[:2], stem+"-"+strconv.FormatInt(number, 10))
}

// blockName takes the name of a block apart; false if it is another file.
func blockName(name string) (stem string, ok bool) {
	stem, number, ok := strings.Cut(name, "-")
	if !ok || len(stem) != 64 || number == "" || strings.Trim(stem, "0123456789abcdef") != "" || strings.Trim(number, "0123456789") != "" {
		return "", false
	}
	return stem, true
}

// load reads a block into dst, which is as long, or into new memory if it is nil. The error is fs.ErrNotExist if there is none, and
// errDamaged or errChanged if it must not be used.
func (c *cached) load(path string, want header, dst []byte) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var head [headerSize]byte
	n, err := f.ReadAt(head[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, damaged("%v", err)
	}
	h, err := parseHeader(head[:n])
	if err != nil {
		return nil, err
	}
	if why := h.changed(&want); why != "" {
		return nil, fmt.Errorf("%w: %s", errChanged, why)
	}
	if info, err := f.Stat(); err != nil || info.Size() != headerSize+h.length {
		return nil, damaged("its length is wrong")
	}
	if dst == nil {
		dst = make([]byte, h.length)
	}
	if _, err := f.ReadAt(dst, headerSize); err != nil {
		return nil, damaged("%v", err)
	}
	if sum := checksum(dst); sum != h.sum {
		return nil, damaged("checksum %016x, expected %016x", sum, h.sum)
	}
	now := c.options.Now()
	_ = os.Chtimes(path, now, now) // when it was used; a folder that has become read-only is read on
	return dst, nil
}

// errChanged is a block of another version of a file.
var errChanged = errors.New("changed")

// whole reports whether all blocks of one version of a file are there, and gives the header of the first.
func (c *cached) whole(name string) (first header, ok bool) {
	stem := stemOf(name)
	for number := int64(0); number == 0 || number*first.block < first.size; number++ {
		h, err := readHeader(c.path(stem, number))
		if number == 0 {
			first = h
		}
		if err != nil || h.number != number || h.block != int64(c.options.Block) || h.name != sha256.Sum256([]byte(name)) ||
			h.size != first.size || h.version != first.version {
			return first, false
		}
	}
	return first, true
}

func readHeader(path string) (header, error) {
	f, err := os.Open(path)
	if err != nil {
		return header{}, err
	}
	defer f.Close()
	var head [headerSize]byte
	if _, err := io.ReadFull(f, head[:]); err != nil {
		return header{}, err
	}
	return parseHeader(head[:])
}

// write saves a block under a temporary name and renames it, so that no reader sees half of one. What a crash makes of it is found by
// its checksums; it is synced so that a power cut does not take the fetches of an hour along, and the disk says now that it is full.
func (c *cached) write(path string, h header, content []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, temporary)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, io.MultiReader(bytes.NewReader(h.bytes()), bytes.NewReader(content)))
	if err == nil && len(content) >= syncFrom {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if now := c.options.Now(); err == nil {
		err = os.Chtimes(f.Name(), now, now)
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// syncFrom is the length from which a block is synced: below, fetching it again costs no more than the sync.
const syncFrom = 64 << 10

// folderError says what to do about a folder that cannot be used.
func folderError(what string, err error) error {
	hint := "give another folder with --cache"
	switch {
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		hint = "free space on that disk, or lower --cache-limit: the cached files stay usable"
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS):
		hint = "the cache needs a writable folder: give another with --cache"
	}
	return hints.Errorf(hint, "%s: %w", what, err)
}
