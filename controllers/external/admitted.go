package external

// Admitted returns what a setting that refers to something counts as, for those who get rights by it: what the spec
// asks for, once AWS has it, for nothing is sent that was not admitted; and until then what counted before. Without a
// word in the spec it is nothing.
func Admitted(before, asked, has string) string {
	if asked == "" || asked == has {
		return asked
	}
	return before
}
