// Package password makes passwords.
package password

import (
	"crypto/rand"
	"fmt"
	"math/big"
	"strings"
)

// The characters of passwords: of four classes, as SQL Server and password policies ask for, and none that an engine, a
// URL or a shell would take for something else.
const (
	letters = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ"
	numbers = "23456789"
	marks   = "-_"
)

// New returns a new password of this length: nearly six bits a character.
func New(length int) (string, error) {
	for {
		text, err := randomString(letters, 1) // some tools take a leading digit or mark for something else
		if err != nil {
			return "", err
		}
		rest, err := randomString(letters+numbers+marks, length-1)
		if err != nil {
			return "", err
		}
		text += rest
		if strings.ContainsAny(text, numbers) && strings.ContainsAny(text, marks) &&
			strings.ToLower(text) != text && strings.ToUpper(text) != text {
			return text, nil
		}
	}
}

// Made reports whether a text could be a password of this length that New made.
func Made(text string, length int) bool {
	return len(text) == length && strings.Trim(text, letters+numbers+marks) == ""
}

func randomString(alphabet string, count int) (string, error) {
	out := make([]byte, count)
	for at := range out {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(alphabet))))
		if err != nil {
			return "", fmt.Errorf("generate a password: %w", err)
		}
		out[at] = alphabet[n.Int64()]
	}
	return string(out), nil
}
