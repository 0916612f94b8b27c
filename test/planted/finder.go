package planted

import "bytes"

// finder searches for many texts at once, by a rolling hash of the length of the shortest one.
type finder struct {
	texts map[uint64][]wanted
}

type wanted struct{ text, name string }

type hit struct {
	name    string
	subject string
}

func (h hit) about() string {
	if h.subject == "" {
		return ""
	}
	return ", " + h.subject
}

func newFinder(secrets map[string]string) finder {
	f := finder{map[uint64][]wanted{}}
	for value, name := range secrets {
		for _, text := range forms(value) {
			var sum uint64
			for i := range shortest {
				sum = sum*base + uint64(text[i])
			}
			f.texts[sum] = append(f.texts[sum], wanted{text, name})
		}
	}
	return f
}

// base is the base of the rolling hash (Rabin-Karp), which overflows on purpose.
const base = 1_000_003

// in returns the texts that were found.
func (f finder) in(text []byte) (found []hit) {
	if len(text) < shortest {
		return nil
	}
	var first, sum uint64 = 1, 0
	for i := range shortest {
		sum = sum*base + uint64(text[i])
		if i > 0 {
			first *= base
		}
	}
	for i := 0; ; i++ {
		for _, w := range f.texts[sum] {
			if bytes.HasPrefix(text[i:], []byte(w.text)) {
				found = append(found, hit{w.name, subject(text[:i])})
			}
		}
		if i+shortest >= len(text) {
			return found
		}
		sum = (sum-uint64(text[i])*first)*base + uint64(text[i+shortest])
	}
}

// subject returns the subject of the entry that text ends in.
func subject(text []byte) string {
	i := bytes.LastIndex(text, []byte(mark))
	if i < 0 {
		return ""
	}
	line, _, _ := bytes.Cut(text[i+len(mark):], []byte("\n"))
	return string(line)
}
