// Package password generates passwords.
package password

import (
	"crypto/rand"
	"fmt"
	"math/big"
	"strings"
)

// The characters of passwords: four classes, as SQL Server and password policies require, and none with a special
// meaning for a database engine, a URL or a shell.
const (
	letters = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ"
	numbers = "23456789"
	marks   = "-_"
)

// New returns a new password of this length, with nearly six bits of entropy per character.
func New(length int) (string, error) {
	for {
		text, err := randomString(letters, 1) // some tools misinterpret a leading digit or punctuation mark
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

// Made reports whether New could have generated this text with this length.
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
