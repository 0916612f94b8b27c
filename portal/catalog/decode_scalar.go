package catalog

import (
	"math"
	"strconv"
	"strings"
)

// scalar reads text, a number, a boolean, or YAML from one input; false means absent, or unreadable.
func (d *decoder) scalar(f Field, path, text string) (any, bool) {
	if text == "" {
		return nil, false
	}
	switch f.Type {
	case Integer:
		return d.integer(f, path, strings.TrimSpace(text))
	case Number:
		return d.number(path, text)
	case Boolean:
		return d.boolean(path, text)
	case YAML:
		v, err := parseValue([]byte(text))
		if err != nil {
			d.fail(path, text, "must be YAML: "+err.Error())
			return nil, false
		}
		return v, v != nil
	case String:
		if f.Format == quantity {
			return spelling(text), true
		}
		return newlines(text), true
	default:
		return newlines(text), true
	}
}

func (d *decoder) number(path, text string) (any, bool) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		d.fail(path, text, "must be a number, such as 0.5")
		return nil, false
	}
	return v, true
}

// integer reads an integer, with a unit if the field has one.
func (d *decoder) integer(f Field, path, text string) (any, bool) {
	bits := 64
	if f.Format == "int32" {
		bits = 32
	}
	v, err := strconv.ParseInt(f.Unit.count(text), 10, bits)
	if err == nil {
		return v, true
	}
	if numError, ok := err.(*strconv.NumError); ok && numError.Err == strconv.ErrRange { //nolint:errorlint // ParseInt returns it unwrapped.
		d.fail(path, text, "is too large or too small a number")
	} else {
		d.fail(path, text, f.Unit.wants())
	}
	return nil, false
}

func (d *decoder) boolean(path, text string) (any, bool) {
	switch strings.ToLower(text) {
	case "true", "on", "yes":
		return true, true
	case "false", "off", "no":
		return false, true
	}
	d.fail(path, text, "must be true or false, or empty for the default")
	return nil, false
}

// newlines reverts browsers' line ends in a textarea: they send each as CR LF.
func newlines(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}
