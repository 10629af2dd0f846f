package model

import (
	"reflect"
	"testing"
)

// TestSegmentDetailsIsZero checks that IsZero considers every field.
func TestSegmentDetailsIsZero(t *testing.T) {
	if !(&SegmentDetails{}).IsZero() {
		t.Error("nothing is something")
	}
	for i := range reflect.TypeFor[SegmentDetails]().NumField() {
		d := SegmentDetails{}
		switch f := reflect.ValueOf(&d).Elem().Field(i); f.Kind() {
		case reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
		case reflect.String:
			f.SetString("x")
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		case reflect.Uint64:
			f.SetUint(1)
		default:
			f.SetInt(1)
		}
		if d.IsZero() {
			t.Errorf("%s does not count", reflect.TypeFor[SegmentDetails]().Field(i).Name)
		}
	}
}
