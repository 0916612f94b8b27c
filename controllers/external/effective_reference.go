package external

// Effective returns the effective value of a setting with a reference, for those who get rights through it: the spec's
// value once AWS has it, because only admitted values are sent; until then the previous value. If the spec does not set
// it, it is empty.
func Effective(before, asked, has string) string {
	if asked == "" || asked == has {
		return asked
	}
	return before
}
