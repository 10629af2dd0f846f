package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// container begins Avro's object container files.
const container = "Obj\x01"

// readContainer reads the record of a container by the schema in the container.
func readContainer(b []byte) (*Manifest, error) {
	r := &cursor{b: b[len(container):], left: maxValues}
	meta, _ := r.value(&schema{kind: "map", items: &schema{kind: "string"}}, 0).(map[string]any)
	sync := r.take(16) // marks the end of a block
	records, size := r.long(), r.long()
	block := r.take(size)
	end := r.take(16)
	codec, _ := meta["avro.codec"].(string)
	switch {
	case r.err != nil:
		return nil, r.err
	case codec != "" && codec != "null":
		return nil, fmt.Errorf("it is compressed (%s), which Milvus does not do", codec)
	case records != 1:
		return nil, fmt.Errorf("expected one record, found %d", records)
	case !bytes.Equal(sync, end) || len(r.b) > 0:
		return nil, errors.New("its block does not end at the end of the file")
	}
	text, _ := meta["avro.schema"].(string)
	return decode(text, block)
}

// decode decodes a record by the JSON text of its schema.
func decode(text string, b []byte) (*Manifest, error) {
	s, err := parseSchema(json.RawMessage(text), map[string]*schema{}, 0)
	if err != nil {
		return nil, fmt.Errorf("read its schema: %w", err)
	}
	if !s.hasNested("column_groups", "files") {
		return nil, ErrNotManifest
	}
	r := &cursor{b: b, left: maxValues, names: true}
	record := r.value(s, 0)
	if r.err == nil && len(r.b) > 0 {
		r.err = fmt.Errorf("%d bytes follow its record", len(r.b))
	}
	if r.err != nil {
		return nil, r.err
	}
	plain, err := json.Marshal(record)
	if err != nil {
		return nil, fmt.Errorf("read its record: %w", err)
	}
	m := &Manifest{}
	if err := json.Unmarshal(plain, m); err != nil {
		return nil, fmt.Errorf("its record is not that of a manifest: %w", err)
	}
	return m, nil
}

// rawMagic ("MILV") begins the raw form, which predates Avro's container. The version follows it.
const rawMagic = 0x4D494C56

// Versions that added fields (manifest.h and deserializeLegacy).
const (
	rawStatsMetadata = 3
	rawObjects       = 5
	rawIndexes       = 6
	rawNewest        = 6
)

// readRaw reads the raw form after its magic. The record is the same as in a container, but the file has no
// schema.
func readRaw(b []byte) (*Manifest, error) {
	r := &cursor{b: b}
	version := r.long()
	if r.err != nil {
		return nil, r.err
	}
	if version < 1 || version > rawNewest {
		return nil, fmt.Errorf("version %d of the raw form is unknown", version)
	}
	return decode(rawSchema(version), r.b)
}

// rawSchema returns the schema of a version of the raw form.
func rawSchema(version int64) string {
	var s strings.Builder
	s.WriteString(`{"type":"record","name":"Manifest","fields":[
{"name":"column_groups","type":{"type":"array","items":{"type":"record","name":"Group","fields":[
{"name":"columns","type":{"type":"array","items":"string"}},
{"name":"files","type":{"type":"array","items":{"type":"record","name":"File","fields":[
{"name":"path","type":"string"},{"name":"start_index","type":"long"},{"name":"end_index","type":"long"},{"name":"metadata","type":"bytes"}]}}},
{"name":"format","type":"string"}]}}},
{"name":"delta_logs","type":{"type":"array","items":{"type":"record","name":"Delta","fields":[
{"name":"path","type":"string"},{"name":"type","type":"int"},{"name":"num_entries","type":"long"}]}}},
{"name":"stats","type":{"type":"map","values":{"type":"record","name":"Statistics","fields":[{"name":"paths","type":{"type":"array","items":"string"}}`)
	if version >= rawStatsMetadata {
		s.WriteString(`,{"name":"metadata","type":{"type":"map","values":"string"}}`)
	}
	s.WriteString(`]}}}`)
	if version >= rawIndexes {
		s.WriteString(`,
{"name":"indexes","type":{"type":"array","items":{"type":"record","name":"Index","fields":[
{"name":"column_name","type":"string"},{"name":"index_name","type":"string"},{"name":"index_type","type":"string"},{"name":"path","type":"string"},
{"name":"field_id","type":"long"},{"name":"index_id","type":"long"},{"name":"build_id","type":"long"},{"name":"index_version","type":"long"},
{"name":"num_rows","type":"long"},{"name":"serialized_size","type":"long"},{"name":"mem_size","type":"long"},
{"name":"current_index_version","type":"int"},{"name":"current_scalar_index_version","type":"int"},{"name":"index_store_path_version","type":"int"},
{"name":"index_file_keys","type":{"type":"array","items":"string"}},{"name":"properties","type":{"type":"map","values":"string"}}]}}}`)
	}
	if version >= rawObjects {
		s.WriteString(`,
{"name":"lob_files","type":{"type":"array","items":{"type":"record","name":"Object","fields":[
{"name":"path","type":"string"},{"name":"field_id","type":"long"},{"name":"total_rows","type":"long"},
{"name":"valid_rows","type":"long"},{"name":"file_size_bytes","type":"long"}]}}}`)
	}
	s.WriteString(`]}`)
	return s.String()
}
