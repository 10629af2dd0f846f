package binlog

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strconv"

	"kitescope/engine/object"
	"kitescope/engine/parquet"
)

// envelope is one file of an index.
type envelope struct {
	name string
	r    object.Reader
	*Descriptor
	size int64 // of the content

	file   *parquet.File // the content as one value per byte, or
	string bool          // as one string, or
	at     int64         // as raw bytes, from this offset on
}

// open detects how the file stores its content, by the descriptor's type as PayloadReader.cpp does. Int8 is a
// parquet column of bytes, String or VarChar a parquet column with one row, None the raw bytes. For a single-file
// index, open returns its entries.
func (e *envelope) open(ctx context.Context) ([]entry, error) {
	size := e.r.Size()
	if single, err := e.isSingleFile(); single || err != nil {
		if err != nil {
			return nil, err
		}
		return readDirectory(e.r, size)
	}
	d, payloads, err := readEvents(e.r, size)
	if err != nil {
		return nil, err
	}
	if len(payloads) != 1 || payloads[0].event != indexEvent {
		return nil, fmt.Errorf("expected one index event after the descriptor, found %d events", len(payloads))
	}
	e.Descriptor = d
	p := payloads[0]
	if d.Type == None {
		e.at, e.size = p.at, p.length
		return nil, e.checkSize()
	}
	if d.Type != Int8 && d.Type != String && d.Type != VarChar {
		return nil, fmt.Errorf("an index file whose payload is of type %v: expected Int8, String or None", d.Type)
	}
	if e.file, err = parquet.ReadFooter(e.r, p.at, p.length); err != nil {
		return nil, err
	}
	if len(e.file.Leaves) != 1 || e.file.Leaves[0].Nested {
		return nil, fmt.Errorf("parquet file at offset %d: expected one column, found %d", p.at, len(e.file.Leaves))
	}
	if d.Type == Int8 {
		if physical := e.file.Leaves[0].Physical; physical != parquet.Int32 {
			return nil,
				fmt.Errorf("parquet file at offset %d: expected bytes as INT32, found %s", p.at,
					parquet.PhysicalName(physical))
		}
		e.size = e.file.Rows
		if err := (source{e.name, e.file, 0}).checkRows(1); err != nil {
			return nil, err
		}
		return nil, e.checkSize()
	}
	e.string = true
	text, err := e.text(ctx)
	e.size = int64(len(text))
	return nil, err
}

// checkSize compares the length of the content with original_size, if the writer recorded it.
func (e *envelope) checkSize() error {
	if want, ok := e.originalSize(); ok && want != e.size {
		return fmt.Errorf("original_size is %d bytes, found %d", want, e.size)
	}
	return nil
}

// text returns the content of a file that stores it as one string.
func (e *envelope) text(ctx context.Context) (string, error) {
	c := Column{Descriptor: Descriptor{Type: String}}
	if err := c.read(ctx, []source{{e.name, e.file, 0}}); err != nil {
		return "", err
	}
	if len(c.Strings) != 1 {
		return "", fmt.Errorf("expected the index as one string, found %d rows", len(c.Strings))
	}
	return c.Strings[0], nil
}

// decode writes the content into to, starting at position first. to must have room for the whole content.
func (e *envelope) decode(ctx context.Context, to *octets, first int, use *scratch) error {
	switch {
	case e.string:
		text, err := e.text(ctx)
		to.put([]byte(text), first)
		return err
	case e.file == nil:
		return e.copyIn(ctx, to, first)
	}
	nulls, err := readInto(ctx, e.file, 0, to, first, use)
	if err == nil && len(nulls) > 0 {
		err = fmt.Errorf("byte %d of the index is null", nulls[0].at)
	}
	return err
}

// readJSON returns the content of a JSON file.
func (e *envelope) readJSON(ctx context.Context) (string, error) {
	if e.size > maxJSON {
		return "", fmt.Errorf("read %s: expected a short JSON text, found %d bytes", e.name, e.size)
	}
	use, err := newScratch()
	if err != nil {
		return "", err
	}
	defer use.close()
	b := make([]byte, e.size)
	if err := e.decode(ctx, &octets{rows: b}, 0, use); err != nil {
		return "", fmt.Errorf("read %s: %w", e.name, err)
	}
	return string(b), nil
}

