package spoken

import "strings"

// Upper returns the text with a capital first letter, for the beginning of a sentence or a label.
func Upper(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// Lower returns a label for use within a sentence: "Web app" becomes "web app", and "AWS account" stays.
func Lower(label string) string {
	first, rest, more := strings.Cut(label, " ")
	if strings.ToUpper(first) == first && len(first) > 1 {
		return label
	}
	if !more {
		return strings.ToLower(first)
	}
	return strings.ToLower(first) + " " + rest
}
