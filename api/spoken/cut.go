package spoken

import "unicode/utf8"

// Cut returns text, or as much of its beginning as leaves room for an ellipsis within most bytes.
func Cut(text string, most int) string {
	const mark = "…"
	if len(text) <= most {
		return text
	}
	end := max(most-len(mark), 0)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + mark
}