// readAll fills dst with the bytes from offset at. It checks the context before each chunk of 16 MiB.
func readAll(ctx context.Context, r object.Reader, dst []byte, at int64) error {
	for len(dst) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(len(dst), 16<<20)
		if err := parquet.ReadAt(r, dst[:n], at); err != nil {
			return err
		}
		dst, at = dst[n:], at+int64(n)
	}
	return nil
}

// The single-file form consists of a magic, the contents, a directory as JSON, and a footer of 32 bytes
// (internal/core/src/storage/IndexEntryWriter.h, IndexEntryFormat.cpp).
const (
	singleMagic  = "MVSIDXV3"
	singleFooter = 32
	metaEntry    = "__meta__"
)

// entry is a blob of a single-file index. Offsets are relative to the end of the magic.
type entry struct {
	Name   string `json:"name"`
	Offset int64  `json:"offset"`
	Size   int64  `json:"size"`
	CRC    string `json:"crc32"` // CRC-32C in hexadecimal
}

func (e *envelope) isSingleFile() (bool, error) {
	b := make([]byte, min(e.r.Size(), int64(len(singleMagic))))
	err := parquet.ReadAt(e.r, b, 0)
	return string(b) == singleMagic, err
}

// readDirectory returns the entries of a single-file index. Each is within the file.
func readDirectory(r object.Reader, size int64) ([]entry, error) {
	var footer [singleFooter]byte
	if size < int64(len(singleMagic)+singleFooter) {
		return nil, fmt.Errorf("a single-file index of %d bytes has no footer", size)
	}
	at := size - singleFooter
	if err := parquet.ReadAt(r, footer[:], at); err != nil {
		return nil, err
	}
	if v := binary.LittleEndian.Uint16(footer[:]); v != 3 {
		return nil, fmt.Errorf("offset %d: version %d of single-file indexes is not supported", at, v)
	}
	length := int64(binary.LittleEndian.Uint32(footer[28:]))
	data := at - int64(len(singleMagic)) - length // bytes of contents
	if length == 0 || data < 0 {
		return nil, fmt.Errorf("offset %d: a directory of %d bytes in a file of %d", at+28, length, size)
	}
	b := make([]byte, length)
	if err := parquet.ReadAt(r, b, at-length); err != nil {
		return nil, err
	}
	var directory struct {
		Edek    *string `json:"__edek__"`
		Entries []entry `json:"entries"`
	}
	if err := json.Unmarshal(b, &directory); err != nil {
		return nil, fmt.Errorf("directory at offset %d: %w", at-length, err)
	}
	if directory.Edek != nil {
		return nil, errEncrypted
	}
	left := data
	for _, e := range directory.Entries {
		if e.Offset < 0 || e.Size < 0 || e.Offset > data || e.Size > data-e.Offset || e.Size > left {
			return nil,
				fmt.Errorf("directory at offset %d: entry %s has %d bytes at %d of %d", at-length,
					parquet.Quote(e.Name), e.Size, e.Offset, data)
		}
		left -= e.Size // entries do not overlap
	}
	if len(directory.Entries) == 0 {
		return nil, fmt.Errorf("directory at offset %d: no entries", at-length)
	}
	return directory.Entries, nil
}

// entries reads the blobs of a single-file index.
func (x *Index) entries(ctx context.Context, e *envelope, entries []entry) error {
	for _, d := range entries {
		if _, twice := x.Blobs[d.Name]; twice {
			return fmt.Errorf("a second blob %s", parquet.Quote(d.Name))
		}
		blob, err := newBlob(d.Size)
		if err != nil {
			return err
		}
		x.Blobs[d.Name] = blob
		if err := readAll(ctx, e.r, blob.Bytes(), d.Offset+int64(len(singleMagic))); err != nil {
			return err
		}
		sum := crc32.Checksum(blob.Bytes(), crc32.MakeTable(crc32.Castagnoli))
		if want, err := strconv.ParseUint(d.CRC, 16, 32); err != nil || uint32(want) != sum {
			return fmt.Errorf("entry %s: CRC-32C %08X, expected %s", parquet.Quote(d.Name), sum, parquet.Quote(d.CRC))
		}
	}
	if meta, ok := x.Blobs[metaEntry]; ok {
		x.Meta = append([]byte(nil), meta.Bytes()...)
		meta.Release()
		delete(x.Blobs, metaEntry)
	}
	return nil
}
