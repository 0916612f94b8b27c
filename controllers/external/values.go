package external

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// Text returns a Setting's Want for a text of the spec; it is declared if it is not empty.
func Text[T any](of func(T) string) func(T) (string, bool) {
	return func(spec T) (string, bool) { return of(spec), of(spec) != "" }
}

// Number returns the Want for a number; it is declared if it is not nil.
func Number[T any](of func(T) *int32) func(T) (string, bool) {
	return func(spec T) (string, bool) { return FormatInt(of(spec)), of(spec) != nil }
}

// Bool returns the Want for a boolean; it is declared if it is not nil.
func Bool[T any](of func(T) *bool) func(T) (string, bool) {
	return func(spec T) (string, bool) {
		value := of(spec)
		return strconv.FormatBool(value != nil && *value), value != nil
	}
}

// Set returns the Want for an unordered list; it is declared if it is not empty.
func Set[T any](of func(T) []string) func(T) (string, bool) {
	return func(spec T) (string, bool) { return JoinSet(of(spec)), len(of(spec)) > 0 }
}

// Whole returns the Want for a part of the spec that is compared as a whole, in a form of its kind: only whether it is
// declared.
func Whole[T any](declared func(T) bool) func(T) (string, bool) {
	return func(spec T) (string, bool) { return "", declared(spec) }
}

// FirstSet returns the first that is not nil.
func FirstSet[V any](of ...*V) *V {
	for _, v := range of {
		if v != nil {
			return v
		}
	}
	return nil
}

// FormatInt formats the first number that is not nil; empty if all are.
func FormatInt(of ...*int32) string {
	if n := FirstSet(of...); n != nil {
		return strconv.Itoa(int(*n))
	}
	return ""
}

// ParseInt returns the number in value; nil if it is not a number.
func ParseInt(value string) *int32 {
	n, err := strconv.ParseInt(value, 10, 32)
	if err != nil {
		return nil
	}
	return new(int32(n))
}

// NotLess compares numbers for a Setting's Same: a value that has grown, and cannot shrink, is equivalent.
func NotLess(have, want string) bool {
	h, _ := strconv.Atoi(have) // 0 if it is not a number
	w, _ := strconv.Atoi(want)
	return h >= w
}

const separator = ", "

// JoinSet returns the members sorted, each once, as one text.
func JoinSet(members []string) string {
	members = slices.Clone(members)
	slices.Sort(members)
	return strings.Join(slices.Compact(members), separator)
}

// SplitSet returns the members of a text made by JoinSet.
func SplitSet(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, separator)
}

// NonEmpty returns nil for an empty text, so that the parameter is omitted.
func NonEmpty(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// JSON returns a value as JSON; marshalling it must not fail.
func JSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
